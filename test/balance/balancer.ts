import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createKey } from '../../shared/plans/keys.ts'
import { createPool } from '../../shared/postgres/pool.ts'
import { createTestDatabase, PATIENT } from '../database.ts'
import { debianTool, MissingProgram } from '../fleet/programs/debian.ts'
import { createFleet, freePort, type Member, until } from '../fleet.ts'

const haproxy = await debianTool('haproxy', 'haproxy').catch(error => {
  if (error instanceof MissingProgram) return error
  throw error
})

/** Why HAProxy cannot be tried here; false: it can. */
export const WITHOUT_HAPROXY = haproxy instanceof MissingProgram ? haproxy.message : false

/** Two APIs behind HAProxy, which runs with `infra/ha/haproxy/api.cfg`. */
export interface Balanced {
  port: number
  apis: [Member, Member]
  secret: string
  /** Ends one API, or kills it. */
  end(number: 0 | 1, signal: NodeJS.Signals): Promise<void>
  /** Starts an API where one has ended, and waits until HAProxy sends requests to it. */
  start(number: 0 | 1): Promise<void>
  /** Waits until HAProxy knows that an API is there, or away. */
  marked(number: 0 | 1, state: 'UP' | 'DOWN'): Promise<void>
  /** HAProxy reads its file again. */
  reload(): Promise<void>
  /** What HAProxy has logged. */
  log(): string
  stop(): Promise<void>
}

export async function startBalanced(env: Record<string, string> = {}): Promise<Balanced> {
  const database = await createTestDatabase()
  const pool = createPool(database.url, 'test', () => {}, PATIENT)
  const { secret } = await createKey(pool, 'balanced', {
    countries: ['NL', 'BE', 'LU'],
    history: { kind: 'fixed', at: new Date('2020-01-01T00:00:00Z') },
    rate: 1_000_000,
    quota: null,
  })
  await pool.end()
  const fleet = createFleet({
    ...{ DATABASE_URL: database.url, QDRANT_URL: '', EMBEDDINGS_URL: '', TRUST_PROXY: '127.0.0.1', ...env },
  })
  const ports = [String(await freePort()), String(await freePort())] as const
  const startApi = (number: 0 | 1) => fleet.start('api', { PORT: ports[number] })
  const apis: [Member, Member] = [await startApi(0), await startApi(1)]
  const proxy = await startProxy(ports)
  const balanced: Balanced = {
    ...{ port: proxy.port, apis, secret, log: proxy.log, reload: proxy.reload, marked: proxy.marks },
    async end(number, signal) {
      apis[number].process.kill(signal)
      await apis[number].exited
      await proxy.marks(number, 'DOWN')
    },
    async start(number) {
      apis[number] = await startApi(number)
      await proxy.marks(number, 'UP')
    },
    async stop() {
      await proxy.stop()
      await fleet.stop()
      await database.drop()
    },
  }
  await proxy.marks(0, 'UP')
  await proxy.marks(1, 'UP')
  return balanced
}

async function startProxy(apis: readonly [string, string]) {
  const [port, figures] = [await freePort(), await freePort()]
  const file = fileURLToPath(new URL('../../infra/ha/haproxy/api.cfg', import.meta.url))
  // -W: a process that serves, and one that replaces it, as systemd runs it.
  if (haproxy instanceof MissingProgram) throw haproxy
  const child: ChildProcess = spawn(haproxy.command, ['-W', '-f', file], {
    env: {
      ...haproxy.env,
      ...{ PATH: process.env.PATH, API_1: `127.0.0.1:${apis[0]}`, API_2: `127.0.0.1:${apis[1]}`, API_LOG: 'stdout' },
      ...{ API_BIND: `:${port}`, API_FIGURES_BIND: `127.0.0.1:${figures}` },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', part => {
      text = (text + part).slice(-2_000_000)
    })
  }
  const ended = once(child, 'exit')
  const read = async () => (await fetch(`http://127.0.0.1:${figures}/metrics`)).text()
  return {
    port,
    log: () => text,
    async marks(number: 0 | 1, state: 'UP' | 'DOWN') {
      const line = `haproxy_server_status{proxy="api_reads",server="api${number + 1}",state="${state}"} 1`
      await until(
        async () => (await read()).includes(line),
        60_000,
        () => text.slice(-2_000),
      )
    },
    async reload() {
      const workers = () => text.match(/New worker \(\d+\) forked/g)?.length ?? 0
      const before = workers()
      child.kill('SIGUSR2')
      await until(
        () => workers() > before,
        60_000,
        () => text.slice(-2_000),
      )
      await until(async () => (await read()).includes('state="UP"} 1'), 60_000)
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/**
 * Clients that ask without an end, each on a connection that it keeps.
 *
 * @returns statuses, or the error in the place of one
 */
export function askOn({ port, secret }: Balanced, clients = 4) {
  const answers: (number | string)[] = []
  let stopped = false
  const run = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    while (!stopped) {
      answers.push(
        await statusOf({ port, agent, path: '/v1/articles', headers: { authorization: `Bearer ${secret}` } }),
      )
      // HAProxy allows an address 500 requests a second.
      await pause(10)
    }
    agent.destroy()
  }
  const runs = Array.from({ length: clients }, run)
  return {
    answers,
    failed: () => answers.filter(answer => answer !== 200),
    /** Waits until so many more requests are answered. */
    async more(count: number) {
      const enough = answers.length + count
      await until(() => answers.length >= enough, 60_000)
    },
    async stop() {
      stopped = true
      await Promise.all(runs)
    },
  }
}

export interface Asked {
  port: number
  path: string
  method?: string
  agent?: Agent
  localAddress?: string
  headers?: Record<string, string>
}

/** The status of one request; the error, when its connection broke. */
export function statusOf(asked: Asked): Promise<number | string> {
  return new Promise(resolve => {
    request({ host: '127.0.0.1', ...asked }, response => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
      response.once('error', error => resolve(String(error)))
    })
      .once('error', error => resolve(String(error)))
      .end()
  })
}
