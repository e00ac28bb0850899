import { readAddress } from '../../../shared/articles/address.ts'
import { admitsHost, OTHER_DAY } from '../budgets/new-hosts.ts'
import type { Crawl } from '../crawl.ts'
import { type Asked, OWN_PAUSE, requestWithPermit } from '../fetch/permitted-request.ts'
import type { FetchedResponse } from '../fetch/request.ts'
import type { Lease } from '../hosts/leases.ts'
import { robotsFor } from './robots.ts'
import { isAllowed } from './rules.ts'

/** What became of fetching an address, redirects followed. */
export type Fetched =
  /** `url` is where the answer came from. */
  | { kind: 'answer'; answer: FetchedResponse; url: URL }
  | { kind: 'failure'; reason: Extract<Asked, { kind: 'failure' }>['reason'] | 'redirects'; detail: string }
  /** robots.txt of the first or of a later host says no. */
  | { kind: 'disallowed'; detail: string }
  /** A robots.txt that is needed does not answer: the host is left alone for `wait` ms. */
  | { kind: 'robots unreachable'; host: string; wait: number; detail: string }
  | { kind: 'busy'; host: string; wait: number }
  | { kind: 'interrupted' }

const MAX_REDIRECTS = 5
/**
 * How long a visit waits for its own host before it ends, to be called again when the host is free.
 */
const OWN_PATIENCE = 5_000
/** A host that a redirect leads to has visitors of its own; their requests come between ours. */
const GUEST_PATIENCE = 15_000

/**
 * Fetches an address as a polite robot: robots.txt of every host on the way, each request with a
 * permit of its host, at most five redirects and none in a circle, no cookies. Hosts that nobody
 * knew are asked as far as the outlet's budget of today allows.
 *
 * @param outletNo on whose account
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
  const passed = new Set<string>()
  const askedHosts = new Set<string>()
  let url = readAddress(address)
  if (url === null)
    return { kind: 'failure', reason: 'redirects', detail: `no address that can be fetched: ${address.slice(0, 200)}` }
  for (;;) {
    url.hash = ''
    const host = url.host
    if (host !== visit.host && !(await admitsHost(crawl.pool, outletNo, host, crawl.config))) {
      return { kind: 'busy', host, wait: OTHER_DAY }
    }
    const patience = askedHosts.has(host) ? OWN_PAUSE : host === visit.host ? ownPatience : GUEST_PATIENCE
    const robots = await robotsFor(crawl, visit, outletNo, url, patience)
    if (robots.kind === 'blocked') return { ...robots, kind: 'robots unreachable', host }
    if (robots.kind !== 'known') return robots
    if (!isAllowed(robots.rules, url))
      return { kind: 'disallowed', detail: `robots.txt of ${host} forbids ${url.pathname.slice(0, 200)}` }
    const asked = await requestWithPermit(crawl, visit, url, headers, { outletNo, patience })
    if (asked.kind === 'busy') return { ...asked, host }
    if (asked.kind !== 'answer') return asked
    askedHosts.add(host)
    const { status } = asked.answer
    const location = asked.answer.headers.location
    if (!REDIRECTS.has(status) || location === undefined) return { kind: 'answer', answer: asked.answer, url }
    passed.add(url.href)
    const next = readAddress(location, url.href)
    if (next === null)
      return { kind: 'failure', reason: 'redirects', detail: `redirected to ${location.slice(0, 200)}` }
    next.hash = ''
    // A name and password of a redirect are sent to nobody, and stand in no log.
    next.username = ''
    next.password = ''
    if (passed.has(next.href))
      return { kind: 'failure', reason: 'redirects', detail: `redirected in a circle at ${next.href.slice(0, 200)}` }
    if (passed.size > MAX_REDIRECTS)
      return { kind: 'failure', reason: 'redirects', detail: `redirected more than ${MAX_REDIRECTS} times` }
    url = next
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])
