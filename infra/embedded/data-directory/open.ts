import { constants, existsSync } from 'node:fs'
import { access, chmod, lstat, mkdir, open, readdir, realpath, rm, stat, statfs } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { diskProblem, errorCode, notAFolder, Problem } from '../problem.ts'
import { takeFormerLock } from './former-lock.ts'
import { lockFile } from './lock.ts'

/**
 * With less free space the disk counts as full: an empty cluster with its first write-ahead log
 * takes about 60 MB.
 */
const LEAST_FREE_BYTES = 64 * 1024 * 1024

/** `DATA_DIR`: it exists, we can write to it, and it is ours alone until `release`. */
export interface DataDirectory {
  path: string
  release(): void
}

/**
 * Opens the folder in which the embedded servers keep their data.
 *
 * @param holder our name for a second start on the same folder: "npm start (process 12)"
 * @throws Problem when the folder cannot be made or written, when its disk is full, or when another
 * process holds it
 */
export async function openDataDirectory(folder: string, holder: string): Promise<DataDirectory> {
  const wanted = resolve(folder)
  try {
    keepForOurselves()
    await makeFolder(wanted)
    const path = await realpath(wanted)
    await closeToOthers(path)
    const release = await lockFolder(path, holder)
    try {
      await tryWriting(path)
    } catch (error) {
      release()
      throw error
    }
    return { path, release }
  } catch (error) {
    if (error instanceof Problem) throw error
    if (errorCode(error) === 'ENOENT') {
      throw new Problem(`DATA_DIR ${wanted} cannot hold files; set DATA_DIR to a folder on a disk.`)
    }
    throw diskProblem(error, wanted) ?? error
  }
}

/**
 * Sets a umask, so that no other account can write to the files that we and our programs make from
 * now on.
 */
function keepForOurselves(): void {
  process.umask(process.umask() | 0o022)
}

/**
 * Refuses a folder to which every account can write: another account could put links, settings and
 * keys of its own there. A folder that a group can write to is accepted, because the operator has
 * chosen the group. A folder of ours that holds only our files is closed to others.
 */
async function closeToOthers(path: string): Promise<void> {
  const { mode, uid } = await stat(path)
  if ((mode & 0o002) === 0) return
  // The sticky bit marks a folder that is meant for all, such as /tmp.
  const isShared = (mode & 0o1000) !== 0
  if (!isShared && uid === process.getuid?.() && (await isOursAlone(path, uid))) return chmod(path, mode & 0o7775)
  throw new Problem(
    `DATA_DIR ${path} can be written to by every account (mode ${(mode & 0o7777).toString(8)}), and is shared with others; set DATA_DIR to a folder of your own.`,
  )
}

async function isOursAlone(path: string, own: number): Promise<boolean> {
  for (const name of await readdir(path)) {
    const entry = await lstat(join(path, name))
    if (entry.uid !== own || entry.isSymbolicLink()) return false
  }
  return true
}

async function lockFolder(path: string, holder: string): Promise<() => void> {
  const lock = await lockFile(join(path, 'lock'), holder)
  if (!lock.held) throw inUse(path, lock.holder, lock.host)
  const former = await takeFormerLock(path)
  if (!former.held) {
    lock.release()
    throw inUse(path, `an older version of Perscope (process ${former.pid})`, hostname())
  }
  return () => {
    former.release()
    lock.release()
  }
}

const inUse = (path: string, holder: string, host: string): Problem =>
  new Problem(`DATA_DIR ${path} is in use by ${holder}; end that on ${host} first, or set DATA_DIR to another folder.`)

/**
 * Makes the folder. On a read-only disk that can fail with "no such file" (ENOENT). The error for
 * the folder above then tells the reason.
 */
async function makeFolder(path: string): Promise<void> {
  try {
    await makeOpenFolder(path)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    let above = dirname(path)
    while (!existsSync(above)) above = dirname(above)
    await access(above, constants.W_OK)
    throw error
  }
}

/**
 * Makes folders that all accounts can enter, because the database may run as another user. They are
 * made one by one: where no folder can be made (`/proc`), Node's `recursive` tries for ever.
 */
async function makeOpenFolder(path: string): Promise<void> {
  const missing: string[] = []
  for (let folder = path; !existsSync(folder); folder = dirname(folder)) missing.unshift(folder)
  for (const folder of missing) {
    await mkdir(folder)
    await chmod(folder, 0o755)
  }
  if (!(await stat(path)).isDirectory()) throw new Problem(notAFolder(path))
}

async function tryWriting(path: string): Promise<void> {
  const probe = join(path, `.probe-${process.pid}`)
  try {
    const file = await open(probe, 'w')
    try {
      await file.write(Buffer.alloc(8_192))
      await file.sync()
    } finally {
      await file.close()
    }
  } finally {
    await rm(probe, { force: true })
  }
  const { bavail, bsize } = await statfs(path)
  if (bavail * bsize < LEAST_FREE_BYTES) throw diskProblem('ENOSPC', path) ?? new Problem('The disk is full.')
}
