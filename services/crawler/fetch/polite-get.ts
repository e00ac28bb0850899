import { admitsHost, OTHER_DAY, spend } from '#services/crawler/hosts/budgets'
import type { Lease } from '#services/crawler/hosts/leases'
import { readTarget } from '#shared/articles/address'
import { productToken } from '#shared/outlets/rights'
import { readRetryAfter } from '#shared/resilience/retry-after'
import { gunzipFile } from './compression.ts'
import { type Asking, askHost, type HostReply, OWN_PAUSE } from './permitted-request.ts'
import { type CookieJar, createCookieJar } from './redirects.ts'
import type { FetchedResponse } from './request.ts'
import { asFailure, NEVER_ASKED, RequestFailure } from './request-failure.ts'
import {
  isAllowed,
  isOfNews,
  ROBOTS_LIMIT,
  readRobots,
  recallRobots,
  rememberRobots,
  rememberUnreachable,
  sitemapsOf,
} from './robots.ts'

/*
 * All documents of other servers are fetched here. Each step of a redirect is an address of its
 * own, with its host, its robots.txt, its permit and its budget.
 */

/** The outcome of fetching an address and following its redirects. */
export type Fetched =
  /**
   * `url`: the address of the answer. `moved`: the address to which the document has moved for
   * good, by permanent redirects; null: it has not.
   */
  | { kind: 'answer'; answer: FetchedResponse; url: URL; moved: URL | null }
  | {
      kind: 'failure'
      reason: Extract<HostReply, { kind: 'failure' }>['reason'] | 'redirects'
      detail: string
    }
  /** The address redirects in a circle, even with the cookies that it has set. */
  | { kind: 'cookies'; url: URL; detail: string }
  /** A robots.txt forbids the address, or an address that it redirects to. */
  | { kind: 'disallowed'; detail: string }
  /**
   * The robots.txt of `host` does not answer. `host` has the address, or an address that it
   * redirects to. We must not ask `host` for `wait` ms.
   */
  | { kind: 'robots unreachable'; host: string; wait: number; detail: string }
  | { kind: 'busy'; host: string; wait: number }
  | { kind: 'interrupted' }

const MAX_REDIRECTS = 5
/**
 * ms that a visit waits for its own host. After that the visit ends, and the host is claimed again
 * when it is free.
 */
const OWN_PATIENCE = 5_000
/**
 * ms that a visit waits for the host of a redirect. Another visit may be sending requests to that
 * host.
 */
const GUEST_PATIENCE = 15_000

/** The state of following the redirects of one document. */
interface Track {
  refreshOf: RefreshOf
  /** Addresses that have redirected us, each with the cookies that we sent. */
  passed: Set<string>
  cookies: CookieJar
}

/** The state of fetching one document: its address, and the addresses that it redirects to. */
interface Way extends Track {
  asking: Asking
  visit: Lease
  outletNo: number
  headers: Record<string, string>
  ownPatience: number
  beginning: number | undefined
  /**
   * Set while a robots.txt itself is fetched, which no robots.txt can forbid. Returns whether the
   * file still has to be read.
   */
  robotsNeeded: (() => Promise<boolean>) | null
  askedHosts: Set<string>
}

/**
 * The address to which a document redirects its reader at once; null: the document is to be read.
 */
type RefreshOf = (answer: FetchedResponse, url: URL) => string | null

/** Options that differ between kinds of documents. */
interface GetOptions {
  /** Longest wait for the visited host in ms. */
  ownPatience?: number
  /** By default, documents never redirect their readers. */
  refreshOf?: RefreshOf
  /**
   * Only this many bytes of the answer are read. By default, a longer answer than CRAWL_MAX_BYTES
   * fails.
   */
  beginning?: number
  /** A host whose pause this visit has caused itself, and therefore waits for. */
  asked?: string | null
}

/**
 * Fetches an address politely. It obeys the robots.txt of the host, and of every host that a
 * redirect leads to. It takes a permit for each request. It follows at most five redirects, and no
 * circle. Cookies that a redirect sets are sent back to their site until the last answer, and then
 * dropped. New hosts are asked as far as the outlet's budget of today allows.
 *
 * @param outletNo the outlet whose budget pays
 */
