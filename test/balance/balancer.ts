import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createTestDatabase } from '#test/database'
import { createFleet, freePort, heard, type Member, until } from '#test/fleet'
import { debianTool, MissingProgram } from '#test/fleet/programs/debian'

const haproxy = await debianTool('haproxy', 'haproxy').catch(error => {
  if (error instanceof MissingProgram) return error
  throw error
})

/** Why HAProxy cannot be tried here; false: it can. */
export const WITHOUT_HAPROXY: string | false =
  haproxy instanceof MissingProgram ? haproxy.message : false

export interface Balanced {
  port: number
  apis: [Member, Member]
  secret: string
  log(): string
  reload(): Promise<void>
  marked(number: 0 | 1, state: 'UP' | 'DOWN'): Promise<void>
  /** Ends one API, or kills it. */
  end(number: 0 | 1, signal: NodeJS.Signals): Promise<void>
  /** Starts an API where one has ended, and waits until HAProxy sends requests to it. */
  start(number: 0 | 1): Promise<void>
  stop(): Promise<void>
}

/**
 * Two APIs behind HAProxy, which runs with `infra/ha/haproxy/api.cfg`. `marked` waits until HAProxy
 * knows that an API is there, or away; `reload` lets it read its file again.
 */
export async function startBalanced(env: Record<string, string> = {}): Promise<Balanced> {
  const database = await createTestDatabase()
  const fleet = createFleet({
    DATABASE_URL: database.url,
    QDRANT_URL: '',
    EMBEDDINGS_URL: '',
    TRUST_PROXY: '127.0.0.1',
    ...env,
  })
  const { key: secret } = await fleet.makeKey('balanced')
  const ports = [String(await freePort()), String(await freePort())] as const
  const startApi = (number: 0 | 1) => fleet.start('api', { PORT: ports[number] })
  const apis: [Member, Member] = [await startApi(0), await startApi(1)]
  const proxy = await startProxy(ports)
  const balanced = {
    port: proxy.port,
    apis,
    secret,
    log: proxy.log,
    reload: proxy.reload,
    marked: proxy.marks,
    async end(number: 0 | 1, signal: NodeJS.Signals) {
      apis[number].process.kill(signal)
      await apis[number].exited
      await proxy.marks(number, 'DOWN')
    },
    async start(number: 0 | 1) {
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
  const port = await freePort()
  const figures = await freePort()
  const file = fileURLToPath(new URL('../../infra/ha/haproxy/api.cfg', import.meta.url))
  // -W: a process that serves, and one that replaces it, as systemd runs it.
  if (haproxy instanceof MissingProgram) throw haproxy
  const child: ChildProcess = spawn(haproxy.command, ['-W', '-f', file], {
    env: {
      ...haproxy.env,
      PATH: process.env.PATH,
      API_1: `127.0.0.1:${apis[0]}`,
      API_2: `127.0.0.1:${apis[1]}`,
      API_LOG: 'stdout',
      API_BIND: `:${port}`,
      API_FIGURES_BIND: `127.0.0.1:${figures}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log = heard(child.stdout, child.stderr)
  const said = () => log().slice(-2_000)
  const ended = once(child, 'exit')
  const read = async () => (await fetch(`http://127.0.0.1:${figures}/metrics`)).text()
  return {
    port,
    log,
    async marks(number: 0 | 1, state: 'UP' | 'DOWN') {
      const line = `haproxy_server_status{proxy="api_reads",server="api${number + 1}",state="${state}"} 1`
      await until(async () => (await read()).includes(line), 60_000, said)
    },
    async reload() {
      const workers = () => log().match(/New worker \(\d+\) forked/g)?.length ?? 0
      const before = workers()
      child.kill('SIGUSR2')
      await until(() => workers() > before, 60_000, said)
      await until(async () => (await read()).includes('state="UP"} 1'), 60_000)
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
