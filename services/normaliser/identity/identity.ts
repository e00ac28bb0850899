import { getDomain } from 'tldts'
import { addressKey, cleanAddress, readAddress } from '../../../shared/articles/address.ts'
import type { Outlet } from '../../../shared/outlets/outlet.ts'
import { isNoArticle, isSectionOf, leadsToNoArticle } from './places.ts'

/**
 * What is known of where an article lives. Addresses as written; relative ones are read against
 * `finalUrl`.
 */
export interface Sighting {
  /** As the feed named it. */
  url: string
  /** After redirects. */
  finalUrl: string
  /** The page's own word: `<link rel="canonical">`. */
  canonical?: string | null
  /** `<link rel="amphtml">` */
  amp?: string | null
  /**
   * Never an identity: outlets change their GUID schemes, and some give one GUID to many articles.
   */
  guid?: string | null
  outlet: Pick<Outlet, 'domain'>
}

export interface Identity {
  /**
   * The public address: the canonical one if it can be believed, else where the redirects ended.
   */
  url: string
  /**
   * All keys under which this article may be met again, its own first
   * (`shared/articles/address.ts`).
   */
  addresses: string[]
}

/**
 * Which article this is (decision 37). Two sightings of one outlet that share any address are one
 * article; titles and GUIDs say nothing. A wrong refusal here costs a duplicate, a wrong belief
 * merges an outlet's articles into one: so what looks like a front page, a section or a wall is not
 * believed.
 *
 * @throws TypeError when `url` itself is no http(s) address
 */
export function identify(sighting: Sighting): Identity {
  const named = readAddress(sighting.url)
  if (named === null) throw new TypeError(`the page's own address is not http(s): ${sighting.url.slice(0, 100)}`)
  const arrived = believableEnd(named, readAddress(sighting.finalUrl))
  const canonical = believableLink(arrived, sighting.canonical)
  const amp = believableLink(arrived, sighting.amp)
  const own = canonical ?? arrived
  const keys = [own, arrived, named, amp].filter(url => url !== null).map(url => addressKey(url.href))
  return { url: cleanAddress(own), addresses: [...new Set(keys)] }
}

/**
 * Where the redirects ended, unless that is a place where many articles end: a front page, a
 * section, a consent wall.
 */
function believableEnd(named: URL, end: URL | null): URL {
  if (end === null || end.href === named.href) return named
  const astray = isNoArticle(end) || (sameSite(named, end) ? isSectionOf(end, named) : leadsToNoArticle(named, end))
  return astray && !isNoArticle(named) ? named : end
}

/** What the page says of itself, if it names an article of the same site. */
function believableLink(page: URL, written: string | null | undefined): URL | null {
  if (!written) return null
  const link = readAddress(written, page.href)
  if (link === null || !sameSite(page, link)) return null
  return isNoArticle(link) || isSectionOf(link, page) ? null : link
}

/**
 * The same registrable domain, by the public suffix list with its private part (two blogs at one
 * provider are two sites). Hosts without one (IP addresses, `localhost`) are the same only when
 * equal, port included.
 */
function sameSite(a: URL, b: URL): boolean {
  const options = { allowPrivateDomains: true }
  const domain = getDomain(a.hostname, options)
  return domain === null ? a.host === b.host : domain === getDomain(b.hostname, options)
}
