import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Problem } from '../../infra/embedded/files.ts'
import { askHttp, type Program } from '../../infra/embedded/supervision/supervise.ts'
import { API_NODE_OPTIONS } from '../../shared/process/node.ts'
import { reachable } from './address.ts'

export const SERVICES = ['crawler', 'normaliser', 'embedder', 'api'] as const
export type ServiceName = (typeof SERVICES)[number]

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))

/**
 * libuv resolves names on half of these threads. With the default of four, two names whose servers
 * do not answer would hold up all other hosts (package.json sets the same for `npm run crawler`).
 */
const RESOLVER_THREADS = { UV_THREADPOOL_SIZE: '32' }

/** Where a service of `npm start` answers `/healthz`, `/readyz` and `/metrics`. */
export function metricsAddress(env: NodeJS.ProcessEnv, port: number): string {
  return `http://${reachable(env.METRICS_HOST?.trim() || '127.0.0.1')}:${port}`
}

/**
 * A service of the fleet as the supervisor runs it: the Procfile's line with an environment.
 * @param healthPort where it answers `/healthz` and `/metrics`
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
      const readiness = await fetch(`${health}/readyz`, { signal: AbortSignal.timeout(2_000) })
      // A dependency may be missing for a while; only "not started yet" is worth waiting for.
      return readiness.ok || !(await readiness.text()).includes('not finished')
    },
    isAlive: askHttp(`${health}/healthz`),
    explain: log => lastSentence(name, log),
    // Services finish or hand back their jobs after the first signal. The second one ends them at
    // once.
    stop: [
      { signal: 'SIGTERM', wait: 7_000 },
      { signal: 'SIGTERM', wait: 1_000 },
    ],
    gentle: 'SIGTERM',
  }
}

/**
 * Services log JSON. They print why they cannot start as a sentence, and a crash prints its error.
 */
function lastSentence(name: ServiceName, log: string): Problem | null {
  const lines = log.split('\n')
  const said = lines.findLast(line => line.startsWith(`${name}: `)) ?? lines.findLast(line => /^\w*Error\b/.test(line))
  return said ? new Problem(said) : null
}
