import { execFile } from 'node:child_process'
import { cp, lchown, lstat, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ACCOUNTS } from '#shared/process/privileges'
import { Problem } from './files.ts'

const run = promisify(execFile)

/** The account of a server when this process runs as root. */
export interface Owner {
  name: string
  uid: number
  gid: number
}

/**
 * The account for a server. The account has no entry in the table of users, because these servers
 * need none. Null without root: the server then runs under our account.
 */
export function accountOf(part: keyof typeof ACCOUNTS): Owner | null {
  const id = ACCOUNTS[part]
  return process.getuid?.() === 0 ? { name: String(id), uid: id, gid: id } : null
}

/**
 * Gives a folder and everything below it to `owner`, unless the folder already belongs to `owner`.
 */
export async function giveTo(owner: Owner | null, folder: string): Promise<void> {
  if (owner !== null && (await lstat(folder)).uid !== owner.uid) await giveAll(owner, folder)
}

/**
 * Changes the folder itself last. `giveTo` only checks the folder, so it then repeats an
 * interrupted run.
 */
async function giveAll(owner: Owner, path: string): Promise<void> {
  if ((await lstat(path)).isDirectory()) {
    for (const name of await readdir(path)) await giveAll(owner, join(path, name))
  }
  await lchown(path, owner.uid, owner.gid)
}

/**
 * The account of Postgres, which refuses to run as root and needs an entry in the table of users.
 * Null without root: Postgres then runs under our account.
 *
 * This uses the account `postgres`, or creates it. Where no tool can create it, this uses `nobody`.
 */
export async function postgresAccount(report: (sentence: string) => void): Promise<Owner | null> {
  if (process.getuid?.() !== 0) return null
  const existing = await account('postgres')
  if (existing) return existing
  for (const [command, ...args] of [
    ['useradd', '--system', '--no-create-home', '--shell', '/bin/false', 'postgres'],
    ['adduser', '-S', '-D', '-H', 'postgres'],
  ] as const) {
    await run(command, args).catch(() => {})
    const made = await account('postgres')
    if (made) {
      report('Made the account postgres: the database must not run as root.')
      return made
    }
  }
  const nobody = await account('nobody')
  if (nobody) return nobody
  throw new Problem(
    'The database must not run as root, and no account postgres could be made; run this as an ordinary user, or make that account.',
  )
}

async function account(name: string): Promise<Owner | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
    return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch {
    return null
  }
}

/**
 * Whether a test of the shell, such as `-x /path`, succeeds for `owner`. The system itself decides,
 * because file modes do not tell everything.
 */
export async function ownerCan(owner: Owner, test: '-x' | '-r', path: string): Promise<boolean> {
  try {
    await run('/bin/sh', ['-c', `test ${test} "$1"`, 'sh', path], {
      uid: owner.uid,
      gid: owner.gid,
      cwd: '/',
    })
    return true
  } catch {
    return false
  }
}

/**
 * Checks that `owner`, the account of the server `what`, can enter `folder`.
 * @throws Problem that names the folder that cannot be entered
 */
export async function checkPassage(
  owner: Owner | null,
  folder: string,
  what: string,
): Promise<void> {
  if (owner === null || (await ownerCan(owner, '-x', folder))) return
  const way: string[] = []
  for (let step = folder; way[0] !== step; step = dirname(step)) way.unshift(step)
  for (const step of way) {
    if (await ownerCan(owner, '-x', step)) continue
    const mode = ((await lstat(step)).mode & 0o777).toString(8)
    throw new Problem(
      `${what} runs as the user ${owner.name}, who cannot enter ${step} (mode ${mode}); run "chmod o+x ${step}", or set DATA_DIR to a folder elsewhere.`,
    )
  }
}

/**
 * A folder with a package's programs that `owner` can run. It is the package's own folder, or a
 * copy under `DATA_DIR` when `owner` cannot read the package. For instance, only root can enter a
 * checkout below /root.
 *
 * @param parts a file of each folder of the package, to test whether `owner` can read it; the first
 * is a program
 * @param version the name of the copy, so that an upgrade makes a new copy
 */
export async function openPrograms(
  folder: string,
  parts: readonly string[],
  version: string,
  dataDir: string,
  owner: Owner | null,
): Promise<string> {
  if (owner === null || (await isOpen(folder, parts, owner))) return folder
  const copy = join(dataDir, 'programs', version)
  if (await isOpen(copy, parts, owner)) return copy
  const aside = `${copy}.${process.pid}.new`
  await cp(folder, aside, { recursive: true, verbatimSymlinks: true })
  await run('chmod', ['-R', 'a+rX', aside])
  await rm(copy, { recursive: true, force: true })
  await rename(aside, copy)
  await run('chmod', ['a+rX', join(dataDir, 'programs')])
  return copy
}

async function isOpen(folder: string, parts: readonly string[], owner: Owner): Promise<boolean> {
  for (const [index, part] of parts.entries()) {
    if (!(await ownerCan(owner, index === 0 ? '-x' : '-r', join(folder, part)))) return false
  }
  return true
}
