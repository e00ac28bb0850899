import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { accountOf, checkPassage } from '#infra/embedded/accounts'
import { refusalOf } from '#infra/embedded/data-directory'
import { CHECKOUT } from '#infra/embedded/environment'
import {
  errorCode,
  Problem,
  readIfThere,
  readRecord,
  secretIn,
  writeWhole,
} from '#infra/embedded/files'
import { askHttp, type Program } from '#infra/embedded/supervision/supervise'
import { syncOutlets } from '#scripts/outlets/sync'
import { COUNTRIES } from '#shared/articles/article'
import type { Config } from '#shared/config/config'
import { PORTS, RUNNING } from '#shared/config/embedded'
import { readCatalogue, sharedFeedSentence } from '#shared/outlets/catalogue'
import { createKey, findKey } from '#shared/plans/keys'
import type { Pool } from '#shared/postgres/pool'
import { API_NODE_OPTIONS } from '#shared/process/node'

/*
 * The things that the services of `npm start` need before they run: programs, keys, ports and a
 * catalogue. Errors are reported here in a sentence. Otherwise several processes would fail, each
 * in its own log.
 */

export const SERVICES = ['crawler', 'normaliser', 'embedder', 'notifier', 'api'] as const
type ServiceName = (typeof SERVICES)[number]

/**
 * libuv resolves names on half of these threads. With the default of four, two names whose servers
 * do not answer would delay all other hosts (package.json sets the same for `npm run crawler`).
 */
const RESOLVER_THREADS = { UV_THREADPOOL_SIZE: '32' }

/** The address at which a service of `npm start` answers `/healthz`, `/readyz` and `/metrics`. */
export const metricsAddress = (env: NodeJS.ProcessEnv, port: number): string =>
  `http://${reachable(env.METRICS_HOST?.trim() || '127.0.0.1')}:${port}`

/**
 * A service as the supervisor runs it: the Procfile's line with an environment.
 * @param healthPort the port for `/healthz` and `/metrics`
 */
export function serviceProgram(
  name: ServiceName,
  env: NodeJS.ProcessEnv,
  healthPort: number,
  dataDir: string,
): Program {
  const health = metricsAddress(env, healthPort)
  return {
    name: `The ${name}`,
    command: process.execPath,
    args: [...(name === 'api' ? API_NODE_OPTIONS : []), join('services', name, 'main.ts')],
    cwd: CHECKOUT,
    env: { ...RESOLVER_THREADS, ...env, METRICS_PORT: String(healthPort) },
    owner: null,
    log: join(dataDir, 'logs', `${name}.log`),
    isReady: async () => {
      const { fetch } = await import('undici')
      const readiness = await fetch(`${health}/readyz`, { signal: AbortSignal.timeout(2_000) })
      // A service counts as ready without one of its dependencies, because a dependency may be
      // missing for a while. Waiting helps only a service that answers "not finished".
      return readiness.ok || !(await readiness.text()).includes('not finished')
    },
    isAlive: askHttp(`${health}/healthz`),
    explain: log => lastSentence(name, log),
    // After the first signal, services finish or return their jobs. The second signal ends them at
    // once.
    stop: [
      { signal: 'SIGTERM', wait: 7_000 },
      { signal: 'SIGTERM', wait: 1_000 },
    ],
    gentle: 'SIGTERM',
  }
}

/**
 * Services log JSON. But a service that cannot start prints the reason as a sentence, and a crash
 * prints its error.
 */
function lastSentence(name: ServiceName, log: string): Problem | null {
  const lines = log.split('\n')
  const said =
    lines.findLast(line => line.startsWith(`${name}: `)) ??
    lines.findLast(line => /^\w*Error\b/.test(line))
  return said ? new Problem(said) : null
}

/** Requests a minute: enough for a person and a script side by side. */
const RATE = 600

/** Only their owner can read these two files. */
export const keyFile = (dataDir: string): string => join(dataDir, 'api.key')
export const operatorKeyFile = (dataDir: string): string => join(dataDir, 'operator.key')

/**
 * A key for all countries and the whole history, for trying out the system. It is stored in
 * `dataDir`, so that the next start shows the same key. When the database does not know it, a new
 * key is made.
 */
export async function readyMadeKey(pool: Pool, dataDir: string): Promise<string> {
  const file = keyFile(dataDir)
  const known = (await readIfThere(file))?.trim()
  if (known && (await findKey(pool, known))) return known
  const history = { kind: 'fixed', at: new Date('1990-01-01T00:00:00Z') } as const
  const { secret } = await createKey(pool, 'npm start', {
    countries: [...COUNTRIES],
    history,
    rate: RATE,
    quota: null,
  })
  await writeWhole(file, `${secret}\n`)
  return secret
}

