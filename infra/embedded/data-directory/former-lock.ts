import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'

/** Taken, or held by a process of ours of a version before the lock was a file. */
export type FormerLock = { held: true; release(): void } | { held: false; pid: number }

/**
 * Takes the name that was the lock of a folder before (an abstract socket, known by device and
 * inode), so that a version of then and one of now keep each other out. The name is in nobody's
 * keeping: where another account has taken it, or a process that we cannot see, it says nothing and
 * is let be.
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

/** The process of our own account that has the abstract socket open; null: none. */
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
    // It ended meanwhile, or closed what was looked at.
    return false
  }
}