export async function politeGet(
  asking: Asking,
  visit: Lease,
  outletNo: number,
  address: string,
  headers: Record<string, string>,
  { ownPatience = OWN_PATIENCE, refreshOf, beginning, asked = null }: GetOptions = {},
): Promise<Fetched> {
  const url = readTarget(address)
  if (url === null) return notFollowed(`no address that can be fetched: ${address.slice(0, 200)}`)
  const way = {
    asking,
    visit,
    outletNo,
    headers,
    ownPatience,
    beginning,
    robotsNeeded: null,
    askedHosts: new Set(asked === null ? [] : [asked]),
    ...freshTrack(refreshOf),
  }
  return followAll(way, url, to => ask(way, to), asking.config.CRAWL_MAX_BYTES)
}

export const freshTrack = (refreshOf: RefreshOf = () => null): Track => ({
  refreshOf,
  passed: new Set(),
  cookies: createCookieJar(),
})

/**
 * Asks for an address, then for each that an answer redirects to. Decompresses a body that is
 * itself a gzip file, whatever the headers say.
 */
export async function followAll(
  track: Track,
  start: URL,
  ask: (url: URL) => Promise<Fetched>,
  maxBytes: number,
): Promise<Fetched> {
  let url = start
  let moved: URL | null = null
  let isForGood = true
  for (;;) {
    const asked = await ask(url)
    if (asked.kind !== 'answer') return asked
    const body = await gunzipFile(asked.answer.body, maxBytes).catch(asFailure)
    if (body instanceof RequestFailure)
      return { kind: 'failure', reason: body.kind, detail: body.message }
    const fetched: Fetched = { ...asked, answer: { ...asked.answer, body }, moved }
    const { status, headers: answered, cookies } = fetched.answer
    const location = REDIRECTS.has(status)
      ? answered.location
      : (track.refreshOf(fetched.answer, url) ?? undefined)
    if (location === undefined) return fetched
    track.passed.add(stepOf(track, url))
    track.cookies.set(url, cookies)
    const next = follow(track, url, location)
    // When a document redirects its reader to no new address, the document itself is the answer.
    if (!(next instanceof URL)) return REDIRECTS.has(status) ? next : fetched
    isForGood &&= PERMANENT.has(status)
    if (isForGood) moved = next
    url = next
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])
const PERMANENT = new Set([301, 308])

/** Asks for one address, with a permit, if the outlet's budget and the robots.txt allow it. */
async function ask(way: Way, url: URL): Promise<Fetched> {
  const { asking, visit, outletNo, askedHosts, robotsNeeded } = way
  const { host } = url
  if (host !== visit.host && !(await admitsHost(asking.pool, outletNo, host, asking.config)))
    return { kind: 'busy', host, wait: OTHER_DAY }
  if (robotsNeeded === null) {
    const robots = await robotsOf(way, url)
    if (robots.kind === 'blocked') return { ...robots, kind: 'robots unreachable', host }
    if (robots.kind !== 'known') return robots
    if (!isAllowed(robots.rules, url))
      return {
        kind: 'disallowed',
        detail: `robots.txt of ${host} forbids ${url.pathname.slice(0, 200)}`,
      }
  }
  const patience = askedHosts.has(host)
    ? OWN_PAUSE
    : host === visit.host
      ? way.ownPatience
      : GUEST_PATIENCE
  const cookie = way.cookies.headerFor(url)
  const headers = cookie === '' ? way.headers : { ...way.headers, cookie }
  const asked = await askHost(asking, visit, url, headers, {
    outletNo,
    patience,
    ...(way.beginning === undefined ? {} : { beginning: way.beginning }),
    ...(robotsNeeded === null ? {} : { beginning: ROBOTS_LIMIT, needed: robotsNeeded }),
  })
  if (asked.kind === 'busy') return { ...asked, host }
  if (asked.kind !== 'answer') return asked
  askedHosts.add(host)
  return { ...asked, url, moved: null }
}

/**
 * The robots.txt of an address's host. It is remembered for a day (RFC 9309 §2.3.1):
 * - 2xx: the rules that it holds.
 * - 3xx: redirects are followed, also to other hosts. Too many redirects count as 4xx.
 * - 4xx but 429: everything is allowed.
 * - 5xx, 429, 304, no answer: nothing may be fetched until it answers.
 */
