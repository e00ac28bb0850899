import { createHash, timingSafeEqual } from 'node:crypto'
import { type Request, type RequestHandler, Router } from 'express'
import { readCredentials } from '#services/api/access/access'
import { type AddressLock, lockAddress } from '#services/api/access/lock'
import { ApiError } from '#services/api/contract/errors'
import { refuseMethod, refusePath, sendOnce } from '#services/api/http/answer'
import type { Readiness } from '#services/api/http/health'
import { pageSecurity } from '#services/api/http/security'
import type { Config } from '#shared/config/config'
import type { Figures, OutletHealth } from '#shared/figures'
import type { Logger } from '#shared/log/logger'
import { shared } from '#shared/metrics'
import { createPool, type Pool } from '#shared/postgres/pool'
import { openQueues, type Queues } from '#shared/queues/queues'
import { withTimeLimit } from '#shared/resilience/time-limit'
import { createStalls, spentBudgets, unsetOf } from '#status/cause-watch'
import { causesOf } from '#status/causes'
import { countQuarantine, listQuarantine, readFlow, readLag, readRunning } from '#status/flow'
import { outletHealth } from '#status/health'
import { readMachines } from '#status/machines'
import { withDelayed } from '#status/status'
import { readSurroundings } from '#status/surroundings'
import { sendFile } from './files.ts'
import { webBundle } from './web.ts'

/*
 * Operators watch the fleet without disturbing it: the pages have connections of their own, short
 * statements, and figures that all viewers share. A part that cannot be read in time is left out,
 * and the page names it.
 */

export interface OperatorParts {
  config: Config
  log: Logger
  lock: AddressLock
  readiness: Readiness
}

/** The most ms that a statement for the page may run. */
const STATEMENT_TIMEOUT = 3_000

const CLOSE_TIMEOUT = 2_000

export interface OperatorPages {
  router: Router
  close(): Promise<void>
}

/**
 * `/status` shows operators the state of the fleet, with its figures at `/status/figures`. Both
 * require OPERATOR_KEY and are read-only. They use connections of their own, so they take nothing
 * from searches. The page's script and style are open files like those of all pages, because they
 * contain no figure.
 */
export async function openOperatorPages(parts: OperatorParts): Promise<OperatorPages> {
  const { config, log, lock } = parts
  const pool = createPool(
    config.DATABASE_URL,
    'status',
    error => log.debug({ err: error.message }, 'status'),
    {
      max: 3,
      statementTimeout: STATEMENT_TIMEOUT,
      queryTimeout: STATEMENT_TIMEOUT + 500,
      // A standby is enough: the page then says that the database is a standby.
      mayBeStandby: true,
    },
  )
  const queues = openQueues(config, log)
  const figures = openFigures(pool, queues, parts)

  const router = Router({ strict: true, caseSensitive: true })
  router.use('/status', requireOperator(config.OPERATOR_KEY, lock))
  router.get('/status/figures', async (request, response) => {
    response.set('Cache-Control', 'no-store')
    await sendOnce(
      request,
      response,
      'application/json; charset=utf-8',
      JSON.stringify(await figures()),
    )
  })
  router.get('/status', pageSecurity(), async (request, response) => {
    const { pages } = await webBundle()
    await sendFile(request, response, pages.status, 'private, no-cache')
  })
  router.all(['/status', '/status/figures'], refuseMethod())
  router.use('/status', refusePath)
  return {
    router,
    async close() {
      const closed = Promise.allSettled([queues.close(), pool.end()])
      // While Redis is away, the queues may never close.
      await withTimeLimit(closed, CLOSE_TIMEOUT, () => {})
    },
  }
}

const REALM = 'Perscope operators'

/**
 * Admits a request with the operator's key: as a Bearer token, or as the password of HTTP Basic
 * (RFC 7617), for which browsers ask. A wrong key counts against its address as a wrong API key
 * does (decision 3). The right key also works from a locked address, and while the database is
 * away. A request without a password always gets the challenge, so a lock never keeps an operator
 * out.
 */
export function requireOperator(key: string, lock: AddressLock): RequestHandler {
  const expected = digest(key)
  return async (request, _response, next) => {
    const sent = isOfAnotherSite(request) ? NOTHING : readKey(request)
    if (sent.kind === 'missing') throw challenge('missing_token', ASKED)
    if (sent.kind === 'malformed') throw challenge('invalid_token', WRONG)
    if (timingSafeEqual(digest(sent.key), expected)) return next()
    // These pages must also work while the database is away. A wrong key that cannot be counted is
    // then only refused.
    const seconds = await lock.fail(lockAddress(request)).catch(() => null)
    if (seconds === null) throw challenge('invalid_token', WRONG)
    throw new ApiError('too_many_failed_attempts', { headers: { 'Retry-After': String(seconds) } })
  }
}

const ASKED =
  'This page is for operators: send OPERATOR_KEY as a Bearer token, or as the password of HTTP Basic with any name.'
const WRONG = 'This is not the key of the operators (OPERATOR_KEY).'

