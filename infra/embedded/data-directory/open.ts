import { constants, existsSync } from 'node:fs'
import { access, chmod, lstat, mkdir, open, readdir, realpath, rm, stat, statfs } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { diskProblem, errorCode, notAFolder, Problem } from '../problem.ts'
import { takeFormerLock } from './former-lock.ts'
import { lockFile } from './lock.ts'

/**
 * An empty cluster takes about 60 MB with its first write-ahead log; less than this is a full disk.
 */
const LEAST_FREE_BYTES = 64 * 1024 * 1024

/** `DATA_DIR`, made when missing, found writable, and ours alone until `release`. */
export interface DataDirectory {
  path: string
  release(): void
}

/**
 * Opens the folder in which the embedded servers keep their data.
 *
 * @param holder who we are, as a second start on the same folder is told: "npm start (process 12)"
 * @throws Problem when it cannot be made or written, when its disk is full, or when another process
 * holds it
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
 * Whatever the umask of the shell: no other account writes what we and our programs make from here
 * on.
 */
function keepForOurselves(): void {
  process.umask(process.umask() | 0o022)
}

/**
 * Another account that can write to the folder could put links, settings and keys of its own where
 * we write and read ours. A group is chosen, and may be ours alone; everybody is not. A folder of
 * ours in which nobody else has put anything yet is closed to others.
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
 * Making a folder on a read-only disk can say "no such file" (ENOENT): the folder above tells the
 * reason.
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
 * Folders we make can be entered by all, whatever the umask: the database may run as another user.
 * Made one by one: where nothing can be made (`/proc`), Node's `recursive` tries for ever.
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
