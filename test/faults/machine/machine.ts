import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Family } from '#infra/embedded/supervision/family'
import { ask } from '#test/database'
import { freePort, type ServiceName } from '#test/fleet'
import { type End, type Member, startMember } from './member.ts'
import { type Redis, type Servers, startRedis, startServers } from './servers.ts'

/** The fleet of the run and what it stands on. */
export interface Machine {
  servers: Servers
  redis: Redis | null
  workers: Worker[]
  /** Addresses of the APIs. */
  apis: string[]
  /** The environment of services and scripts. */
  env: NodeJS.ProcessEnv
  answers: {
    postgres: () => Promise<boolean>
    qdrant: () => Promise<boolean>
    model: () => Promise<boolean>
    redis: () => Promise<boolean>
    api: (index: number) => Promise<boolean>
  }
  /** Starts one more process of a service. */
  start(
    service: ServiceName,
    number: number,
  ): Promise<{
    service: ServiceName
    name: string
    ends: End[]
    log: string
    pid(): number | null
    isWell(): boolean
    signal(signal: NodeJS.Signals): boolean
    abandon(): void
    stop(): Promise<void>
  }>
  stop(): Promise<void>
}

export interface Worker extends Member {
  service: ServiceName
}

export const HOST_DELAY_MS = 20

/**
 * Times are short, so that a run of a minute sees every stage; the rules are those of every day.
 */
export const QUICK_SETTINGS = {
  CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
  CRAWL_HOST_DELAY: `${HOST_DELAY_MS}ms`,
  CRAWL_TIMEOUT: '5s',
  CRAWL_RETRY_MIN: '1s',
  POLL_INTERVAL_MIN: '1s',
  POLL_INTERVAL_MAX: '4s',
  EMBED_DELAY: '2s',
  NORMALISE_THREADS: '1',
  LOG_LEVEL: 'info',
  HOST: '127.0.0.1',
}

/**
 * Starts the servers, and makes ready to start workers.
 *
 * @param folder everything the run writes lies below it
 */
export async function startMachine(
  folder: string,
  family: Family,
  withRedis: boolean,
): Promise<Machine> {
  const logs = join(folder, 'logs')
  await mkdir(logs, { recursive: true })
  const servers = await startServers(folder, family, join(logs, 'servers.log'))
  const redis = withRedis ? await startRedis(folder, family, join(logs, 'redis.log')) : null
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...QUICK_SETTINGS,
    ...servers.env,
    REDIS_URL: redis?.url ?? '',
    DATA_DIR: servers.dataDir,
  }
  const workers: Worker[] = []
  const apis: string[] = []
  const { DATABASE_URL = '', QDRANT_URL = '', EMBEDDINGS_URL = '' } = servers.env

  return {
    servers,
    redis,
    workers,
    apis,
    env,
    answers: {
      postgres: () =>
        ask(DATABASE_URL, 'select 1', 2_000)
          .then(() => true)
          .catch(() => false),
      qdrant: () => httpAnswers(`${QDRANT_URL}/readyz`),
      model: () => httpAnswers(new URL('/health', EMBEDDINGS_URL).href),
      redis: async () => redis === null || (await redis.answers()),
      api: index => httpAnswers(`${apis[index]}/healthz`),
    },
    async start(service: ServiceName, number: number) {
      const port = service === 'api' ? await freePort() : null
      if (port !== null) apis[number] = `http://127.0.0.1:${port}`
      const name = `${service}-${number}`
      const member = startMember({
        name,
        command: process.execPath,
        args: [fileURLToPath(new URL(`../../../services/${service}/main.ts`, import.meta.url))],
        env: { ...env, ...(port !== null && { PORT: String(port) }) },
        log: join(logs, `${name}.log`),
        family,
      })
      const worker = { ...member, service }
      workers.push(worker)
      return worker
    },
    async stop() {
      await Promise.all(workers.map(worker => worker.stop()))
      await redis?.member.stop()
      await servers.supervisor.stop()
    },
  }
}

async function httpAnswers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    return false
  }
}
