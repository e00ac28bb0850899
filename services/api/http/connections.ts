import type { Server } from 'node:http'
import { Socket } from 'node:net'
import { lockAddress } from '../access/lock.ts'

export interface ConnectionLimits {
  /** Connections of this process. */
  total: number
  /** Those of one address; IPv6 by /56. */
  perAddress: number
}

/**
 * Bounds the connections. At the total, the server closes idle ones: otherwise clients that keep
 * theirs open would shut all others out. One address never has them all.
 */
export function limitConnections(server: Server, { total, perAddress }: ConnectionLimits): void {
  server.maxConnections = total
  server.on('drop', () => server.closeIdleConnections())

  const open = new Map<string, number>()
  server.prependListener('connection', (socket: unknown) => {
    // `readAgain` shows a connection a second time, as another kind of stream.
    if (!(socket instanceof Socket)) return
    const address = lockAddress(undefined, socket.remoteAddress)
    const count = (open.get(address) ?? 0) + 1
    open.set(address, count)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
    if (count > perAddress) socket.destroy()
  })
}
