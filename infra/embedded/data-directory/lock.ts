import { createHash } from 'node:crypto'
import { stat, unlink } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../problem.ts'

/** Held until `release`, or until the process is gone: the kernel lets go of a killed holder's lock by itself. */
export type Lock = { held: true; release(): void } | { held: false; holder: string }

/**
 * Takes the lock of a folder, known by device and inode, so that two paths to one folder are one lock.
 * A listening socket is the lock: unlike a file with a process id in it, it cannot go stale.
 *
 * @param purpose tells apart several locks of one folder
 * @param holder what another process is told that asks for the same lock
 */
export async function lockFolder(folder: string, purpose: string, holder: string): Promise<Lock> {
  const { dev, ino } = await stat(folder)
  const address = socketAddress(createHash('sha256').update(`${purpose} ${dev}:${ino}`).digest('hex').slice(0, 24))
  for (let attempt = 0; ; attempt++) {
    const server = await listen(address, holder)
    if (server) {
      server.unref()
      return { held: true, release: () => server.close() }
    }
    const other = await ask(address)
    if (other !== null || attempt >= 2) return { held: false, holder: other ?? 'another process' }
    // Nobody answers at a socket that is a file: its holder was killed.
    if (process.platform !== 'linux') await unlink(address).catch(() => {})
  }
}

/** On Linux a name that is no file (abstract), gone with its process; elsewhere a file in the temporary folder. */
const socketAddress = (name: string) =>
  process.platform === 'linux' ? `\0perscope-${name}` : join(tmpdir(), `perscope-${name}.sock`)

function listen(address: string, holder: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer(socket => {
      socket.on('error', () => {})
      socket.end(holder)
    })
    server.once('error', error => (errorCode(error) === 'EADDRINUSE' ? resolve(null) : reject(error)))
    server.listen(address, () => resolve(server))
  })
}

/** What the holder says of itself; an empty text when it does not answer in time; null when there is none. */
function ask(address: string): Promise<string | null> {
  return new Promise(resolve => {
    let said = ''
    const socket = connect(address)
    socket.setTimeout(2_000, () => {
      socket.destroy()
      resolve(said)
    })
    socket.on('data', data => {
      said += data.toString()
    })
    socket.once('end', () => resolve(said))
    socket.once('error', () => resolve(null))
  })
}
