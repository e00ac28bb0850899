import type { X509Certificate } from 'node:crypto'
import type { buildConnector } from 'undici'
import type { UnsavedDays } from '#services/crawler/days'
import { admitsHost, spend } from '#services/crawler/hosts/budgets'
import type { Lease, Leases } from '#services/crawler/hosts/leases'
import {
  type BeginLongWait,
  endPermit,
  type Permit,
  takePermit,
} from '#services/crawler/hosts/permits'
import type { Config } from '#shared/config/config'
import type { Logger } from '#shared/log/logger'
import type { Pool } from '#shared/postgres/pool'
import { readRetryAfter } from '#shared/resilience/retry-after'
import { CERTIFICATE_LIMIT, missingCertificates, type Trust } from './certificates.ts'
import { IncompleteChain, introduction } from './connector.ts'
import type { Leniency } from './lenient.ts'
import { type FetchedResponse, request } from './request.ts'
import { asFailure, type FailureKind, NEVER_ASKED, RequestFailure } from './request-failure.ts'

/**
 * Longest wait in ms for a host that pauses because of our own last request. That happens with a
 * redirect within a host, and with the parts of an index. A later visit would only repeat that
 * request and never finish. The wait is longer than any reasonable Crawl-delay.
 */
export const OWN_PAUSE = 600_000

/** The parts of a crawler that requests to hosts need. */
export interface Asking {
  config: Config
  pool: Pool
  log: Logger
  leases: Leases
  beginLongWait: BeginLongWait
  connect: buildConnector.connector
  /** The certificates that `connect` checks hosts against. */
  trust: Trust
  /** The hosts whose answers are read leniently. */
  leniency: Leniency
  /** Counts the requests to outlets, by day. */
  asked: UnsavedDays
  /** Aborted when no new work may begin. */
  stopping: AbortSignal
  /** Aborted when running requests must end. */
  ending: AbortSignal
}

/** The outcome of one request that was made with a permit of its host. */
export type HostReply =
  | { kind: 'answer'; answer: FetchedResponse }
  /** `incomplete`: the certificate of a host that sends an incomplete chain. */
  | { kind: 'failure'; reason: FailureKind; detail: string; incomplete?: X509Certificate }
  /** The host is not free for `wait` ms. */
  | { kind: 'busy'; wait: number }
  /** The crawler is stopping, or another crawler has the visit. The work is still due. */
  | { kind: 'interrupted' }

/** The number of failed connections in a row after which the whole host rests. */
const FAILURES_IN_A_ROW = 3
/** The longest rest of a host that fails, as a multiple of CRAWL_RETRY_MIN. */
const LONGEST_REST = 10

interface PermittedOptions {
  /** The outlet for which a long wait is counted. */
  outletNo: number
  /** Longest wait for the host in ms. */
  patience: number
  /** Reads no more bytes than this. */
  beginning?: number
  /**
   * Called when the permit is taken. If it returns false, the permit is returned without a request
   * (`busy`, 0 ms).
   */
  needed?: () => Promise<boolean>
}

/** Makes one request as soon as the host is free, then starts the pause. */
async function requestWithPermit(
  asking: Asking,
  visit: Lease,
  url: URL,
  headers: Record<string, string>,
  options: PermittedOptions,
): Promise<HostReply> {
  const { config, pool, leases } = asking
  const delay = config.CRAWL_HOST_DELAY
  const outcome = await takePermit(pool, leases, visit, url.host, {
    delay,
    patience: options.patience,
    beginLong: () => asking.beginLongWait(options.outletNo),
    stop: asking.stopping,
  })
  if (outcome.kind !== 'permit') return outcome
  const { permit } = outcome
  const needed = await options.needed?.().catch((error: unknown) => {
    // A permit that nobody ends would be renewed for ever.
    leases.drop(permit)
    throw error
  })
  if (needed === false || !permit.alive() || !visit.alive()) {
    await endPermit(pool, leases, permit, delay, { requested: false, pause: 0, error: null })
    return needed === false ? { kind: 'busy', wait: 0 } : { kind: 'interrupted' }
  }
  const read = { bytes: 0 }
  const result = await request(url, { ...introduction(config), ...headers }, asking.connect, {
    timeout: config.CRAWL_TIMEOUT,
    maxBytes: options.beginning ?? config.CRAWL_MAX_BYTES,
    cut: options.beginning !== undefined,
    signal: AbortSignal.any([asking.ending, permit.lost, visit.lost]),
    read,
    wanted: () => permit.alive() && visit.alive(),
    leniency: asking.leniency.isFor(url.host) ? asking.leniency : undefined,
  }).catch((error: unknown) => asFailure(error))
  noteAsked(asking, options.outletNo, result, read.bytes)
  const isFailure = result instanceof RequestFailure
  await endPermit(pool, leases, permit, delay, {
    requested: true,
    pause: isFailure
      ? pauseAfterFailure(result.kind, permit, config.CRAWL_RETRY_MIN)
      : pauseAfter(result, config.CRAWL_RETRY_MIN),
    error: isFailure && UNREACHED.has(result.kind) ? result.message : null,
  })
  return isFailure ? failed(result) : { kind: 'answer', answer: result }
}