/** The key of the pages for operators, stored in `dataDir` like the key of `readyMadeKey`. */
export const readyMadeOperatorKey = (dataDir: string): Promise<string> =>
  secretIn(operatorKeyFile(dataDir), () => `pso_${randomBytes(24).toString('base64url')}`)

/** @throws Problem when the API could not listen on HOST and PORT */
export async function checkPort({ HOST: host, PORT: port }: Config): Promise<void> {
  const code = await refusalOf(port, host)
  if (code === '') return
  const instead = 'set PORT to another one'
  if (code === 'EADDRINUSE')
    throw new Problem(
      `Port ${port} on ${host} is in use by another program; end that, or ${instead}.`,
    )
  if (code === 'EACCES')
    throw new Problem(`Port ${port} needs more rights than this user has; ${instead}, above 1023.`)
  throw new Problem(
    `The API cannot listen on ${host} (${code}); set HOST to an address of this machine.`,
  )
}

/** @throws Problem when the catalogue cannot be read; its contents are checked when it is loaded */
export async function checkCatalogue(file: string): Promise<void> {
  try {
    JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    const why =
      error instanceof SyntaxError ? 'is not JSON' : `cannot be read (${errorCode(error)})`
    throw new Problem(
      `OUTLETS is ${file}, which ${why}; name a catalogue such as infra/outlets/benelux.json.`,
    )
  }
}

/** Reports when the services will keep root's rights. Each service also logs this. */
export async function checkRights(report: (sentence: string) => void): Promise<void> {
  await checkPassage(accountOf('services'), CHECKOUT, 'Each service').catch((error: Error) => {
    report(
      `${error.message.replace(/, or set DATA_DIR.*/, '')}; until then the services keep root's rights.`,
    )
  })
}

/**
 * The host part of an address at which this machine reaches a server that listens on `host`. A
 * server on all addresses also listens on loopback.
 */
export function reachable(host: string): string {
  if (['0.0.0.0', '::', ''].includes(host)) return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

/**
 * Addresses of the metrics of an `npm start` that runs on `DATA_DIR` and on the same database.
 * Empty when none runs: services that run otherwise log their port in their first line.
 */
export async function metricsOfStart({
  DATA_DIR: dataDir,
  DATABASE_URL: url,
}: Pick<Config, 'DATA_DIR' | 'DATABASE_URL'>): Promise<Record<string, string>> {
  const running = parseEnv((await readIfThere(join(dataDir, RUNNING))) ?? '')
  if (running.DATABASE_URL !== url) return {}
  const ports = await readRecord(join(dataDir, PORTS))
  return Object.fromEntries(
    SERVICES.flatMap(name => {
      const port = ports[name]
      return typeof port === 'number' ? [[name, `${metricsAddress(running, port)}/metrics`]] : []
    }),
  )
}

/** The file in which `npm start` records the domains that it loaded, for its next run. */
const LOADED = 'start-outlets.json'

/**
 * Writes a catalogue into the database. Outlets that somebody added by hand stay. Outlets that an
 * earlier run loaded are removed when the catalogue does not contain them.
 *
 * @param report called with a sentence about removed outlets, one about outlets that are not in the
 * file and stay, and one about each feed that several outlets name
 */
export async function loadOutlets(options: {
  pool: Pool
  file: string
  dataDir: string
  report(sentence: string): void
}): Promise<void> {
  const { pool, file, dataDir, report } = options
  const { outlets } = readCatalogue(await readFile(file, 'utf8'), file)
  const state = join(dataDir, LOADED)
  const loaded = Object.values(await readRecord(state)).filter(domain => typeof domain === 'string')
  const { removed, kept, shared } = await syncOutlets(pool, outlets, { remove: loaded })
  await writeWhole(state, `${JSON.stringify(outlets.map(({ domain }) => domain))}\n`)
  if (removed.length > 0)
    report(`No longer crawled, because the catalogue does not name them: ${removed.join(', ')}.`)
  if (kept.length > 0) {
    report(
      `Outlets outside the catalogue are crawled too: ${kept.join(', ')}. "npm run outlets -- remove DOMAIN" removes one.`,
    )
  }
  for (const one of shared) report(sharedFeedSentence(one))
}
