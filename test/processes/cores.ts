import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent, type RequestOptions, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createTestDatabase } from '#test/database'
import { createFleet, type Member, until } from '#test/fleet'

/** ms after which a request counts as one that nobody answers. */
const PATIENCE = 30_000
export const NO_ANSWER = 'no answer'

export interface Cores {
  primary: Member
  port: number
  /** Ids of the processes that serve, as the system knows them. */
  pids(): number[]
  /** Waits until so many processes get connections. */
  serving(count: number): Promise<void>
  /** Waits until the connections that were ended are known to be. */
  quiet(): Promise<void>
  /** A client with one connection that it keeps. */
  client(): {
    status: () => Promise<number>
    ask(path?: string): Promise<{ status: number; process: string }>
    leave: () => void
  }
  stop(): Promise<void>
}

/** A real API of several processes, on a database of its own. */
export async function startCores(env: Record<string, string> = {}): Promise<Cores> {
  const database = await createTestDatabase()
  const fleet = createFleet({ DATABASE_URL: database.url, WEB_CONCURRENCY: '2', ...env })
  const { key } = await fleet.makeKey('cores')
  const primary = await fleet.start('api')
  const port = Number(new URL(fleet.base()).port)
  const cores = {
    primary,
    port,
    pids: () => childrenOf(primary.process.pid ?? 0),
    async serving(count: number) {
      const numbers = new Set<string>()
      const seen = async () => {
        const clients = Array.from({ length: 2 * count }, cores.client)
        for (const one of await Promise.all(clients.map(client => client.ask('/healthz'))))
          numbers.add(one.process)
        for (const client of clients) client.leave()
        return numbers.size === count
      }
      await until(seen, 60_000, () => primary.log().slice(-2_000))
      await cores.quiet()
    },
    async quiet() {
      // A client's end takes a moment to be known.
      await pause(500)
    },
    client: () => clientOf(port, key, primary.log),
    async stop() {
      await fleet.stop()
      await database.drop()
    },
  }
  return cores
}

/** The status of one request to this machine; rejects when its connection broke. */
export function statusOf(options: RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', ...options }, response => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
      response.once('error', reject)
    })
    asked.setTimeout(PATIENCE, () => asked.destroy(new Error(NO_ANSWER)))
    asked.once('error', reject).end()
  })
}

export interface AskingClient {
  answers: (number | string)[]
  failed(): (string | number)[]
  /** Waits until so many more requests are answered. */
  more(count: number): Promise<void>
  stop(): Promise<void>
}

/**
 * Clients that ask without an end.
 *
 * @param ask sends one request; each client waits for its answer
 * @returns the answers, or the error in the place of one
 */
export function askOn(ask: (client: number) => Promise<number>, clients = 4): AskingClient {
  const answers: (number | string)[] = []
  let stopped = false
  const run = async (_: unknown, client: number) => {
    while (!stopped) answers.push(await ask(client).catch(String))
  }
  const runs = Array.from({ length: clients }, run)
  return {
    answers,
    failed: () => answers.filter(answer => answer !== 200),
    async more(count) {
      const enough = answers.length + count
      await until(() => answers.length >= enough, 60_000)
    },
    async stop() {
      stopped = true
      await Promise.all(runs)
    },
  }
}

function clientOf(port: number, key: string, log: () => string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const get = (path: string, id: string) =>
    statusOf({ port, path, agent, headers: { authorization: `Bearer ${key}`, 'x-request-id': id } })
  return {
    /** The status alone; the log is not read for the process. */
    status: () => get('/v1/articles', randomUUID()),
    /** @returns the status and the number of the process that answered */
    async ask(path = '/v1/articles') {
      const id = randomUUID()
      const status = await get(path, id)
      const line = () =>
        log()
          .split('\n')
          .findLast(one => one.includes(id) && one.includes('"msg":"request"'))
      await until(() => line() !== undefined, 30_000, log)
      return { status, process: String(JSON.parse(line() ?? '{}').process) }
    },
    /** Ends its connection. */
    leave: () => agent.destroy(),
  }
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

export function isAlive(pid: number): boolean {
  try {
    // A process that has ended and that nobody has asked for is no longer alive.
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
