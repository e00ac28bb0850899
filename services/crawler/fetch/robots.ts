import { readAddress } from '../../../shared/articles/address.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { readRetryAfter } from '../../../shared/resilience/retry-after.ts'
import type { Crawl } from '../crawl.ts'
import { admitsHost, OTHER_DAY, spend } from '../hosts/budgets.ts'
import type { Lease } from '../hosts/leases.ts'
import { type Asked, askHost, OWN_PAUSE } from './permitted-request.ts'
import type { FetchedResponse } from './request.ts'
import {
  productToken,
  ROBOTS_LIMIT,
  type RobotsKnown,
  type RobotsRules,
  readRobots,
  readRules,
  writeRules,
} from './robots-rules.ts'

/** The rules of a host's robots.txt, or why it cannot be requested now. */
type RobotsOutcome =
  | Exclude<KnownRobots, { kind: 'unknown' }>
  | Exclude<Asked, { kind: 'answer' | 'busy' }>
  /** The host, or a host that its robots.txt redirects to, is not free for `wait` ms. */
  | { kind: 'busy'; host: string; wait: number }

/** RFC 9309 §2.3.1.2: at least five. */
const MAX_REDIRECTS = 5
const LONGEST_WAIT = 3_600_000

/**
 * The robots.txt of an address's host. It is remembered for a day, and requested with a permit of
 * the host (RFC 9309 §2.3.1):
 * - 2xx: the rules that it holds.
 * - 3xx: redirects are followed, also to other hosts. Too many count as 4xx.
 * - 4xx but 429: everything is allowed.
 * - 5xx, 429, no answer: nothing may be fetched until it answers.
 *
 * @param outletNo the outlet whose budget pays
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
 * Rules that were read lately are cached, so that a large file is not parsed for every page. The
 * cache may be lost at any time.
 */
const CACHED_HOSTS = 500
/**
 * Rules of all hosts together. The host that was read last may exceed it alone: the longest
 * robots.txt holds 60,000 rules, which take 10 MB.
 */
const CACHED_RULES = 200_000
const CACHED_FOR = 30_000

/** Removes the hosts that were read first until the cache is within its bounds. */
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
  const known = await readMemory(crawl.pool, page.host)
  if (known.kind !== 'unknown') return known
  const query: Query = {
    ...{ crawl, visit, outletNo, patience, host: page.host, meanwhile: known },
    ...{ failures: known.failures, askedHosts: new Set<string>() },
  }
  let url = new URL('/robots.txt', page)
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const step = await askOnce(query, url, redirects === 0)
    if ('outcome' in step) return step.outcome
    if (step.next === null) break
    url = step.next
  }
  return rememberRobots(crawl.pool, page.host, { rules: [], crawlDelay: null }, crawl.config.CRAWL_HOST_DELAY)
}

/** The state of requesting one robots.txt. */
interface Query {
  crawl: Crawl
  visit: Lease
  outletNo: number
  patience: number
  /** The host whose rules are wanted. A redirect may lead to others. */
  host: string
  /** The robots.txt in the database when the first permit was taken. */
  meanwhile: KnownRobots
  /** How often the robots.txt could not be read before, in a row. */
  failures: number
  askedHosts: Set<string>
}

/** `next`: the address to ask; null: there is no robots.txt, and everything is allowed. */
type Step = { outcome: RobotsOutcome } | { next: URL | null }

async function askOnce(query: Query, url: URL, isFirst: boolean): Promise<Step> {
  const { crawl, visit, outletNo, host, askedHosts } = query
  if (url.host !== host && !(await admitsHost(crawl.pool, outletNo, url.host, crawl.config))) {
    return { outcome: { kind: 'busy', host: url.host, wait: OTHER_DAY } }
  }
  // Another visit may have read the file while this one waited for its permit.
  const needed = async () => {
    query.meanwhile = await readMemory(crawl.pool, host)
    return query.meanwhile.kind === 'unknown'
  }
  const asked = await askHost(
    crawl,
    visit,
    url,
    { accept: 'text/plain,*/*;q=0.5' },
    {
      outletNo,
      patience: askedHosts.has(url.host) ? OWN_PAUSE : query.patience,
      beginning: ROBOTS_LIMIT,
      ...(isFirst ? { needed } : {}),
    },
  )
  askedHosts.add(url.host)
  switch (asked.kind) {
    case 'busy':
      return { outcome: isSettled(query.meanwhile) ? query.meanwhile : { ...asked, host } }
    case 'interrupted':
      return { outcome: asked }
    case 'failure':
      if (asked.reason === 'private-address' || asked.reason === 'port' || asked.reason === 'held')
        return { outcome: asked }
      return { outcome: await unreachable(query, 0, `robots.txt: ${asked.detail}`) }
    case 'answer':
      return judgeAnswer(query, url, asked.answer)
  }
}

