import { connect, createServer, type Socket } from 'node:net'
import { listen } from '#test/fleet'

/*
 * A door before Postgres: a proxy that reads the messages of the wire protocol, and so can stop
 * between any two statements.
 */

/**
 * What becomes of a statement. `cut`: its connection ends before the server has it. `lose`: the
 * connection ends when the server has run it, before its answer arrives.
 */
export type Passage = 'pass' | 'cut' | 'lose'

export interface Door {
  /** The address of a database behind the door. */
  to(databaseUrl: string): string
  /** Statements that came so far. */
  statements(): number
  /** Ends all connections, and lets nobody in until it is opened again. */
  shut(): void
  open(): void
  close(): Promise<void>
}

/**
 * @param server host and port of the server at present; a failover changes it
 * @param meet called before each statement goes on, with its number, from 1 on, and the name under
 * which it is prepared; it may wait
 */
export async function openDoor(
  server: () => URL,
  meet: (statement: number, name: string) => Passage | Promise<Passage> = () => 'pass',
): Promise<Door> {
  const connections = new Set<() => void>()
  let count = 0
  let isShut = false
  const listener = createServer(client => {
    client.on('error', () => {})
    if (isShut) return client.destroy()
    const { hostname, port } = server()
    const upstream = connect(Number(port), hostname)
    const end = () => {
      connections.delete(end)
      client.destroy()
      upstream.destroy()
    }
    connections.add(end)
    for (const one of [client, upstream]) one.on('error', end).on('close', end).setNoDelay()
    let isLost = false
    const ask = async () => {
      let name = ''
      for await (const { type, bytes } of messagesOf(client, true)) {
        name = nameOf(type, bytes) ?? name
        const passage = isStatement(type) ? await meet(++count, name) : 'pass'
        if (passage === 'cut') return end()
        isLost ||= passage === 'lose'
        upstream.write(bytes)
      }
    }
    const answer = async () => {
      for await (const { type, bytes } of messagesOf(upstream, false)) {
        if (isLost && type === READY) return end()
        if (!isLost) client.write(bytes)
      }
    }
    ask().catch(end)
    answer().catch(end)
  })
  const port = await listen(listener)
  const shut = () => {
    isShut = true
    for (const end of connections) end()
  }
  return {
    to(databaseUrl: string): string {
      const url = new URL(databaseUrl)
      url.host = `127.0.0.1:${port}`
      return url.href
    },
    statements: () => count,
    shut,
    open(): void {
      isShut = false
    },
    async close(): Promise<void> {
      shut()
      await new Promise(resolve => listener.close(resolve))
    },
  }
}

/** `Query` and `Execute` run a statement, `Bind` names it; the server answers `ReadyForQuery`. */
const isStatement = (type: string) => type === 'Q' || type === 'E'
const READY = 'Z'
const nameOf = (type: string, bytes: Buffer) =>
  type === 'B' ? bytes.toString('utf8', 5).split('\0')[1] : type === 'Q' ? '' : null

/** The messages of one side. The first one of a client has no type. */
async function* messagesOf(
  socket: Socket,
  isClient: boolean,
): AsyncGenerator<{ type: string; bytes: Buffer }> {
  let waiting = Buffer.alloc(0)
  let head = isClient ? 0 : 1
  for await (const part of socket) {
    waiting = waiting.length === 0 ? part : Buffer.concat([waiting, part])
    while (waiting.length >= head + 4) {
      const end = head + waiting.readUInt32BE(head)
      if (waiting.length < end) break
      const type = head === 0 ? '' : String.fromCharCode(waiting[0]!)
      yield { type, bytes: waiting.subarray(0, end) }
      waiting = waiting.subarray(end)
      head = 1
    }
  }
}
