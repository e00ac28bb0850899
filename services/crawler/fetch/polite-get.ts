import { readAddress } from '../../../shared/articles/address.ts'
import type { Crawl } from '../crawl.ts'
import { admitsHost, OTHER_DAY } from '../hosts/budgets.ts'
import type { Lease } from '../hosts/leases.ts'
import { type Asked, askHost, OWN_PAUSE } from './permitted-request.ts'
import type { FetchedResponse } from './request.ts'
import { robotsFor } from './robots.ts'
import { isAllowed } from './robots-rules.ts'

/** The outcome of fetching an address, redirects followed. */
export type Fetched =
  /** `url` is the address that the answer came from. */
  | { kind: 'answer'; answer: FetchedResponse; url: URL }
  | { kind: 'failure'; reason: Extract<Asked, { kind: 'failure' }>['reason'] | 'redirects'; detail: string }
  /** The robots.txt of the first or of a later host forbids it. */
  | { kind: 'disallowed'; detail: string }
  /** The robots.txt of a host on the way does not answer: leave the host alone for `wait` ms. */
  | { kind: 'robots unreachable'; host: string; wait: number; detail: string }
  | { kind: 'busy'; host: string; wait: number }
  | { kind: 'interrupted' }

const MAX_REDIRECTS = 5
/**
 * ms that a visit waits for its own host. Then it ends, and is called again when the host is free.
 */
const OWN_PATIENCE = 5_000
/**
 * ms that a visit waits for the host of a redirect, whose own visitor sends requests between ours.
 */
const GUEST_PATIENCE = 15_000

/** The state of fetching one address. */
interface Way {
  crawl: Crawl
  visit: Lease
  outletNo: number
  headers: Record<string, string>
  ownPatience: number
  /** Addresses that have redirected us. */
  passed: Set<string>
  askedHosts: Set<string>
}

/**
 * Fetches an address as a polite robot. It obeys the robots.txt of every host on the way, and takes
 * a permit for each request. It follows at most five redirects and none in a circle, and sends no
 * cookies. New hosts are asked as far as the outlet's budget of today allows.
 *
 * @param outletNo the outlet whose budget pays
 * @param ownPatience longest wait for the visited host in ms
 */
export async function politeGet(
  crawl: Crawl,
  visit: Lease,
  outletNo: number,
  address: string,
  headers: Record<string, string>,
  ownPatience = OWN_PATIENCE,
): Promise<Fetched> {
  const way: Way = {
    ...{ crawl, visit, outletNo, headers, ownPatience },
    ...{ passed: new Set<string>(), askedHosts: new Set<string>() },
  }
  let url = readAddress(address)
  if (url === null) return notFollowed(`no address that can be fetched: ${address.slice(0, 200)}`)
  url.hash = ''
  for (;;) {
    const fetched = await ask(way, url)
    if (fetched.kind !== 'answer') return fetched
    const { status, headers: answered } = fetched.answer
    if (!REDIRECTS.has(status) || answered.location === undefined) return fetched
    const next = follow(way, url, answered.location)
    if (!(next instanceof URL)) return next
    url = next
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** One request, if the outlet's budget and the host's robots.txt allow it. */
async function ask(way: Way, url: URL): Promise<Fetched> {
  const { crawl, visit, outletNo, askedHosts } = way
  const { host } = url
  if (host !== visit.host && !(await admitsHost(crawl.pool, outletNo, host, crawl.config))) {
    return { kind: 'busy', host, wait: OTHER_DAY }
  }
  const patience = askedHosts.has(host) ? OWN_PAUSE : host === visit.host ? way.ownPatience : GUEST_PATIENCE
  const robots = await robotsFor(crawl, visit, outletNo, url, patience)
  if (robots.kind === 'blocked') return { ...robots, kind: 'robots unreachable', host }
  if (robots.kind !== 'known') return robots
  if (!isAllowed(robots.rules, url)) {
    return { kind: 'disallowed', detail: `robots.txt of ${host} forbids ${url.pathname.slice(0, 200)}` }
  }
  const asked = await askHost(crawl, visit, url, way.headers, { outletNo, patience })
  if (asked.kind === 'busy') return { ...asked, host }
  if (asked.kind !== 'answer') return asked
  askedHosts.add(host)
  return { ...asked, url }
}

/** The address that a redirect leads to, or why we do not go there. */
function follow({ passed }: Way, from: URL, location: string): URL | Fetched {
  passed.add(from.href)
  const next = readAddress(location, from.href)
  if (next === null) return notFollowed(`redirected to ${location.slice(0, 200)}`)
  next.hash = ''
  // We send the name and password of a redirect to nobody, and log them nowhere.
  next.username = ''
  next.password = ''
  if (passed.has(next.href)) return notFollowed(`redirected in a circle at ${next.href.slice(0, 200)}`)
  if (passed.size > MAX_REDIRECTS) return notFollowed(`redirected more than ${MAX_REDIRECTS} times`)
  return next
}

const notFollowed = (detail: string): Fetched => ({ kind: 'failure', reason: 'redirects', detail })
