import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { COUNTRIES } from '#shared/articles/article'
import { createKey } from '#shared/plans/keys'
import { createPool, type Pool } from '#shared/postgres/pool'
import { createTestDatabase, PATIENT, type TestDatabase } from './database.ts'
import { run } from './script.ts'

export type ServiceName = 'crawler' | 'normaliser' | 'embedder' | 'notifier' | 'api'

/** One running process of the fleet. */
export interface Member {
  service: ServiceName
  process: ChildProcess
  /** What it wrote to standard error so far, newest last. */
  log(): string
  exited: Promise<number | null>
}

export interface Fleet {
  members: Member[]
  /** Address of the first API. */
  base(): string
  /** Starts one more process of a service, with settings of its own on top of the fleet's. */
  start(service: ServiceName, extra?: Record<string, string>): Promise<Member>
  /** Runs a script as a person would and gives back what it printed. */
  script(name: string, ...args: string[]): Promise<string>
  makeKey(name: string): Promise<Record<'id' | 'key', string>>
  sync(catalogue: { outlets: object[] }): Promise<void>
  /** The end of what each process wrote, to say why something did not come to pass. */
  logs(): string
  stop(): Promise<void>
}

/** A crawler with these does not wait. Its sites are addresses of loopback. */
export const QUICK_CRAWL = {
  CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
  CRAWL_HOST_DELAY: '1ms',
  POLL_INTERVAL_MIN: '500ms',
  POLL_INTERVAL_MAX: '1s',
}

/**
 * The real services as real processes, configured by environment alone as in the Procfile.
 *
 * @param env at least DATABASE_URL
 * @param test stops it when it ends; left out: the caller does
 */
export function createFleet(env: Record<string, string>, test?: Pick<Test, 'teardown'>): Fleet {
  const environment = {
    ...process.env,
    LOG_LEVEL: 'info',
    HOST: '127.0.0.1',
    REDIS_URL: '',
    // Each thread takes a second of a processor to load its modules and languages.
    NORMALISE_THREADS: '1',
    ...env,
  }
  const members: Member[] = []
  let address = ''
  const fleet = {
    members,
    base: () => address,
    async start(service: ServiceName, extra: Record<string, string> = {}) {
      const port = service === 'api' ? (extra.PORT ?? String(await freePort())) : ''
      const child = spawn(
        process.execPath,
        [new URL(`../services/${service}/main.ts`, import.meta.url).pathname],
        {
          env: { ...environment, ...(port ? { PORT: port } : {}), ...extra },
          stdio: ['ignore', 'ignore', 'pipe'],
        },
      )
      const log = heard(child.stderr)
      const exited = new Promise<number | null>(resolve =>
        child.once('exit', code => resolve(code)),
      )
      const member: Member = { service, process: child, log, exited }
      members.push(member)
      if (service === 'api') {
        address ||= `http://127.0.0.1:${port}`
        await until(
          async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok,
          60_000, // on a busy machine
          () => `the API did not start: ${log()}`,
        )
      }
      return member
    },
    script: (name: string, ...args: string[]) => runScript(environment, name, ...args),
    makeKey: (name: string) => makeKey(environment, name),
    sync: (catalogue: { outlets: object[] }) => syncCatalogue(environment, catalogue),
    logs: () => members.map(({ service, log }) => `${service}: ${log().slice(-5_000)}`).join('\n'),
    async stop() {
      for (const { process: child } of members) if (child.exitCode === null) child.kill('SIGTERM')
      const late = setTimeout(() => {
        for (const { process: child } of members) if (child.exitCode === null) child.kill('SIGKILL')
      }, 20_000)
      await Promise.all(members.map(member => member.exited))
      clearTimeout(late)
    },
  }
  test?.teardown(() => fleet.stop())
  return fleet
}

export interface StartedFleet {
  database: TestDatabase
  fleet: Fleet
}

/** A fleet on a database of its own. Both end with the test, the fleet first. */
export async function startFleet(
  t: Pick<Test, 'teardown'>,
  env: Record<string, string> = {},
): Promise<StartedFleet> {
  const database = await createTestDatabase(t)
  return { database, fleet: createFleet({ ...env, DATABASE_URL: database.url }, t) }
}

