import { randomBytes } from 'node:crypto'
import { chown, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readIfThere, writeWhole } from '../data-directory/file.ts'
import type { Owner } from '../owner.ts'
import { diskProblem, Problem } from '../problem.ts'
import type { Family } from '../supervision/family.ts'
import { runTool } from '../supervision/tool.ts'

const INITDB_MS = 120_000
export const MAJOR = '18'
export const SUPERUSER = 'perscope'

/** The folder of a cluster and the password of its superuser. */
export interface Cluster {
  folder: string
  password: string
}

/**
 * Opens the cluster under `dataDir`, or makes it. A new cluster is made under another name and then
 * renamed, so that half a cluster is never taken for a whole one.
 */
export async function openCluster(
  dataDir: string,
  programs: string,
  owner: Owner | null,
  throwaway: boolean,
  running: { family: Family; signal: AbortSignal; lock: number },
): Promise<Cluster> {
  const folder = join(dataDir, 'postgres')
  const password = await clusterPassword(dataDir)
  await removeUnfinished(dataDir)
  const version = (await readIfThere(join(folder, 'PG_VERSION')).catch(wrongOwner(folder)))?.trim()
  if (version === undefined) {
    // We never leave half a cluster here: it is another program's, or the disk is damaged.
    if ((await readdir(folder).catch(() => [])).length > 0) {
      throw new Problem(`${folder} is not empty and holds no Postgres data; move it away and start again.`)
    }
    await makeCluster(folder, dataDir, password, programs, owner, throwaway, running)
  } else if (version !== MAJOR) {
    throw new Problem(
      `${folder} holds data of Postgres ${version}, and this is Postgres ${MAJOR}; export with the version that wrote it, then import into a new DATA_DIR.`,
    )
  }
  const { uid } = await stat(folder)
  if (uid !== (owner?.uid ?? process.getuid?.() ?? uid)) {
    throw new Problem(`${folder} belongs to another user; start as the user who made it, or set another DATA_DIR.`)
  }
  return { folder, password }
}

const wrongOwner = (folder: string) => (): never => {
  throw new Problem(`${folder} cannot be read by this user; start as the user who made it, or set another DATA_DIR.`)
}

async function clusterPassword(dataDir: string): Promise<string> {
  const file = join(dataDir, 'postgres.password')
  const known = (await readIfThere(file).catch(wrongOwner(file)))?.trim()
  if (known) return known
  const password = randomBytes(18).toString('base64url')
  await writeWhole(file, `${password}\n`)
  return password
}

/** Removes the half cluster of an earlier start that was killed. */
async function removeUnfinished(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (/^postgres\.new\b/.test(name)) await rm(join(dataDir, name), { recursive: true, force: true })
  }
}

async function makeCluster(
  folder: string,
  dataDir: string,
  password: string,
  programs: string,
  owner: Owner | null,
  throwaway: boolean,
  running: { family: Family; signal: AbortSignal; lock: number },
): Promise<void> {
  const aside = join(dataDir, 'postgres.new')
  const passwordFile = join(dataDir, 'postgres.new.password')
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (owner) await chown(passwordFile, owner.uid, owner.gid)
  await makeOwned(aside, owner)
  const { code, output } = await runTool(
    join(programs, 'bin', 'initdb'),
    [
      ...['-D', aside, '-U', SUPERUSER, `--pwfile=${passwordFile}`, '-A', 'scram-sha-256'],
      // Sorting and lower case are the same on every machine, whichever locales it has.
      ...['-E', 'UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      ...(throwaway ? ['--no-sync'] : []),
    ],
    { ...running, cwd: '/', owner, within: INITDB_MS, env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' } },
  )
  if (code !== 0) {
    const lastWords = output.trim().split('\n').slice(-3).join(' ')
    throw diskProblem(output, dataDir) ?? new Problem(`Postgres could not make its data folder: ${lastWords}`)
  }
  await rm(passwordFile)
  await rename(aside, folder)
}

async function makeOwned(folder: string, owner: Owner | null): Promise<void> {
  await mkdir(folder, { mode: 0o700 })
  if (owner) await chown(folder, owner.uid, owner.gid)
}
