import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '#test/fleet'

/** An end of TCP connections. */
export interface End {
  address: string
  port: number
}

/** A long or broken line between two hosts: a proxy, since the kernel has no `tc netem`. */
export interface Link {
  /** Bytes arrive so many ms later, each way; half of the round trip. */
  delay(ms: number): void
  /**
   * Nothing arrives any more, and nobody is told. New connections are accepted, and say nothing.
   */
  silence(): void
  /** Ends all connections with a reset, and each new one. */
  break(): void
  mend(): void
  close(): Promise<void>
  address: string
  port: number
}

/**
 * Opens `at`, which leads to `to`.
 *
 * @param overhear called for each connection; what it returns gets the bytes that its client sends
 * @param localAddress where its connections seem to come from
 */
export async function openLink(
  at: End,
  to: End,
  overhear: () => (bytes: Buffer) => void = () => () => {},
  localAddress?: string,
): Promise<Link> {
  const sockets = new Set<Socket>()
  let state: 'well' | 'silent' | 'broken' = 'well'
  let late = 0

  // Half-open: what comes after one side's end must still arrive.
  const server = createServer({ allowHalfOpen: true }, client => {
    keep(client)
    if (state === 'broken') return void client.resetAndDestroy()
    client.on('data', overhear())
    const server = keep(
      connect({
        port: to.port,
        host: to.address,
        allowHalfOpen: true,
        ...(localAddress ? { localAddress } : {}),
      }),
    )
    for (const [from, other] of [
      [client, server],
      [server, client],
    ] as const) {
      const lane = createLane(() => late)
      // What is sent while the link is silent is lost; the connection cannot be used again.
      const pass = (deliver: () => void) =>
        lane.put(() => (state === 'silent' ? undefined : deliver()))
      from.on('data', chunk => pass(() => other.write(chunk)))
      from.on('end', () => pass(() => other.end()))
      from.on('close', () => pass(() => other.destroy()))
    }
  })
  function keep(socket: Socket): Socket {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    return socket
  }
  const reset = () => {
    for (const socket of sockets) {
      // One that is sending its end cannot be reset: Node's own end would wait for it for ever.
      if (socket.writableEnded) socket.destroy()
      else socket.resetAndDestroy()
    }
  }
  server.listen(at.port, at.address)
  await once(server, 'listening')
  return {
    ...at,
    delay(ms: number) {
      late = ms
    },
    silence() {
      state = 'silent'
    },
    break() {
      state = 'broken'
      reset()
    },
    mend() {
      // Bytes were lost on the connections that a silent link has kept.
      if (state === 'silent') reset()
      state = 'well'
    },
    async close() {
      reset()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Opens a link on this machine to the server of an address; `url` leads there over the link. */
export interface LinkToServer extends Link {
  /** The address of the server behind the link. */
  url: string
}

export async function openLinkTo(
  address: string,
  overhear?: Parameters<typeof openLink>[2],
  localAddress?: string,
): Promise<LinkToServer> {
  const url = new URL(address)
  const to = { address: url.hostname, port: Number(url.port) }
  const link = await openLink(
    { address: '127.0.0.1', port: await freePort() },
    to,
    overhear,
    localAddress,
  )
  url.host = `127.0.0.1:${link.port}`
  return { ...link, url: url.href }
}

/**
 * One way of a connection: what is put in comes out later, in the same order.
 *
 * @param delay ms; asked for each delivery, so that it may change
 */
function createLane(delay: () => number) {
  const waiting: { due: number; deliver: () => void }[] = []
  let isWaiting = false

  function drain(): void {
    isWaiting = false
    for (let next = waiting[0]; next; next = waiting[0]) {
      const wait = next.due - Date.now()
      if (wait > 0) {
        wake(wait)
        return
      }
      waiting.shift()
      next.deliver()
    }
  }
  function wake(after: number): void {
    if (isWaiting) return
    isWaiting = true
    setTimeout(drain, after)
  }
  return {
    put(deliver: () => void) {
      if (waiting.length === 0 && delay() === 0) return deliver()
      const before = waiting.at(-1)?.due ?? 0
      waiting.push({ due: Math.max(before, Date.now() + delay()), deliver })
      wake(delay())
    },
  }
}