/** Runs a script of the repository as a person would; returns what it printed. */
export async function runScript(
  env: NodeJS.ProcessEnv,
  name: string,
  ...args: string[]
): Promise<string> {
  const file = new URL(`../scripts/${name}.ts`, import.meta.url).pathname
  const { stdout } = await run(process.execPath, [file, ...args], {
    env,
    maxBuffer: 512 * 1024 * 1024,
  })
  return stdout
}

/** Loads a catalogue, as `npm run outlets -- sync` does. */
export async function syncCatalogue(
  env: NodeJS.ProcessEnv,
  catalogue: { outlets: object[] },
): Promise<void> {
  const { readCatalogue } = await import('#shared/outlets/catalogue')
  const { syncOutlets } = await import('#scripts/outlets/sync')
  const { outlets } = readCatalogue(JSON.stringify(catalogue))
  await withPool(env, pool => syncOutlets(pool, outlets))
}

/** A key for everything. */
export function makeKey(
  env: NodeJS.ProcessEnv,
  name: string,
  quota: number | null = null,
): Promise<Record<'id' | 'key', string>> {
  const history = { kind: 'rolling', days: 3_650 } as const
  const plan = { countries: [...COUNTRIES], history, rate: 1_000_000, quota }
  return withPool(env, async pool => {
    const { key, secret } = await createKey(pool, name, plan)
    return { id: key.id, key: secret }
  })
}

async function withPool<T>(env: NodeJS.ProcessEnv, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = createPool(env.DATABASE_URL ?? '', 'test', () => {}, { ...PATIENT, max: 1 })
  return await work(pool).finally(() => pool.end())
}

/** What a process has written to these of its outputs so far. */
export function heard(...outputs: (Readable | null)[]): () => string {
  let text = ''
  for (const output of outputs)
    output?.setEncoding('utf8').on('data', (part: string) => {
      text = (text + part).slice(-2_000_000)
    })
  return () => text
}

/** Lets a server listen, where no port is given on one that the system chooses; returns it. */
export async function listen(server: Server, address = '127.0.0.1', port = 0): Promise<number> {
  server.listen(port, address)
  await once(server, 'listening')
  const bound = server.address()
  return typeof bound === 'object' && bound ? bound.port : 0
}

/**
 * A mail server that keeps what it is sent, as text with its headers.
 *
 * @param refused how many mails it refuses before
 */
export async function startMailSink(
  test: Pick<Test, 'teardown'>,
  refused = 0,
): Promise<{ url: string; mails: string[] }> {
  const mails: string[] = []
  const { SMTPServer } = await import('smtp-server')
  const sink = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    onData(stream, _session, done) {
      void text(stream).then(mail =>
        refused-- > 0
          ? done(Object.assign(new Error('later'), { responseCode: 451 }))
          : done(null, void mails.push(mail.replaceAll('=\r\n', '').replaceAll('=3D', '='))),
      )
    },
  })
  const port = await listen(sink.server)
  test.teardown(() => new Promise<void>(resolve => void sink.close(() => resolve())))
  return { mails, url: `smtp://127.0.0.1:${port}` }
}

/** Ends a web server, and all connections to it. */
export async function closeServer(server: HttpServer): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

/**
 * Waits until the condition holds. A condition that throws does not hold yet. This looks less often
 * the longer it waits, because a look costs a connection or more.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  ms: number,
  complaint: string | (() => string) = 'waited in vain',
): Promise<void> {
  const began = Date.now()
  for (;;) {
    try {
      if (await condition()) return
    } catch {}
    const waited = Date.now() - began
    if (waited > ms) throw new Error(typeof complaint === 'string' ? complaint : complaint())
    await new Promise(resolve => setTimeout(resolve, Math.min(500, 100 + waited / 20)))
  }
}

/**
 * A port that was free a moment ago, below the range from which the system gives out ports by
 * itself.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const free = await new Promise<boolean>(resolve => {
      const server = createServer()
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (free) return port
  }
}
