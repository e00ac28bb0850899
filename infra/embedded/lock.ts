import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import { stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { errorCode, Problem } from './files.ts'

/** `held`: the lock lasts until `release`, or until every process that has `fd` open has ended. */
type Lock =
  | { held: true; fd: number; release(): void }
  | { held: false; holder: string; host: string }

const ATTEMPTS = 5
const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants

/**
 * Takes the kernel's lock (flock(2)) of a file. The file is made when it is missing, and is never
 * removed. Containers and network namespaces that share a folder share its locks, and the kernel
 * releases the lock of a killed process. Only the file's owner can open it, so no other account can
 * take the lock.
 *
 * The lock belongs to the open file, not to a process. Programs that Node starts inherit the file
 * only when `fd` is passed to them.
 *
 * @param holder the name of this process for others that want the same lock: "npm start (process
 * 12)"
 * @throws Problem when the file belongs to another account, or the machine cannot lock it
 */
export async function lockFile(path: string, holder: string): Promise<Lock> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const fd = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
    const outcome = await lockOpen(fd, path)
    if (outcome === 'taken') return { held: false, ...readNote(path) }
    if (outcome === 'gone') continue
    writeNote(fd, holder)
    return { held: true, fd, release: closeOnce(fd) }
  }
  throw new Problem(`${path} disappears again and again; is another program removing its folder?`)
}

/**
 * Locks the open file, or closes it. `gone`: somebody has removed the file from the folder, so its
 * lock would exclude nobody.
 */
async function lockOpen(fd: number, path: string): Promise<'locked' | 'taken' | 'gone'> {
  let outcome: 'locked' | 'taken' | 'gone' | null = null
  try {
    await checkOwner(fd, path)
    outcome = !(await flock(fd, path)) ? 'taken' : (await isThere(fd, path)) ? 'locked' : 'gone'
    return outcome
  } finally {
    if (outcome !== 'locked') closeSync(fd)
  }
}

/** Closes the file only once, because afterwards its number may belong to another file. */
function closeOnce(fd: number): () => void {
  let open = true
  return () => {
    if (open) closeSync(fd)
    open = false
  }
}

/**
 * Checks that the file belongs to us or to the folder's owner, and closes it to all others. An
 * account that can open the file could hold the lock against us.
 */
async function checkOwner(fd: number, path: string): Promise<void> {
  const { uid, mode } = fstatSync(fd)
  const folder = await stat(dirname(path))
  const own = process.getuid?.() ?? uid
  if (uid !== own && uid !== folder.uid)
    throw new Problem(
      `${path} belongs to another user, who could keep us out; remove it, or set another DATA_DIR.`,
    )
  if ((mode & 0o077) !== 0) fchmodSync(fd, 0o600)
}

async function isThere(fd: number, path: string): Promise<boolean> {
  const { dev, ino } = fstatSync(fd)
  const there = await stat(path).catch(() => null)
  return there?.dev === dev && there.ino === ino
}

/**
 * Locks an open file, unless it is already locked. Node has no such call. The tool flock(1) locks
 * the open file that it gets, and the lock remains after the tool has ended.
 */
async function flock(fd: number, path: string): Promise<boolean> {
  const tool = spawn('flock', ['-n', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', fd],
    // The tool runs in a session of its own, so that Ctrl-C in a terminal does not end it.
    detached: true,
    env: { PATH: [process.env.PATH, '/usr/bin', '/bin'].filter(Boolean).join(':') },
  })
  try {
    const [code]: unknown[] = await once(tool, 'exit')
    if (code === 0 || code === 1) return code === 0
    throw new Problem(
      `${path} is on a disk that cannot lock files (flock ended with ${code}); take a local disk.`,
    )
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
    // The disk is full. The lock works without its note.
  }
}

/** Reads the note of the process that holds the lock. */
function readNote(path: string): { holder: string; host: string } {
  const buffer = Buffer.alloc(1_024)
  const fd = openSync(path, constants.O_RDONLY | O_NOFOLLOW)
  try {
    const [holder, host] = buffer
      .toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, 0))
      .split('\n')
    return { holder: holder || 'another process', host: host || 'another host' }
  } finally {
    closeSync(fd)
  }
}

/**
 * ms that a process waits for the lock. When an owner is killed, its watchdog ends its servers
 * within 8 s.
 */
const PATIENCE_MS = 15_000
const RETRY_MS = 200

/**
 * Takes the lock of one server's data. The server itself also has the file open, so the lock lasts
 * until the last process of the server has ended. This protects the data when the servers of a
 * killed owner are still ending in another container, whose processes are invisible here.
 *
 * @param name the server's name in sentences
 * @throws Problem when an earlier server does not end
 */
export async function lockData(
  path: string,
  name: string,
  signal: AbortSignal,
): Promise<Lock & { held: true }> {
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    const lock = await lockFile(path, `${name} of process ${process.pid}`)
    if (lock.held) return lock
    if (Date.now() > end) {
      throw new Problem(
        `The data behind ${path} are in use by ${lock.holder}; end it on ${lock.host} (in a container perhaps), then start again.`,
      )
    }
    await pause(RETRY_MS, undefined, { signal })
  }
}
