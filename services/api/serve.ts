import { createSecretKey } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { openArchive } from '#search/archive/archive'
import { ArchiveFailure } from '#search/archive/client'
import { type CacheSizes, defaultCacheSizes, openIndexOf, type SearchIndex } from '#search/index'
import { archiveSettingsOf } from '#shared/config/archive'
import { type Config, publicUrlOf } from '#shared/config/config'
import { waitFor } from '#shared/log/context'
import type { Logger } from '#shared/log/logger'
import { createOutageLog } from '#shared/log/outage'
import { counter, figure, gauge } from '#shared/metrics'
import { loadSharedSecret } from '#shared/postgres/pool'
import { sentenceOf } from '#shared/process/command'
import { missingAmong } from '#shared/process/health'
import { listen } from '#shared/process/listen'
import { joinsOthers, processNumber } from '#shared/process/node'
import { repeatEvery } from '#shared/process/repeat'
import type { ProcessContext, RunningService } from '#shared/process/service'
import { createCircuit } from '#shared/resilience/circuit'
import { observeArchive } from '#status/fleet-metrics'
import { prepareAdmissions } from './access/admissions.ts'
import { createAddressLock } from './access/lock.ts'
import { createStrangerPermits } from './access/permits.ts'
import { createApp } from './app.ts'
import { SHOWN_ARTICLES, type ShownArticle } from './articles/shown-article.ts'
import { readRequest } from './contract/request.ts'
import { startTelling } from './desk/telling.ts'
import { startWarmUp } from './http/health.ts'
import { HTTP_LIMITS, type HttpLimits } from './http/limits.ts'
import { createHttpServer } from './http/server.ts'
import { trustProxy } from './http/trust-proxy.ts'
import type { SemanticSearch } from './semantic/query.ts'
import { openSemanticSearch } from './semantic/search.ts'
import type { OperatorParts } from './site/operators.ts'
import { webBundle } from './site/web.ts'
import { openServers, type Servers } from './standbys/servers.ts'
import { obeyPrimary, type Served } from './worker.ts'

/*
 * Start and end of one API process: the parts that it opens, the time at which it listens, and the
 * work that it finishes before it stops. Limits that apply to a machine are divided by its
 * processes.
 */

/**
 * Serves the API, by itself or as one of several processes.
 *
 * @param how many processes share the port, including this process
 */
export async function serve(context: ProcessContext, processes: number): Promise<RunningService> {
  const { config, log } = context
  const tellPrimary = processNumber() === null ? null : obeyPrimary(context)
  const servers = openServers(config, log)
  const index = openApiIndex(servers, config, processes)
  observeIndex(index, config.OPENSEARCH_URL.length === 0 ? Infinity : config.OPENSEARCH_RECENT)
  observeArchive(config)
  const opened = {
    ...servers,
    index,
    semantic: await openSemanticSearch(config, servers.pool, index, log),
  }
  const api = await startApi(config, log, opened, processes)
  tellPrimary?.(api)
  // The process already answers searches. A request for a page waits until the pages are made.
  webBundle().catch(error => log.error({ err: sentenceOf(error) }, 'could not make the pages'))
  return api
}

/** ms that running requests may take when the process is to stop. */
const DRAIN_TIMEOUT = 12_000
/** ms in which a process that has closed its port declines connections that are on their way. */
const DECLINING = 500
const SWEEP_INTERVAL = 600_000
const READY_TIMEOUT = 2_000
/** The most ms that the process waits for the index to be in memory before it listens. */
const LISTEN_WAIT = 1_000
/** The same for a process that joins others. */
const JOIN_WAIT = 60_000

export interface RunningApi extends RunningService, Served {
  port: number
}

/** The sources of all answers. `RunningApi.stop` closes them. */
export interface OpenedSearch extends Servers {
  index: SearchIndex<ShownArticle>
  semantic: SemanticSearch<ShownArticle>
}

/**
 * Waits until Postgres answers and holds our schema, and then listens. It also starts without the
 * model or the vector store.
 *
 * @param processes that share the port with this one, itself included
 */