const challenge = (code: 'missing_token' | 'invalid_token', message: string) =>
  new ApiError(code, {
    message,
    headers: {
      'WWW-Authenticate': `Basic realm="${REALM}", charset="UTF-8", Bearer realm="${REALM}"`,
    },
  })

/**
 * Whether a page of another site made the browser send this request, as for an image. The
 * credentials of such a request are ignored: they are no guess, and the other site gets nothing. A
 * link that a person follows from another site asks for a document, and is allowed.
 */
const isOfAnotherSite = ({ headers }: Request): boolean =>
  headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-dest'] !== 'document'

type Sent = { kind: 'missing' } | { kind: 'malformed' } | { kind: 'key'; key: string }
const NOTHING: Sent = { kind: 'missing' }

function readKey(request: Request): Sent {
  const headers = request.headersDistinct.authorization ?? []
  const basic =
    headers.length === 1
      ? /^basic +([A-Za-z0-9+/]+=*)$/i.exec(headers[0]?.trim() ?? '')?.[1]
      : undefined
  if (basic !== undefined) {
    const pair = Buffer.from(basic, 'base64').toString('utf8')
    const password = pair.slice(pair.indexOf(':') + 1)
    // A browser sends an empty password when the user has entered none.
    return password === '' ? { kind: 'missing' } : { kind: 'key', key: password }
  }
  const credentials = readCredentials(request)
  return credentials.kind === 'bearer' ? { kind: 'key', key: credentials.token } : credentials
}

/** Digests always have equal lengths, so they can be compared in constant time. */
const digest = (text: string) => createHash('sha256').update(text).digest()

/**
 * ms for which figures are kept, so that many viewers cause one read. Figures that change slowly
 * are kept longer.
 */
const FRESH = {
  flow: 2_500,
  machines: 5_000,
  outlets: 10_000,
  quarantine: 10_000,
  around: 30_000,
  lag: 60_000,
}
const NEWEST = 50

/**
 * Reads the figures for the page. Each part is read separately, and at most once in its time of
 * `FRESH` for all viewers.
 */
function openFigures(
  pool: Pool,
  queues: Queues,
  { readiness, config }: OperatorParts,
): () => Promise<Figures<Date>> {
  const stalls = createStalls()
  const read = {
    flow: shared(() => readFlow(pool), FRESH.flow),
    running: shared(() => readRunning(pool), FRESH.flow),
    machines: shared(() => readMachines(pool, config), FRESH.machines),
    queues: shared(() => queues.counts(), FRESH.flow),
    outlets: shared(async () => (await outletHealth(pool)).sort(worstFirst), FRESH.outlets),
    quarantine: shared(
      async () => ({
        counts: await countQuarantine(pool),
        newest: await listQuarantine(pool, NEWEST),
      }),
      FRESH.quarantine,
    ),
    lag: shared(() => readLag(pool, config.EMBED_DELAY), FRESH.lag),
    around: shared(() => readSurroundings(config, pool), FRESH.around),
    missing: shared(
      async () => ({ ...(await readiness.required()), ...(await readiness.semantic()) }),
      FRESH.flow,
    ),
  }
  return async () => {
    const unread: string[] = []
    const part = async <T>(name: keyof typeof read, reading: Promise<T>): Promise<T | null> => {
      const known = reading.catch(() => null)
      const found = await withTimeLimit(known, PATIENCE, () => null)
      if (found === null) unread.push(name)
      return found
    }
    const [flow, running, machines, counts, outlets, quarantine, lag, around, missing] =
      await Promise.all([
        part('flow', read.flow()),
        part('running', read.running()),
        part('machines', read.machines()),
        part('queues', read.queues()),
        part('outlets', read.outlets()),
        part('quarantine', read.quarantine()),
        part('lag', read.lag()),
        part('around', read.around()),
        part('missing', read.missing()),
      ])
    const figures = {
      at: new Date().toISOString(),
      service: config.SERVICE_NAME,
      flow,
      running,
      machines,
      outlets,
      quarantine,
      lag,
      around,
      queues: counts && withDelayed(counts, flow?.embeddings.promised ?? 0),
      missing: Object.keys(missing ?? {}),
      unread: unread.sort(),
    }
    const spent = spentBudgets(outlets ?? [], config)
    const stalled = counts === null ? [] : stalls(counts, Date.now())
    return {
      ...figures,
      causes: causesOf({
        ...figures,
        reasons: missing ?? {},
        spent,
        stalled,
        unset: unsetOf(config),
      }),
    }
  }
}

const RANK = { failing: 0, blocked: 1, silent: 2, healthy: 3 }

/**
 * Outlets in trouble come first. Outlets of equal health are ordered by their failures, most first,
 * and then by the time without news, longest first.
 */
function worstFirst(a: OutletHealth, b: OutletHealth): number {
  const since = ({ lastNew, lastSuccess }: OutletHealth) => (lastNew ?? lastSuccess)?.getTime() ?? 0
  return (
    RANK[a.health] - RANK[b.health] ||
    b.failures - a.failures ||
    since(a) - since(b) ||
    (a.domain < b.domain ? -1 : 1)
  )
}

/** ms that a part of the figures may take. After that, the page shows the other parts. */
const PATIENCE = 4_000
