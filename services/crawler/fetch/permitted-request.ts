import type { Crawl } from '../crawl.ts'
import type { Hold } from '../hosts/leases.ts'
import { endTurn, type Turn, takeTurn } from '../hosts/request-permit.ts'
import { requestSeconds } from '../metrics.ts'
import { type Answer, request } from './request.ts'
import { asFailure, type FailureKind, RequestFailure } from './request-failure.ts'
import { readRetryAfter } from './retry-after.ts'

/**
 * ms that are waited for a host whose pause our own last request began: a redirect within a host, the parts of an index.
 * Whoever came back later would begin with that request again, and never come to the end. No Crawl-delay that means it is longer.
 */
export const OWN_PAUSE = 600_000

/** One request, made in its host's turn. */
export type Asked =
  | { kind: 'answer'; answer: Answer }
  | { kind: 'failure'; reason: FailureKind; detail: string }
  /** The host is not free for so many ms. */
  | { kind: 'busy'; wait: number }
  /** The crawler is stopping, or the visit is another's now: put the work back untouched. */
  | { kind: 'interrupted' }

/** So many connections may fail before the whole host is given a rest. */
const FAILURES_IN_A_ROW = 3
/** In CRAWL_RETRY_MINs. */
const LONGEST_REST = 10

/**
 * Makes one request as soon as the host may be asked, and begins the pause after it.
 *
 * @param options.patience longest wait for the host in ms
 * @param options.beginning so many bytes are enough: what lies behind them is not read
 * @param options.needed asked when the turn has come: false gives it back without a request (`busy`, 0 ms)
 */
export async function requestInTurn(
  crawl: Crawl,
  visit: Hold,
  url: URL,
  headers: Record<string, string>,
  options: { patience: number; beginning?: number; needed?: () => Promise<boolean> },
): Promise<Asked> {
  const { config, pool, holds } = crawl
  const delay = config.CRAWL_HOST_DELAY
  const outcome = await takeTurn(pool, holds, visit, url.host, {
    delay,
    patience: options.patience,
    stop: crawl.stopping,
  })
  if (outcome.kind !== 'turn') return outcome
  const { turn } = outcome
  const needed = options.needed === undefined || (await options.needed())
  if (!needed || !turn.alive() || !visit.alive()) {
    await endTurn(pool, holds, turn, delay, { requested: false, pause: 0, error: null })
    return needed ? { kind: 'interrupted' } : { kind: 'busy', wait: 0 }
  }
  const started = performance.now()
  const result = await request(url, { 'user-agent': config.CRAWL_USER_AGENT, ...headers }, crawl.connect, {
    timeout: config.CRAWL_TIMEOUT,
    maxBytes: options.beginning ?? config.CRAWL_MAX_BYTES,
    cut: options.beginning !== undefined,
    signal: AbortSignal.any([crawl.ending, turn.lost, visit.lost]),
    wanted: () => turn.alive() && visit.alive(),
  }).catch((error: unknown) => asFailure(error))
  requestSeconds.observe((performance.now() - started) / 1_000)
  if (result instanceof RequestFailure) {
    await endTurn(pool, holds, turn, delay, {
      requested: true,
      pause: pauseAfterFailure(result.kind, turn, config.CRAWL_RETRY_MIN),
      error: UNREACHED.has(result.kind) ? result.message : null,
    })
    if (result.kind === 'aborted') return { kind: 'interrupted' }
    return { kind: 'failure', reason: result.kind, detail: result.message }
  }
  await endTurn(pool, holds, turn, delay, {
    requested: true,
    pause: pauseAfter(result, config.CRAWL_RETRY_MIN),
    error: null,
  })
  return { kind: 'answer', answer: result }
}

const UNREACHED = new Set<FailureKind>(['connection', 'name', 'time-out'])

/** A host that does not answer is not knocked at for every page that waits there. */
function pauseAfterFailure(kind: FailureKind, turn: Turn, retryMin: number): number {
  if (!UNREACHED.has(kind) || turn.failures + 1 < FAILURES_IN_A_ROW) return 0
  return retryMin * Math.min(2 ** (turn.failures + 1 - FAILURES_IN_A_ROW), LONGEST_REST)
}

/** 429 and 503 speak for the whole host; a 503 without Retry-After may be one page's trouble. */
function pauseAfter({ status, headers }: Answer, retryMin: number): number {
  if (status === 429) return readRetryAfter(headers) ?? retryMin
  return status === 503 ? (readRetryAfter(headers) ?? 0) : 0
}