export async function startApi(
  config: Config,
  log: Logger,
  opened: OpenedSearch,
  processes = 1,
): Promise<RunningApi> {
  const { pool, history, standbys, index, semantic } = opened
  // This is read first, so that a wrong value stops the start before the database answers.
  const isBehindProxy = trustProxy(config.TRUST_PROXY) !== false
  const cursorSecret = createSecretKey(await patiently(() => loadSharedSecret(pool, 'cursor'), log))
  await index.check()
  const strangers = createStrangerPermits(config)
  const lock = createAddressLock(pool, config, strangers)
  const required = () => missingAmong({ postgres: () => pool.query(ASK) })
  const publicUrl = publicUrlOf(config)
  const prepare = () => {
    // Else the first request waits until the check of its parameters is loaded and compiled.
    readRequest('', 'articles')
    return prepareAdmissions(pool, config.DATABASE_POOL)
  }
  const warmUp = startWarmUp(index, log, { prepare })
  const readiness = { required, semantic: () => semantic.missing(), warmUp }
  const pages =
    config.OPERATOR_KEY === '' ? null : await operatorPages({ config, log, lock, readiness })
  const operators = pages?.router ?? null
  const app = createApp({
    config,
    log,
    ...opened,
    lock,
    strangers,
    cursorSecret,
    publicUrl,
    readiness,
    operators,
  })
  const server = createHttpServer(app, connectionLimits(processes, isBehindProxy))
  // The process waits here until its index is warm, but not for ever. A small index is warm at
  // once, so `/readyz` is 200 from the first moment on. A process that joins others waits longer,
  // because the others answer meanwhile.
  await warmUp.soon(joinsOthers() ? JOIN_WAIT : LISTEN_WAIT)
  const port = await listen(server, config.PORT, config.HOST)
  if (processNumber() === null) log.info({ host: config.HOST, port }, 'listening')

  const outage = createOutageLog(
    log,
    'could not sweep failed attempts',
    'failed attempts are swept again',
  )
  const sweeper = repeatEvery(SWEEP_INTERVAL, () => lock.sweep(), { first: SWEEP_INTERVAL, outage })

  const telling = startTelling(pool, index, log)

  return {
    port,
    warm: warmUp.done,
    missing: required,
    farewell() {
      server.prependListener('request', (_request, response) => {
        response.shouldKeepAlive = false
      })
    },
    async stop() {
      const swept = Promise.all([sweeper.close(), telling.close()])
      const closed = new Promise(resolve => server.close(resolve))
      // A kept connection becomes idle only after its last answer.
      const idle = setInterval(() => server.closeIdleConnections(), 100)
      const late = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT)
      await closed
      // The primary may have handed over one more connection. This process declines it, and another
      // one gets it.
      if (processNumber() !== null) await pause(DECLINING)
      clearInterval(idle)
      clearTimeout(late)
      await swept
      await index.close()
      await pages?.close()
      await semantic.close()
      history.close()
      await standbys?.close()
      await pool.end()
    },
  }
}

/**
 * Each process gets an equal part of the connections. Behind a proxy, all clients have one address.
 */
function connectionLimits(processes: number, isBehindProxy: boolean): Partial<HttpLimits> {
  const connections = Math.ceil(HTTP_LIMITS.connections / processes)
  const perAddress = Math.ceil(HTTP_LIMITS.connectionsPerAddress / processes)
  return { connections, connectionsPerAddress: isBehindProxy ? connections : perAddress }
}

/**
 * Only these pages need the library of the queues, a tenth of all modules. So only they load it.
 */
async function operatorPages(parts: OperatorParts) {
  const { openOperatorPages } = await import('./site/operators.ts')
  return openOperatorPages(parts)
}

/**
 * Tries again every second until it works, because the database may still be starting, or waiting
 * for `npm run migrate`.
 */