/** By the answer's status (RFC 9309 §2.3.1). */
async function judgeAnswer(query: Query, url: URL, { status, headers, body }: FetchedResponse): Promise<Step> {
  const { crawl, outletNo, host } = query
  if (status >= 200 && status < 300) {
    await spend(crawl.pool, outletNo, { hosts: 0, bytes: body.length })
    const rules = readRobots(wholeLines(body).toString('utf8'), productToken(crawl.config.CRAWL_USER_AGENT))
    return { outcome: await rememberRobots(crawl.pool, host, rules, crawl.config.CRAWL_HOST_DELAY) }
  }
  if (status >= 300 && status < 400) return { next: readAddress(headers.location ?? '', url.href) }
  if (status >= 400 && status < 500 && status !== 429) return { next: null }
  const asked = readRetryAfter(headers['retry-after'], headers.date) ?? 0
  return { outcome: await unreachable(query, asked, `robots.txt answers ${status}`) }
}

/** @param atLeast ms that the server asked for */
function unreachable({ crawl, host, failures }: Query, atLeast: number, detail: string): Promise<RobotsBlocked> {
  const backOff = Math.min(crawl.config.CRAWL_RETRY_MIN * 2 ** Math.min(failures, 20), LONGEST_WAIT)
  return rememberUnreachable(crawl.pool, host, Math.max(atLeast, backOff), detail)
}

/**
 * Leaves out a line that the limit cuts: half of `Disallow: /archive/2019` may be `Disallow: /a`.
 */
function wholeLines(body: Buffer): Buffer {
  return body.length < ROBOTS_LIMIT
    ? body
    : body.subarray(0, Math.max(body.lastIndexOf('\n'), body.lastIndexOf('\r')) + 1)
}

const isSettled = (robots: KnownRobots): robots is RobotsKnown | RobotsBlocked => robots.kind !== 'unknown'

/**
 * The robots.txt is unreachable. Nothing may be fetched for `wait` ms, then it is requested again.
 */
interface RobotsBlocked {
  kind: 'blocked'
  wait: number
  detail: string
}

/** The state of a host's robots.txt in the database. */
type KnownRobots = RobotsKnown | RobotsBlocked | { kind: 'unknown'; failures: number }

/** ms. RFC 9309 §2.4 allows a day at most. */
const KEEP = 86_400_000

async function readMemory(pool: Pool, host: string): Promise<KnownRobots> {
  const { rows } = await pool.query<Row>(
    `select robots, robots_blocked as blocked, robots_failures as failures, last_error as error,
            extract(epoch from robots_until - clock_timestamp())::float8 * 1000 as left
       from hosts where host = $1`,
    [host],
  )
  const [row] = rows
  if (row === undefined) return { kind: 'unknown', failures: 0 }
  if (row.left <= 0) return { kind: 'unknown', failures: row.failures }
  if (row.blocked) return { kind: 'blocked', wait: row.left, detail: row.error ?? 'robots.txt does not answer' }
  return { kind: 'known', rules: readRules(row.robots ?? ''), until: performance.now() + row.left }
}

interface Row {
  robots: string | null
  blocked: boolean
  failures: number
  error: string | null
  left: number
}

/**
 * Saves the rules of a robots.txt. Its Crawl-delay holds from now on. `delay`: CRAWL_HOST_DELAY.
 */
async function rememberRobots(
  pool: Pool,
  host: string,
  { rules, crawlDelay }: RobotsRules,
  delay: number,
): Promise<RobotsKnown> {
  await pool.query(
    `update hosts
        set robots = $2, crawl_delay = $3::int, robots_until = clock_timestamp() + $4 * interval '1 ms',
            robots_blocked = false, robots_failures = 0,
            free_at = greatest(free_at, clock_timestamp() + (1 + $5::int) * interval '1 ms')
      where host = $1`,
    [host, writeRules(rules), crawlDelay, KEEP, Math.max(delay, crawlDelay ?? 0)],
  )
  return { kind: 'known', rules, until: performance.now() + KEEP }
}

/**
 * Notes that a robots.txt could not be read. Nothing is fetched from the host until it can be read
 * (RFC 9309 §2.3.1.4).
 */
async function rememberUnreachable(pool: Pool, host: string, wait: number, detail: string): Promise<RobotsBlocked> {
  await pool.query(
    `update hosts
        set robots_until = clock_timestamp() + $2 * interval '1 ms', robots_blocked = true,
            robots_failures = robots_failures + 1, last_error = $3
      where host = $1`,
    [host, wait, detail],
  )
  return { kind: 'blocked', wait, detail }
}
