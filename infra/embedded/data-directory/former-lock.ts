import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'

/** The lock is ours, or a process of an older version holds it, from before the lock was a file. */
export type FormerLock = { held: true; release(): void } | { held: false; pid: number }

/**
 * Takes the lock that older versions used for a folder, so that an older and a newer version
 * exclude each other. It is an abstract socket, named by the folder's device and inode. Every
 * account can take such a name. A socket of another account, or of a process that we cannot see, is
 * therefore ignored.
 */
export async function takeFormerLock(folder: string): Promise<FormerLock> {
  const nothing = { held: true, release() {} } as const
  if (process.platform !== 'linux') return nothing
  const { dev, ino } = await stat(folder)
  const name = `perscope-${createHash('sha256').update(`data ${dev}:${ino}`).digest('hex').slice(0, 24)}`
  const server = await listen(`\0${name}`)
  if (server) return { held: true, release: () => server.close() }
  const pid = holderOf(name)
  return pid === null ? nothing : { held: false, pid }
}

function listen(address: string): Promise<Server | null> {
  return new Promise(resolve => {
    const server = createServer(socket => {
      socket.on('error', () => {})
      socket.end('a later version of Perscope')
    })
    server.unref()
    server.once('error', () => resolve(null))
    server.listen(address, () => resolve(server))
  })
}

/** The process of our account that has the abstract socket open; null: none has. */
function holderOf(name: string): number | null {
  const sockets = readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .map(line => line.split(/ +/))
    .filter(columns => columns[7] === `@${name}`)
    .map(columns => `socket:[${columns[6]}]`)
  const own = process.getuid?.()
  const holder = readdirSync('/proc').find(
    pid => /^\d+$/.test(pid) && pid !== String(process.pid) && isOf(pid, own) && hasOpen(pid, sockets),
  )
  return holder === undefined ? null : Number(holder)
}

function isOf(pid: string, uid: number | undefined): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid
}

function hasOpen(pid: string, files: readonly string[]): boolean {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).some(fd => files.includes(readlinkSync(`${folder}/${fd}`)))
  } catch {
    // The process has ended meanwhile, or closed a file that we read.
    return false
  }
}
