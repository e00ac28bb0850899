import { readAddress } from '../../../shared/articles/address.ts'
import { readRetryAfter } from '../../../shared/http/retry-after.ts'
import { spend } from '../budgets/budget.ts'
import { admitsHost, OTHER_DAY } from '../budgets/new-hosts.ts'
import type { Crawl } from '../crawl.ts'
import { type Asked, OWN_PAUSE, requestWithPermit } from '../fetch/permitted-request.ts'
import type { Lease } from '../hosts/leases.ts'
import {
  type KnownRobots,
  type RobotsBlocked,
  type RobotsKnown,
  readMemory,
  rememberRobots,
  rememberUnreachable,
} from './memory.ts'
import { productToken, ROBOTS_LIMIT, readRobots } from './rules.ts'

/** What is known of a host's robots.txt, or why it cannot be asked for now. */
export type RobotsOutcome =
  | Exclude<KnownRobots, { kind: 'unknown' }>
  | Exclude<Asked, { kind: 'answer' | 'busy' }>
  /** The host, or the one that its robots.txt is redirected to, is not free for so many ms. */
  | { kind: 'busy'; host: string; wait: number }

/** RFC 9309 §2.3.1.2: at least five. */
const MAX_REDIRECTS = 5
const LONGEST_WAIT = 3_600_000

/**
 * The robots.txt of an address's host: from memory for up to a day, else requested, with a permit
 * of the host. 2xx: its rules; 4xx: everything is allowed; 5xx, 429 or no answer: nothing may be
 * fetched until it answers; redirects are followed, also to other hosts in their turn, and too many
 * count as 4xx (RFC 9309 §2.3.1).
 *
 * @param outletNo on whose account
 */
export async function robotsFor(
  crawl: Crawl,
  visit: Lease,
  outletNo: number,
  page: URL,
  patience: number,
): Promise<RobotsOutcome> {
  const recent = crawl.recentRobots
  const cached = recent.get(page.host)
  if (cached !== undefined && performance.now() < cached.until) return cached
  const outcome = await recallOrAsk(crawl, visit, outletNo, page, patience)
  recent.delete(page.host)
  if (outcome.kind === 'known') {
    recent.set(page.host, { ...outcome, until: Math.min(outcome.until, performance.now() + CACHED_FOR) })
    forgetOldest(recent)
  }
  return outcome
}

/**
 * Rules read lately are kept in memory, so that a large file is not taken apart for every page; any
 * of it may be lost.
 */
const CACHED_HOSTS = 500
/** Of all hosts together, the last one apart: the longest robots.txt holds 60,000, in 10 MB. */
const CACHED_RULES = 200_000
const CACHED_FOR = 30_000

/** Keeps the cache within its bounds: the hosts that were read first leave it. */
export function forgetOldest(recent: Map<string, RobotsKnown>): void {
  let rules = 0
  for (const known of recent.values()) rules += known.rules.length
  for (const [host, known] of recent) {
    if (recent.size <= CACHED_HOSTS && (rules <= CACHED_RULES || recent.size === 1)) return
    recent.delete(host)
    rules -= known.rules.length
  }
}

async function recallOrAsk(
  crawl: Crawl,
  visit: Lease,
  outletNo: number,
  page: URL,
  patience: number,
): Promise<RobotsOutcome> {
  const host = page.host
  const known = await readMemory(crawl.pool, host)
  if (known.kind !== 'unknown') return known
  let meanwhile: KnownRobots = known
  // While this visit waited, another that was redirected here may have asked.
  const needed = async () => {
    meanwhile = await readMemory(crawl.pool, host)
    return meanwhile.kind === 'unknown'
  }
  const delay = crawl.config.CRAWL_HOST_DELAY
  const askedHosts = new Set<string>()
  let url = new URL('/robots.txt', page)
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    if (url.host !== host && !(await admitsHost(crawl.pool, outletNo, url.host, crawl.config))) {
      return { kind: 'busy', host: url.host, wait: OTHER_DAY }
    }
    const asked = await requestWithPermit(
      crawl,
      visit,
      url,
      { accept: 'text/plain,*/*;q=0.5' },
      {
        outletNo,
        patience: askedHosts.has(url.host) ? OWN_PAUSE : patience,
        beginning: ROBOTS_LIMIT,
        ...(redirects === 0 ? { needed } : {}),
      },
    )
    askedHosts.add(url.host)
    if (asked.kind === 'busy' && isSettled(meanwhile)) return meanwhile
    if (asked.kind === 'busy') return { ...asked, host }
    if (asked.kind === 'interrupted') return asked
    if (asked.kind === 'failure') {
      if (asked.reason === 'private-address' || asked.reason === 'port') return asked
      return rememberUnreachable(crawl.pool, host, waitAfter(crawl, known.failures), `robots.txt: ${asked.detail}`)
    }
    const { status, headers, body } = asked.answer
    if (status >= 200 && status < 300) {
      const text = wholeLines(body).toString('utf8')
      await spend(crawl.pool, outletNo, { hosts: 0, bytes: body.length })
      return rememberRobots(crawl.pool, host, readRobots(text, productToken(crawl.config.CRAWL_USER_AGENT)), delay)
    }
    if (status >= 300 && status < 400) {
      const next = readAddress(headers.location ?? '', url.href)
      if (next === null) break
      url = next
      continue
    }
    if (status >= 400 && status < 500 && status !== 429) break
    const wait = Math.max(readRetryAfter(headers['retry-after'], headers.date) ?? 0, waitAfter(crawl, known.failures))
    return rememberUnreachable(crawl.pool, host, wait, `robots.txt answers ${status}`)
  }
  return rememberRobots(crawl.pool, host, { rules: [], crawlDelay: null }, delay)
}

/**
 * Half of `Disallow: /archive/2019` may be `Disallow: /a`: a line that the limit cuts is left out.
 */
function wholeLines(body: Buffer): Buffer {
  return body.length < ROBOTS_LIMIT
    ? body
    : body.subarray(0, Math.max(body.lastIndexOf('\n'), body.lastIndexOf('\r')) + 1)
}

const isSettled = (robots: KnownRobots): robots is RobotsKnown | RobotsBlocked => robots.kind !== 'unknown'

const waitAfter = (crawl: Crawl, failures: number) =>
  Math.min(crawl.config.CRAWL_RETRY_MIN * 2 ** Math.min(failures, 20), LONGEST_WAIT)
