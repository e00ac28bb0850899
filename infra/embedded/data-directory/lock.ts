import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, fchmodSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { errorCode, Problem } from '../problem.ts'

/** Held until `release`, or until every process that has `fd` open is gone, however it ended. */
export type Lock = { held: true; fd: number; release(): void } | { held: false; holder: string; host: string }

/** BSD and macOS lock while they open; Node does not name their flag (open(2), O_EXLOCK). */
const OPEN_LOCKED = 0x20
const ATTEMPTS = 5

/**
 * Takes the kernel's lock (flock(2)) of a file, which is made when missing and never removed. The
 * file, not a name elsewhere, is the lock: containers and network namespaces that share a folder
 * share its locks, and the kernel lets go of a killed holder's. Only the file's owner can open it,
 * so no other account can take the lock.
 *
 * The lock belongs to the open file, not to a process. Node's files are closed in the programs that
 * it starts, except where `fd` is handed over on purpose.
 *
 * @param holder who we are, as another process is told that asks for the same lock: "npm start
 * (process 12)"
 * @throws Problem when the file is another account's, or the machine has no means to lock it
 */
export async function lockFile(path: string, holder: string): Promise<Lock> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const fd = openLockFile(path)
    const outcome = fd === null ? 'taken' : await lockOpen(fd, path)
    if (outcome === 'taken') return { held: false, ...readNote(path) }
    if (fd === null || outcome === 'gone') continue
    writeNote(fd, holder)
    return { held: true, fd, release: closeOnce(fd) }
  }
  throw new Problem(`${path} disappears again and again; is its folder being removed?`)
}

/**
 * Locks the open file, else closes it. `gone`: whoever emptied the folder took the file with it,
 * and a lock on it is nobody's.
 */
async function lockOpen(fd: number, path: string): Promise<'locked' | 'taken' | 'gone'> {
  let outcome: 'locked' | 'taken' | 'gone' | null = null
  try {
    await checkOwner(fd, path)
    const locked = process.platform !== 'linux' || (await flock(fd, path))
    outcome = !locked ? 'taken' : (await isThere(fd, path)) ? 'locked' : 'gone'
    return outcome
  } finally {
    if (outcome !== 'locked') closeSync(fd)
  }
}

/** The same number may be another file's later. */
function closeOnce(fd: number): () => void {
  let open = true
  return () => {
    if (open) closeSync(fd)
    open = false
  }
}

/** Null: another process holds it, which only systems tell that lock while they open. */
function openLockFile(path: string): number | null {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  const locked = process.platform === 'linux' ? 0 : OPEN_LOCKED | O_NONBLOCK
  try {
    return openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | locked, 0o600)
  } catch (error) {
    if (locked !== 0 && errorCode(error) === 'EAGAIN') return null
    throw error
  }
}

/**
 * Whoever can open the file can keep us out: it has to be ours, or the folder's owner's, and closed
 * to all others.
 */
async function checkOwner(fd: number, path: string): Promise<void> {
  const { uid, mode } = fstatSync(fd)
  const folder = await stat(dirname(path))
  const own = process.getuid?.() ?? uid
  if (uid !== own && uid !== folder.uid) {
    throw new Problem(`${path} belongs to another user, who could keep us out; remove it, or set another DATA_DIR.`)
  }
  if ((mode & 0o077) !== 0) fchmodSync(fd, 0o600)
}

async function isThere(fd: number, path: string): Promise<boolean> {
  const { dev, ino } = fstatSync(fd)
  const there = await stat(path).catch(() => null)
  return there?.dev === dev && there.ino === ino
}

/**
 * Locks an open file of ours, unless it is locked. Node has no call for that; flock(1) locks the
 * open file that it is given, and the lock stays with us when the tool has ended.
 */
async function flock(fd: number, path: string): Promise<boolean> {
  const tool = spawn('flock', ['-n', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', fd],
    // Ctrl-C in a terminal must not look like an answer.
    detached: true,
    env: { PATH: [process.env.PATH, '/usr/bin', '/bin'].filter(Boolean).join(':') },
  })
  try {
    const [code]: unknown[] = await once(tool, 'exit')
    if (code === 0 || code === 1) return code === 0
    throw new Problem(`${path} is on a disk that cannot lock files (flock ended with ${code}); take a local disk.`)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    throw new Problem(`There is no flock to lock ${path} with; install util-linux.`)
  }
}

function writeNote(fd: number, holder: string): void {
  try {
    ftruncateSync(fd)
    writeSync(fd, `${holder}\n${hostname()}\n`, 0)
  } catch {
    // A full disk: the lock holds without its note.
  }
}

/** Who holds the lock, as far as its note says. */
function readNote(path: string): { holder: string; host: string } {
  const buffer = Buffer.alloc(1_024)
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const [holder, host] = buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, 0)).split('\n')
    return { holder: holder || 'another process', host: host || 'another host' }
  } finally {
    closeSync(fd)
  }
}
