import { getDomain } from 'tldts'
import { addressKey, cleanAddress, readAddress } from '../../../shared/articles/address.ts'
import type { Outlet } from '../../../shared/outlets/catalogue.ts'
import { isNoArticle, isSectionOf, leadsToNoArticle } from './places.ts'
import { isInAnotherLanguage, type Languages } from './twins.ts'

/**
 * The addresses under which a page was seen, as written. Relative ones are resolved against
 * `finalUrl`.
 */
export interface Sighting {
  /** As the feed named it. */
  url: string
  /** After redirects. */
  finalUrl: string
  /** The page's own statement: `<link rel="canonical">`. */
  canonical?: string | null
  /** `<link rel="amphtml">` */
  amp?: string | null
  /**
   * Not used as an identity: outlets change their GUID schemes, and some give one GUID to many
   * articles.
   */
  guid?: string | null
  /** Without it, links to other languages are told by their addresses alone. */
  languages?: Languages
  outlet: Pick<Outlet, 'domain'>
}

export interface Identity {
  /**
   * The public address: the canonical one if it can be believed, else the last one of the
   * redirects.
   */
  url: string
  /** All keys of the article's addresses, its own first (`shared/articles/address.ts`). */
  addresses: string[]
}

/**
 * Finds the addresses that identify an article (decision 37). Two sightings of one outlet that
 * share any address are one article. Titles and GUIDs do not count. An address that is wrongly
 * refused costs a duplicate. One that is wrongly believed merges an outlet's articles into one. So
 * addresses of front pages, sections, interstitials and other languages are not believed.
 *
 * @throws TypeError when `url` itself is no http(s) address
 */
export function identify(sighting: Sighting): Identity {
  const named = readAddress(sighting.url)
  if (named === null) throw new TypeError(`the page's own address is not http(s): ${sighting.url.slice(0, 100)}`)
  const arrived = believableEnd(named, readAddress(sighting.finalUrl))
  const believable = (written: string | null | undefined) => {
    const link = believableLink(arrived, written)
    const languages = sighting.languages ?? { own: '', twins: [] }
    return link === null || isInAnotherLanguage(link, [arrived, named], languages) ? null : link
  }
  const canonical = believable(sighting.canonical)
  const amp = believable(sighting.amp)
  const own = canonical ?? arrived
  const keys = [own, arrived, named, amp].filter(url => url !== null).map(url => addressKey(url.href))
  return { url: cleanAddress(own), addresses: [...new Set(keys)] }
}

/**
 * The last address of the redirects, unless many articles end there: a front page, a section, a
 * consent wall.
 */
function believableEnd(named: URL, end: URL | null): URL {
  if (end === null || end.href === named.href) return named
  const astray = isNoArticle(end) || (sameSite(named, end) ? isSectionOf(end, named) : leadsToNoArticle(named, end))
  return astray && !isNoArticle(named) ? named : end
}

/** The address that the page states, if it is an article's on the same site. */
function believableLink(page: URL, written: string | null | undefined): URL | null {
  if (!written) return null
  const link = readAddress(written, page.href)
  if (link === null || !sameSite(page, link)) return null
  return isNoArticle(link) || isSectionOf(link, page) ? null : link
}

/**
 * Whether two addresses have the same registrable domain, by the public suffix list with its
 * private part: two blogs at one provider are two sites. Hosts without such a domain (IP addresses,
 * `localhost`) must be equal, with their port.
 */
function sameSite(a: URL, b: URL): boolean {
  const options = { allowPrivateDomains: true }
  const domain = getDomain(a.hostname, options)
  return domain === null ? a.host === b.host : domain === getDomain(b.hostname, options)
}
