import { loadavg } from 'node:os'
import { certificateRefusal } from '#shared/config/tls'
import { figure, gauge, registry, shared } from '#shared/metrics'
import { withTimeLimit } from '#shared/resilience/time-limit'
import { http } from './http.ts'
import { listen } from './listen.ts'

/** Dependencies that refuse us or do not answer: name → a short reason without addresses. */
export type Missing = Record<string, string>

export interface HealthServer {
  port: number
  close(): Promise<void>
}

/**
 * Limits, in ms. There are few clients, and they are near. A connection that sends no request, or
 * does not read its answer, is closed, so that others can connect.
 */
const TIMEOUTS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
}
const SILENCE = 30_000
const CONNECTIONS = 256

/** ms for which the result of a check is reused. */
const FRESH = 1_000

/**
 * Serves `/healthz` (the process answers), `/readyz` (200, or 503 with the missing dependencies; as
 * on the API's port, but with reasons) and `/metrics` (Prometheus text).
 *
 * @param port 0 takes a free one
 * @param host every client that reaches this host may read: use loopback, or a private network
 */
export async function startHealthServer(
  port: number,
  host: string,
  missing: () => Promise<Missing>,
  metrics: () => Promise<string>,
): Promise<HealthServer> {
  const look = shared(missing, FRESH)
  observeReadiness(look)
  const server = http.createServer(TIMEOUTS, async (request, response) => {
    const path = request.url?.split('?')[0]
    try {
      if (isForeign(host, request.headers.host)) return void response.writeHead(421).end()
      if (path === '/healthz')
        return void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"status":"ok"}')
      if (path === '/readyz') {
        const reasons = await look()
        const missing = Object.keys(reasons)
        const status = missing.length === 0 ? 'ok' : 'unavailable'
        response.writeHead(status === 'ok' ? 200 : 503, { 'content-type': 'application/json' })
        return void response.end(JSON.stringify({ status, missing, reasons }))
      }
      if (path === '/metrics') {
        const text = await metrics()
        return void response.writeHead(200, { 'content-type': registry().contentType }).end(text)
      }
      response.writeHead(404).end()
    } catch {
      if (response.headersSent) response.destroy()
      else response.writeHead(500).end()
    }
  })
  server.maxConnections = CONNECTIONS
  server.on('drop', () => server.closeIdleConnections())
  server.setTimeout(SILENCE)
  // The server also emits errors later. For instance, it does so when a connection finds no free
  // file descriptor.
  server.on('error', () => {})
  return {
    port: await listen(server, port, host, { port: 'METRICS_PORT', host: 'METRICS_HOST' }),
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/**
 * Whether a request to loopback names another host. A hostile site can make its own name resolve to
 * this machine. Its page could then read data that only this machine may read (DNS rebinding).
 */
function isForeign(host: string, named = 'localhost'): boolean {
  const isLoopback = /^(127\.|::1$|localhost$)/.test(host)
  return isLoopback && !/^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(named)
}

/** Shows the result of `/readyz` as metrics. Both gauges share one check. */
function observeReadiness(look: () => Promise<Missing>): void {
  figure('ready', 'Whether all that the process needs answers.', look, gaps =>
    Number(Object.keys(gaps).length === 0),
  )
  gauge(
    'missing',
    'Dependencies of the process that do not answer.',
    ['dependency'],
    look,
    (set, gaps) => {
      for (const dependency of Object.keys(gaps)) set({ dependency }, 1)
    },
  )
}

/** How many ms a dependency has to answer, so that `/readyz` answers within a second. */
const ANSWER_TIME = 900

/**
 * Sends a small request to every dependency of a service, all at once. Returns those that fail or
 * do not answer in time, each with the reason.
 *
 * @param questions by the dependency's name
 * @param limit ms
 */
export async function missingAmong(
  questions: Record<string, () => Promise<unknown>>,
  limit: number = ANSWER_TIME,
): Promise<Missing> {
  const asked = Object.entries(questions).map(async ([name, ask]) => {
    const answered = ask().then(() => null, reasonOf)
    return [name, await withTimeLimit(answered, limit, () => lateAfter(limit))] as const
  })
  return Object.fromEntries(
    (await Promise.all(asked)).flatMap(([name, why]) => (why === null ? [] : [[name, why]])),
  )
}

const SILENT = 'does not answer'
/** A server that refuses at once is away. One that is late may be alive on a busy machine. */
const lateAfter = (limit: number) =>
  `${LATE} ${limit / 1_000} s (the load of this machine is ${loadavg()[0]!.toFixed(1)})`
export const LATE = `${SILENT} within`
/**
 * Reasons, each with a pattern. The patterns match codes of Postgres and Node, and words of Redis,
 * Qdrant and models.
 */
const REASONS = [
  ['has no connection left', /^53300 /m],
  ['agrees with us on no TLS', /\bSSL (connections?|off)\b|no encryption|^(ERR_SSL|EPROTO)/m],
  [
    'refuses our account or key',
    /^(28P01|28000|EAUTH) |\b(WRONGPASS|NOAUTH)\b|\banswers? \(?40[13]\b/m,
  ],
  ['has no database of that name', /^3D000 /m],
  ['has a host name that nobody knows', /^(ENOTFOUND|EAI_AGAIN) /m],
] as const

/**
 * The reason why a server does not serve us. Leaves out the words of the error, because they may
 * have addresses in them.
 */
export function reasonOf(error: unknown): string {
  const told: string[] = []
  for (let one = error; one instanceof Error && told.length < 5; ) {
    if (certificateRefusal(one) !== null) return 'agrees with us on no TLS'
    told.push(`${'code' in one ? one.code : ''} ${one.message}`)
    one = one instanceof AggregateError ? one.errors[0] : one.cause
  }
  return REASONS.find(([, pattern]) => pattern.test(told.join('\n')))?.[0] ?? SILENT
}
