import { execFile } from 'node:child_process'
import { lstat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { Problem } from './problem.ts'

const run = promisify(execFile)

/** The account that a server runs under when ours is root's. */
export interface Owner {
  name: string
  uid: number
  gid: number
}

/**
 * Postgres refuses to run as root, and Qdrant need not: an account without rights for them.
 * Returns null when we are not root; the servers then run as we do.
 *
 * An existing `postgres` is taken; else one is made; where no tool can make one, `nobody` serves.
 */
export async function findOwner(report: (sentence: string) => void): Promise<Owner | null> {
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

/** Whether `owner` passes a shell's `test`, as `-x /path`. Asked of the system itself: modes are not all that counts. */
export async function ownerCan(owner: Owner, test: '-x' | '-r', path: string): Promise<boolean> {
  try {
    await run('/bin/sh', ['-c', `test ${test} "$1"`, 'sh', path], { uid: owner.uid, gid: owner.gid, cwd: '/' })
    return true
  } catch {
    return false
  }
}

/**
 * Makes sure that `owner` can reach `folder`.
 * @throws Problem naming the folder on the way that is closed
 */
export async function checkPassage(owner: Owner, folder: string): Promise<void> {
  if (await ownerCan(owner, '-x', folder)) return
  const way: string[] = []
  for (let step = folder; way[0] !== step; step = dirname(step)) way.unshift(step)
  for (const step of way) {
    if (await ownerCan(owner, '-x', step)) continue
    const mode = ((await lstat(step)).mode & 0o777).toString(8)
    throw new Problem(
      `The database runs as the user ${owner.name}, who cannot enter ${step} (mode ${mode}); run "chmod o+x ${step}", or set DATA_DIR to a folder elsewhere.`,
    )
  }
}