const ABSENT = new Set([404, 410])

/**
 * Counts a request for its outlet's day. A request that we did not send, or that we ended
 * ourselves, does not count.
 */
function noteAsked(
  { asked }: Asking,
  outletNo: number,
  result: FetchedResponse | RequestFailure,
  bytes: number,
): void {
  const isFailure = result instanceof RequestFailure
  if (isFailure && (result.kind === 'aborted' || NEVER_ASKED.has(result.kind))) return
  asked.add(outletNo, {
    requests: 1,
    bytes,
    // A missing document is no error, because most hosts have no tdmrep.json.
    errors: isFailure || (result.status >= 400 && !ABSENT.has(result.status)) ? 1 : 0,
    unchanged: !isFailure && result.status === 304 ? 1 : 0,
  })
}

function failed(failure: RequestFailure): HostReply {
  if (failure.kind === 'aborted') return { kind: 'interrupted' }
  const incomplete = failure instanceof IncompleteChain ? { incomplete: failure.certificate } : {}
  return { kind: 'failure', reason: failure.kind, detail: failure.message, ...incomplete }
}

const UNREACHED = new Set<FailureKind>(['connection', 'name', 'time-out', 'tls'])

/**
 * After several failed connections in a row a host rests. Otherwise each of its waiting pages would
 * try it.
 */
function pauseAfterFailure(kind: FailureKind, permit: Permit, retryMin: number): number {
  if (!UNREACHED.has(kind) || permit.failures + 1 < FAILURES_IN_A_ROW) return 0
  return retryMin * Math.min(2 ** (permit.failures + 1 - FAILURES_IN_A_ROW), LONGEST_REST)
}

/**
 * 429, and 503 with Retry-After, pause the whole host. A 503 without Retry-After may concern one
 * page only.
 */
function pauseAfter({ status, headers }: FetchedResponse, retryMin: number): number {
  const asked = readRetryAfter(headers['retry-after'], headers.date)
  if (status === 429) return asked ?? retryMin
  return status === 503 ? (asked ?? 0) : 0
}

/** Failures of answers that the lenient reader may still read. */
export const MISREAD: ReadonlySet<FailureKind> = new Set<FailureKind>(['protocol', 'cut'])

/** ms that a visit waits for the host from which an authority's certificate is fetched. */
const PATIENCE = 15_000

/**
 * Makes one request with a permit. Some hosts send an incomplete chain of certificates. The missing
 * certificates are then fetched as browsers do it, each with a permit of its own host, and the
 * request is made again. This happens at most once an hour for a host, and the outlet's budget
 * pays. An answer that breaks the rules of HTTP is requested again, too, and read leniently.
 */
export async function askHost(
  asking: Asking,
  visit: Lease,
  url: URL,
  headers: Record<string, string>,
  options: PermittedOptions,
): Promise<HostReply> {
  const asked = await requestWithPermit(asking, visit, url, headers, options)
  if (asked.kind === 'failure' && MISREAD.has(asked.reason) && !asking.leniency.isFor(url.host)) {
    asking.leniency.begin(url.host)
    return requestWithPermit(asking, visit, url, headers, { ...options, patience: OWN_PAUSE })
  }
  if (asked.kind !== 'failure' || asked.incomplete === undefined || !asking.trust.mayTry(url.host))
    return asked
  const fetch = (address: URL) => fetchCertificate(asking, visit, address, options.outletNo)
  const missing = await missingCertificates(asked.incomplete, asking.trust, fetch)
  if (missing === null) return asked
  asking.trust.remember(missing)
  asking.log.info(
    { host: url.host, certificates: missing.length },
    'fetched certificates that a host does not send',
  )
  return requestWithPermit(asking, visit, url, headers, { ...options, patience: OWN_PAUSE })
}

async function fetchCertificate(
  asking: Asking,
  visit: Lease,
  address: URL,
  outletNo: number,
): Promise<Buffer | null> {
  const { pool, config } = asking
  if (address.host !== visit.host && !(await admitsHost(pool, outletNo, address.host, config)))
    return null
  const headers = { accept: 'application/pkix-cert,*/*;q=0.5' }
  const limits = { outletNo, patience: PATIENCE, beginning: CERTIFICATE_LIMIT }
  const asked = await requestWithPermit(asking, visit, address, headers, limits)
  if (asked.kind !== 'answer' || asked.answer.status !== 200) return null
  await spend(pool, outletNo, { hosts: 0, bytes: asked.answer.body.length })
  return asked.answer.body
}
