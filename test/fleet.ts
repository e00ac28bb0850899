import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { promisify } from 'node:util'

export type ServiceName = 'crawler' | 'normaliser' | 'embedder' | 'api'

/** One running process of the fleet. */
export interface Member {
  service: ServiceName
  process: ChildProcess
  /** What it wrote to standard error so far, newest last, at most the last 200 kB. */
  log(): string
  exited: Promise<number | null>
}

export interface Fleet {
  /** Starts one more process of a service, with settings of its own on top of the fleet's. */
  start(service: ServiceName, env?: Record<string, string>): Promise<Member>
  members: Member[]
  /** Address of the first API. */
  base(): string
  /** Runs a script as a person would and gives back what it printed. */
  script(name: string, ...args: string[]): Promise<string>
  stop(): Promise<void>
}

/**
 * The real services as real processes, configured by environment alone as in the Procfile.
 *
 * @param env at least DATABASE_URL
 */
export function createFleet(env: Record<string, string>): Fleet {
  const environment = {
    ...process.env,
    LOG_LEVEL: 'info',
    HOST: '127.0.0.1',
    REDIS_URL: '',
    ...env,
  }
  const members: Member[] = []
  let address = ''
  const fleet: Fleet = {
    members,
    base: () => address,
    async start(service, extra = {}) {
      const port = service === 'api' ? (extra.PORT ?? String(await freePort())) : ''
      const child = spawn(process.execPath, [new URL(`../services/${service}/main.ts`, import.meta.url).pathname], {
        env: { ...environment, ...(port ? { PORT: port } : {}), ...extra },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let text = ''
      child.stderr?.setEncoding('utf8').on('data', chunk => {
        text = (text + chunk).slice(-200_000)
      })
      const exited = new Promise<number | null>(resolve => child.once('exit', code => resolve(code)))
      const member: Member = { service, process: child, log: () => text, exited }
      members.push(member)
      if (service === 'api') {
        address ||= `http://127.0.0.1:${port}`
        await until(
          async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok,
          60_000, // on a busy machine
          () => `the API did not start: ${text}`,
        )
      }
      return member
    },
    async script(name, ...args) {
      const file = new URL(`../scripts/${name}.ts`, import.meta.url).pathname
      const { stdout } = await promisify(execFile)(process.execPath, [file, ...args], {
        env: environment,
        maxBuffer: 256 * 1024 * 1024,
      })
      return stdout
    },
    async stop() {
      for (const { process: child } of members) if (child.exitCode === null) child.kill('SIGTERM')
      const late = setTimeout(() => {
        for (const { process: child } of members) if (child.exitCode === null) child.kill('SIGKILL')
      }, 20_000)
      await Promise.all(members.map(member => member.exited))
      clearTimeout(late)
    },
  }
  return fleet
}

/** Waits until the condition holds; one that throws counts as not yet. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  ms: number,
  complaint: () => string = () => 'waited in vain',
): Promise<void> {
  const end = Date.now() + ms
  for (;;) {
    try {
      if (await condition()) return
    } catch {}
    if (Date.now() > end) throw new Error(complaint())
    await new Promise(resolve => setTimeout(resolve, 100))
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
