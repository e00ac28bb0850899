import { execFile } from 'node:child_process'
import { lchown, lstat, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ACCOUNTS } from '../../shared/process/accounts.ts'
import { Problem } from './problem.ts'

const run = promisify(execFile)

/** The account that a server runs under when ours is root's. */
export interface Owner {
  name: string
  uid: number
  gid: number
}

/**
 * The account of a part that needs no entry in a table of users; null when we are not root: it then
 * runs as we do.
 */
export function accountOf(part: keyof typeof ACCOUNTS): Owner | null {
  const id = ACCOUNTS[part]
  return process.getuid?.() === 0 ? { name: String(id), uid: id, gid: id } : null
}

/** Gives a folder and all below it to `owner`; versions before had another account for it. */
export async function giveTo(owner: Owner | null, folder: string): Promise<void> {
  if (owner !== null && (await lstat(folder)).uid !== owner.uid) await giveAll(owner, folder)
}

/** What lies in a folder first, then itself: one that was interrupted is done again. */
async function giveAll(owner: Owner, path: string): Promise<void> {
  if ((await lstat(path)).isDirectory()) {
    for (const name of await readdir(path)) await giveAll(owner, join(path, name))
  }
  await lchown(path, owner.uid, owner.gid)
}

/**
 * The account of Postgres, which refuses to run as root and wants an entry in the table of users.
 * Returns null when we are not root; it then runs as we do.
 *
 * An existing `postgres` is taken; else one is made; where no tool can make one, `nobody` serves.
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
 * Whether `owner` passes a shell's `test`, as `-x /path`. Asked of the system itself: modes are not
 * all that counts.
 */
export async function ownerCan(owner: Owner, test: '-x' | '-r', path: string): Promise<boolean> {
  try {
    await run('/bin/sh', ['-c', `test ${test} "$1"`, 'sh', path], { uid: owner.uid, gid: owner.gid, cwd: '/' })
    return true
  } catch {
    return false
  }
}

/**
 * Makes sure that `owner`, who is to run the server `what`, can reach `folder`.
 * @throws Problem naming the folder on the way that is closed
 */
export async function checkPassage(owner: Owner | null, folder: string, what: string): Promise<void> {
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