async function robotsOf(way: Way, { origin, host }: URL) {
  const { pool, config } = way.asking
  const known = await recallRobots(pool, host)
  if (known.kind !== 'unknown') return known
  const { failures } = known
  // Another visit may read the file while this visit waits for its permit.
  const robotsNeeded = async () => (await recallRobots(pool, host)).kind === 'unknown'
  const headers = { accept: 'text/plain,*/*;q=0.5' }
  const own = {
    ...way,
    ...freshTrack(),
    askedHosts: new Set(way.askedHosts),
    headers,
    robotsNeeded,
  }
  const file = new URL('/robots.txt', origin)
  const fetched = await followAll(own, file, to => ask(own, to), config.CRAWL_MAX_BYTES)
  const unreachable = (detail: string, atLeast = 0) => {
    const backOff = Math.min(config.CRAWL_RETRY_MIN * 2 ** Math.min(failures, 20), LONGEST_WAIT)
    return rememberUnreachable(pool, host, Math.max(atLeast, backOff), `robots.txt${detail}`)
  }
  if (fetched.kind === 'busy') {
    const since = await recallRobots(pool, host)
    return since.kind === 'unknown' ? { ...fetched, host } : since
  }
  if (fetched.kind === 'interrupted') return fetched
  // The request for the page will fail for the same reason, unless a redirect led elsewhere.
  const isOwn = own.passed.size === 0
  if (fetched.kind === 'failure' && isOwn && NEVER_ASKED.has(fetched.reason)) return fetched
  if (fetched.kind === 'failure' && fetched.reason !== 'redirects')
    return unreachable(`: ${fetched.detail}`)
  const { status, headers: answered, body } = fetched.kind === 'answer' ? fetched.answer : LOST
  // We send no validators, so a 304 says that a file exists and not what its rules are.
  if (status >= 500 || status === 429 || status === 304)
    return unreachable(
      ` answers ${status}`,
      readRetryAfter(answered['retry-after'], answered.date) ?? 0,
    )
  // Without a file, the body is empty, and everything is allowed.
  await spend(pool, way.outletNo, { hosts: 0, bytes: body.length })
  const text = wholeLines(body).toString('utf8')
  const rules = readRobots(text, productToken(config.CRAWL_USER_AGENT))
  return rememberRobots(
    pool,
    host,
    rules,
    config.CRAWL_HOST_DELAY,
    sitemapsOf(text).find(isOfNews)?.href ?? null,
  )
}

/**
 * Longest wait in ms before an unreachable robots.txt is tried again, unless its server asks for
 * more.
 */
const LONGEST_WAIT = 3_600_000
/** Stands for a robots.txt whose redirects lead nowhere: the file counts as missing. */
const LOST: Pick<FetchedResponse, 'status' | 'headers' | 'body'> = {
  status: 404,
  headers: {},
  body: Buffer.alloc(0),
}

/**
 * Removes a last line that the limit has cut: half of `Disallow: /archive/2019` may be `Disallow:
 * /a`.
 */
const wholeLines = (body: Buffer) =>
  body.length < ROBOTS_LIMIT
    ? body
    : body.subarray(0, Math.max(body.lastIndexOf('\n', LAST), body.lastIndexOf('\r', LAST)) + 1)
const LAST = ROBOTS_LIMIT - 1

/**
 * Identifies a request among the redirects of one document. The same address with other cookies is
 * another request.
 */
const stepOf = ({ cookies }: Track, url: URL) => `${url.href} ${cookies.headerFor(url)}`

/** The address that a redirect leads to, or the reason why we do not follow it. */
function follow(track: Track, from: URL, location: string): URL | Fetched {
  const { passed, cookies } = track
  const next = readTarget(location, from.href)
  if (next === null) return notFollowed(`redirected to ${location.slice(0, 200)}`)
  if (passed.has(stepOf(track, next))) {
    const detail = `redirected in a circle at ${next.href.slice(0, 200)}`
    return cookies.isEmpty() ? notFollowed(detail) : { kind: 'cookies', url: next, detail }
  }
  if (passed.size > MAX_REDIRECTS) return notFollowed(`redirected more than ${MAX_REDIRECTS} times`)
  return next
}

const notFollowed = (detail: string): Fetched => ({ kind: 'failure', reason: 'redirects', detail })