async function patiently<T>(work: () => Promise<T>, log: Logger): Promise<T> {
  let said: boolean | null = null
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const missing = error instanceof Error && 'code' in error && error.code === '42P01'
      const sentence = missing
        ? 'The database has no schema of ours yet; run `npm run migrate`. Waiting.'
        : `The database does not answer (${sentenceOf(error)}). Waiting.`
      // One outage causes many errors: refused, reset, terminated. It is logged once.
      if (missing !== said) log.warn(sentence)
      said = missing
      await new Promise(resolve => setTimeout(resolve, 1_000))
    }
  }
}

/** pg reads `query_timeout`, though its types lack it. It ends the wait for a server that hangs. */
const ASK = { text: 'select 1', query_timeout: READY_TIMEOUT }

/**
 * Opens the index of an API process, which keeps articles as the bytes that it sends. A failover
 * may undo articles, and new articles then get their numbers. So when the primary has a new
 * history, the index is opened again, and running searches fail.
 *
 * @param processes that share the port with this one, itself included
 */
export function openApiIndex(
  servers: Servers,
  config: Config,
  processes = 1,
): SearchIndex<ShownArticle> {
  const { pool, history, standbys } = servers
  // One failure is enough: that request has tried the nodes for some seconds.
  const circuit = createCircuit(
    'OpenSearch',
    error => error instanceof ArchiveFailure && error.status === null,
    1,
  )
  const open = () => {
    const one: SearchIndex<ShownArticle> = openIndexOf(pool, SHOWN_ARTICLES, {
      caches: cacheSizesOf(config, processes),
      standbys,
      elsewhere: openArchive(
        pool,
        archiveSettingsOf(config),
        () => archiveFailures.inc(),
        circuit.run,
      ),
      async waitFor(name, work) {
        const done = await waitFor(name, work)
        if (index !== one)
          throw Object.assign(new Error('the primary has changed'), { code: UNDONE })
        return done
      },
    })
    return one
  }
  let index = open()
  let warm: Parameters<typeof index.warm> | null = null
  history.onChange(() => {
    index.close().catch(() => {})
    index = open()
    if (warm !== null) index.warm(...warm)
  })
  const warmAndNote: typeof index.warm = (...given) => {
    warm = given
    return index.warm(...given)
  }
  // The proxy has no target, so that no earlier index stays in memory.
  return new Proxy<typeof index>(Object.create(null), {
    get: (_, name) => (name === 'warm' ? warmAndNote : Reflect.get(index, name)),
  })
}

/**
 * The SQLSTATE that Postgres sends when it shuts down. A caller that gets it does its work again.
 */
const UNDONE = '57P01'

const archiveFailures = counter(
  'archive_failures_total',
  'Searches that the archive index failed to answer in time.',
)

/**
 * Sizes of the caches: parts of SEARCH_CACHE, or what fits the machine's memory.
 *
 * @param processes that share the port. Each has an equal part, so that the sum stays the same
 */
function cacheSizesOf({ SEARCH_CACHE }: Config, processes: number): CacheSizes {
  const fitting = Object.values(defaultCacheSizes()).reduce((sum, bytes) => sum + bytes, 0)
  return defaultCacheSizes((SEARCH_CACHE > 0 ? SEARCH_CACHE / fitting : 1) / processes)
}

/**
 * Reports what an open index holds in memory, and how far the archive is behind.
 *
 * @param recent how many of the newest articles stay out of the archive; Infinity without an
 * archive
 */
export function observeIndex(index: Pick<SearchIndex, 'stats'>, recent: number): void {
  const stats = async () => index.stats()
  figure(
    'archive_backlog_articles',
    'Articles that are old enough for the archive index and not in it; 0 without an archive.',
    stats,
    ({ elsewhere, covered }) => Math.max(0, Number(covered - elsewhere) - recent),
  )
  gauge(
    'search_cache_bytes',
    'Bytes in the caches of the search engine: in use, and the limit.',
    ['cache', 'kind'],
    stats,
    (set, { caches, prefetched, names }) => {
      for (const [cache, { used, limit }] of Object.entries(caches)) {
        set({ cache, kind: 'used' }, used)
        set({ cache, kind: 'limit' }, limit)
      }
      set({ cache: 'prefetch', kind: 'used' }, prefetched)
      set({ cache: 'name_index', kind: 'used' }, names.bytes)
    },
  )
}
