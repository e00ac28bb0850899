import { randomBytes, randomInt } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import {
  access,
  chmod,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rm,
  stat,
  statfs,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { KEYED_SERVERS, PORTS } from '#shared/config/embedded'
import {
  diskProblem,
  errorCode,
  notAFolder,
  Problem,
  readRecord,
  secretIn,
  writeWhole,
} from './files.ts'
import { lockFile } from './lock.ts'

/*
 * `DATA_DIR` holds the data of embedded servers: clusters, keys, ports, logs. Only one process at a
 * time owns it, and no other account can write to it. The next owner finds its servers at the same
 * ports.
 */

/**
 * With less free space the disk counts as full, because an empty cluster with its first write-ahead
 * log takes about 60 MB.
 */
const LEAST_FREE_BYTES = 64 * 1024 * 1024

/** `DATA_DIR`: it exists, this process can write to it, and owns it until `release`. */
export interface DataDirectory {
  path: string
  release(): void
}

/**
 * Opens the folder for the data of the embedded servers.
 *
 * @param holder the name of this process for a second start on the same folder: "npm start (process
 * 12)"
 * @throws Problem when the folder cannot be made or written, when its disk is full, or when another
 * process owns it
 */
export async function openDataDirectory(folder: string, holder: string): Promise<DataDirectory> {
  const wanted = resolve(folder)
  try {
    keepForOurselves()
    await makeFolder(wanted)
    const path = await realpath(wanted)
    await closeToOthers(path)
    const lock = await lockFile(join(path, 'lock'), holder)
    if (!lock.held) {
      throw new Problem(
        `DATA_DIR ${path} is in use by ${lock.holder}; end that on ${lock.host} first, or set DATA_DIR to another folder.`,
      )
    }
    try {
      await tryWriting(path)
    } catch (error) {
      lock.release()
      throw error
    }
    return { path, release: lock.release }
  } catch (error) {
    if (error instanceof Problem) throw error
    if (errorCode(error) === 'ENOENT')
      throw new Problem(`DATA_DIR ${wanted} cannot hold files; set DATA_DIR to a folder on a disk.`)
    throw diskProblem(error, wanted) ?? error
  }
}

/**
 * Sets a umask, so that no other account can write to files that this process and its programs make
 * later.
 */
function keepForOurselves(): void {
  process.umask(process.umask() | 0o022)
}

/**
 * Refuses a folder to which every account can write, because another account could put links,
 * settings and keys there. A folder that a group can write to is accepted, because the operator has
 * chosen the group. If the folder is ours and has only our files, it is closed to others instead.
 */
async function closeToOthers(path: string): Promise<void> {
  const { mode, uid } = await stat(path)
  if ((mode & 0o002) === 0) return
  // The sticky bit marks a folder that is meant for all, such as /tmp.
  const isShared = (mode & 0o1000) !== 0
  if (!isShared && uid === process.getuid?.() && (await isOursAlone(path, uid)))
    return chmod(path, mode & 0o7775)
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

/**
 * Makes the folder. On a read-only disk that can fail with "no such file" (ENOENT). Then the error
 * for the parent folder shows the reason.
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
 * made one by one, because Node's `recursive` never ends where no folder can be made (`/proc`).
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
    await using file = await open(probe, 'w')
    await file.write(Buffer.alloc(8_192))
    await file.sync()
  } finally {
    await rm(probe, { force: true })
  }
  const { bavail, bsize } = await statfs(path)
  if (bavail * bsize < LEAST_FREE_BYTES)
    throw diskProblem('ENOSPC', path) ?? new Problem('The disk is full.')
}

/**
 * The ports are below 32768, where Linux begins to use ports for outgoing connections, and above
 * the ports of well-known servers.
 */
const LOWEST = 20_000
const HIGHEST = 32_767

/**
 * The remembered ports of the servers of `DATA_DIR`, so that services find them again. The returned
 * function gives the port that a server had before, or a free one if it had none, or if another
 * program uses that port.
 *
 * @param report called with a sentence when a port had to change
 * @param name of the file in `dataDir`
 * @param ports what is known of them from elsewhere, which goes before the file
 */
export async function rememberedPorts(
  dataDir: string,
  report: (sentence: string) => void,
  name: string = PORTS,
  ports: Readonly<Record<string, number>> = {},
): Promise<(server: string) => Promise<number>> {
  const file = join(dataDir, name)
  const known = { ...(await readRecord(file)), ...ports }
  return async server => {
    const before = known[server]
    if (typeof before === 'number' && (await isFree(before))) return before
    const taken = Object.values(known)
    const port = await freePort(candidate => !taken.includes(candidate))
    if (typeof before === 'number') {
      report(
        `Port ${before}, where ${server} listened before, is taken by another program; it now listens on ${port}.`,
      )
    }
    known[server] = port
    await writeWhole(file, `${JSON.stringify(known, null, 2)}\n`, 0o644)
    return port
  }
}

/**
 * A free port, chosen at random, so that two starts at the same moment do not try the same ports.
 */
export async function freePort(allowed: (port: number) => boolean = () => true): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(LOWEST, HIGHEST + 1)
    if (allowed(port) && (await isFree(port))) return port
  }
  throw new Problem(
    `No free port was found between ${LOWEST} and ${HIGHEST} on 127.0.0.1; end some servers first.`,
  )
}

/**
 * The error code that prevents a server from listening on `port` of `host`; empty: it can listen.
 */
export const refusalOf = (port: number, host: string): Promise<string> =>
  new Promise(resolve => {
    const server = createServer()
    server.once('error', error => resolve(errorCode(error)))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve('')))
  })

export const isFree = async (port: number): Promise<boolean> =>
  (await refusalOf(port, '127.0.0.1')) === ''

/**
 * The key of an embedded server. It needs one, because every account of the machine can reach its
 * port. The key is made once and stored in `dataDir`, where only its owner can read it. So services
 * still work after a restart of the servers.
 */
export const serverKey = (dataDir: string, server: keyof typeof KEYED_SERVERS): Promise<string> =>
  secretIn(join(dataDir, KEYED_SERVERS[server].file), () => randomBytes(24).toString('base64url'))
