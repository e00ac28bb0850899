import { execFile } from 'node:child_process'
import { access, mkdir, rename, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { folderOf, PUBLIC_SETS, type PublicSet } from './sets.ts'

const run = promisify(execFile)

/** Of one command of git, in milliseconds: the largest set has a hundred megabytes. */
const TIME_LIMIT = 600_000

const GITHUB = 'https://github.com/'

/**
 * Clones the public sets that are absent, each at its pinned commit, and says on standard error
 * which ones could not be had. Returns how many are there.
 *
 * @param origin where the repositories lie: their names follow it
 */
export async function fetchSets(
  sets: string,
  signal: AbortSignal,
  { origin = GITHUB, wanted = PUBLIC_SETS }: { origin?: string; wanted?: readonly PublicSet[] } = {},
): Promise<number> {
  let there = 0
  for (const set of wanted) {
    const problem = await fetchSet(sets, set, origin, signal).then(
      () => null,
      error => (error instanceof Error ? error.message : String(error)),
    )
    if (problem === null) there += 1
    else process.stderr.write(`could not fetch the set ${set.name} from ${origin}${set.repository}: ${problem}\n`)
  }
  return there
}

async function fetchSet(sets: string, set: PublicSet, origin: string, signal: AbortSignal): Promise<void> {
  const folder = folderOf(sets, set)
  const present = await access(folder).then(
    () => true,
    () => false,
  )
  if (present) return
  // A clone that breaks off leaves no folder that looks like a set.
  const unfinished = `${folder}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { recursive: true })
  const git = (...words: string[]) => run('git', ['-C', unfinished, ...words], { timeout: TIME_LIMIT, signal })
  await git('init', '--quiet')
  await git('sparse-checkout', 'set', '--no-cone', ...set.paths.map(path => `/${path}`))
  await git('fetch', '--quiet', '--depth', '1', `${origin}${set.repository}`, set.commit)
  await git('checkout', '--quiet', 'FETCH_HEAD')
  await rename(unfinished, folder)
}
