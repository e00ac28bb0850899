import { getDomain } from 'tldts'
import { addressKey, cleanAddress, readAddress } from '#shared/articles/address'
import { LANGUAGES } from '#shared/articles/article'
import type { Outlet } from '#shared/outlets/catalogue'
import { allWords } from './languages/index.ts'
import type { Twin } from './metadata/metadata.ts'

/*
 * Feeds, links and redirects name one article by several addresses. This code decides which of them
 * are trusted as the article's. Too few trusted addresses store an article twice. One wrong address
 * merges two articles for good. So a doubtful address is not trusted.
 */

/**
 * The addresses of one fetched page, as written. Relative addresses are resolved against
 * `finalUrl`.
 */
interface Sighting {
  /** The address in the feed. */
  url: string
  /** The address after redirects. */
  finalUrl: string
  /** The page's own statement: `<link rel="canonical">`. */
  canonical?: string | null
  /** `<link rel="amphtml">` */
  amp?: string | null
  /** Without `languages`, links to other languages are recognised by their addresses alone. */
  languages?: Languages
  outlet: Pick<Outlet, 'domain'>
}

export interface Identity {
  /**
   * The public address: the canonical address if it is trusted, or else the last address of the
   * redirects.
   */
  url: string
  /** All keys of the article's addresses, its own first (`shared/articles/address.ts`). */
  addresses: string[]
}

/**
 * Finds the addresses that identify an article (decision 37). Two pages of one outlet that share
 * any address are one article. Titles and GUIDs do not count, because some outlets give one GUID to
 * many articles. Addresses of front pages, sections, interstitials and other languages are not
 * trusted.
 *
 * @throws TypeError when `url` itself is no http(s) address
 */
export function identify(sighting: Sighting): Identity {
  const named = readAddress(sighting.url)
  if (named === null)
    throw new TypeError(`the page's own address is not http(s): ${sighting.url.slice(0, 100)}`)
  const arrived = believableEnd(named, readAddress(sighting.finalUrl))
  const believable = (written: string | null | undefined) => {
    const link = believableLink(arrived, written)
    const languages = sighting.languages ?? { own: '', twins: [] }
    return link === null || isInAnotherLanguage(link, [arrived, named], languages) ? null : link
  }
  const canonical = believable(sighting.canonical)
  const amp = believable(sighting.amp)
  const own = canonical ?? arrived
  const keys = [own, arrived, named, amp].filter(url => url !== null).map(url => addressKey(url))
  return { url: cleanAddress(own), addresses: [...new Set(keys)] }
}

/**
 * The last address of the redirects, unless it is a page where many articles end: a front page, a
 * section, a consent page.
 */
function believableEnd(named: URL, end: URL | null): URL {
  if (end === null || end.href === named.href) return named
  const astray =
    isNoArticle(end) ||
    (sameSite(named, end) ? isSectionOf(end, named) : leadsToNoArticle(named, end))
  return astray && !isNoArticle(named) ? named : end
}

/** The address that the page states, if it is an article's address on the same site. */
function believableLink(page: URL, written: string | null | undefined): URL | null {
  if (!written) return null
  const link = readAddress(written, page.href)
  if (link === null || !sameSite(page, link)) return null
  // The link may be the page's own address in another spelling, as the link of an AMP page to its
  // article. It is trusted, because it cannot merge two articles.
  if (addressKey(link) === addressKey(page) && !isNoArticle(link)) return link
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

/** Addresses that many articles share. Such an address identifies no article. */

const INTERSTITIAL_PATHS = new Set([
  ...'consent cookiewall cookie-wall cookies privacy privacy-gate privacygate privacy-wall gdpr'.split(
    ' ',
  ),
  ...'sso oauth 404 geoblock captcha challenge paywall'.split(' '),
  ...allWords(rules => rules.interstitials.paths),
])
const INTERSTITIAL_HOSTS =
  /^(?:consent|myprivacy|privacy|cookies?|login|sso|auth|account|accounts|id|validate|geo)\./

/** Remains of templates without a value: `{{slug}}`, `null`. */
const UNFILLED =
  /^(?:null|undefined|NaN|\[object(?: |%20)[Oo]bject\])$|\{\{|%7[Bb]%7[Bb]|\$\{|\$%7[Bb]|<%|%3[Cc]%/

/** Whether the address is a site's root, or a page for consent, login or errors. */
export function isNoArticle(url: URL): boolean {
  const parts = segments(url)
  if (parts.length === 0) return !rootNamesAnArticle(url)
  if (parts.some(part => UNFILLED.test(part))) return true
  if (INTERSTITIAL_HOSTS.test(url.hostname) && getDomain(url.hostname) !== url.hostname) return true
  const first = (parts[0] ?? '').toLowerCase().replace(/\.(?:html?|php|aspx?)$/, '')
  return (
    INTERSTITIAL_PATHS.has(first) && (parts.length === 1 || !namesAnArticle(parts.at(-1) ?? ''))
  )
}

/**
 * Whether an address is a section or front page, compared with an article's address. It has fewer
 * path segments, and its last segment is a plain word (`/nieuws`, `/sport/voetbal/`). The last
 * segment of an article has a number or several words.
 */
export function isSectionOf(url: URL, article: URL): boolean {
  const parts = segments(url)
  const last = parts.at(-1) ?? ''
  if (parts.length === 0 || (url.search !== '' && url.search === article.search)) return false
  return parts.length < segments(article).length && !namesAnArticle(last)
}

/**
 * Whether a redirect leads from an article to a page on another site that is no article: a consent
 * page, a parked domain. Services that shorten addresses or count readers redirect in the opposite
 * direction.
 */
function leadsToNoArticle(article: URL, end: URL): boolean {
  const from = segments(article).at(-1) ?? ''
  const to = segments(end).at(-1) ?? ''
  return namesAnArticle(from) && !namesAnArticle(to) && /^[a-z]+$/i.test(to)
}

const namesAnArticle = (segment: string): boolean =>
  /\d{3,}/.test(segment) ||
  segment.split(/[-_+]|%20/).length >= 3 ||
  /\.(?:html?|php|aspx?)$/i.test(segment)

/**
 * Whether a root with parameters is an article: `/?p=123` and `/?123` on sites without readable
 * addresses.
 */
const rootNamesAnArticle = (url: URL): boolean =>
  /[?&](?:(?:p|id|art|article|artikel|nid|aid|newsid|story|storyid)=\w*)?\d+(?:[&=]|$)/i.test(
    url.search,
  )

const segments = (url: URL): string[] =>
  url.pathname.split('/').filter(part => part !== '' && !/^index\.\w+$/i.test(part))

/** The statements of a page about its languages. */
export interface Languages {
  /** The language of the page's text. */
  own: string
  twins: Twin[]
}

/**
 * Whether an address is the page's article in another language. Some templates name one language as
 * the canonical address of all. These are several articles, because each language is searched
 * separately. Versions of one language for several countries (`nl-NL`, `nl-BE`) are one article.
 *
 * @param page the addresses of the page itself
 */
function isInAnotherLanguage(link: URL, page: URL[], { own, twins }: Languages): boolean {
  const stated = statedLanguages(twins, page[0] ?? link)
  const ofLink = stated.get(addressKey(link))
  if (ofLink !== undefined) {
    const ofPage = page.map(url => stated.get(addressKey(url))).find(found => found !== undefined)
    const mine = ofPage ?? new Set([primaryOf(own)])
    return ![...ofLink].some(language => mine.has(language))
  }
  const marked = markedLanguage(link)
  return marked !== null && page.some(url => (markedLanguage(url) ?? marked) !== marked)
}

/** The languages of each address, by its key. `x-default` does not count as a language. */
function statedLanguages(twins: Twin[], base: URL): Map<string, Set<string>> {
  const stated = new Map<string, Set<string>>()
  for (const { language, href } of twins) {
    const url = readAddress(href, base.href)
    if (url === null || primaryOf(language) === 'x') continue
    const key = addressKey(url)
    stated.set(key, (stated.get(key) ?? new Set()).add(primaryOf(language)))
  }
  return stated
}

/** `nl` for `nl-BE` (RFC 5646 §2.2.1). */
const primaryOf = (tag: string) => tag.trim().toLowerCase().split(/[-_]/)[0] ?? ''

const CODES = LANGUAGES.join('|')
const MARKS = {
  host: new RegExp(`^(?:www\\.)?(${CODES})\\.`),
  path: new RegExp(`^/(${CODES})(?:[-_][a-z]{2})?/`, 'i'),
  query: new RegExp(`[?&](?:lang|language|hl|locale|taal|langue|sprache)=(${CODES})\\b`, 'i'),
}

/** The language in an address: `fr.krant.example`, `/fr/…`, `?lang=fr`. */
function markedLanguage(url: URL): string | null {
  const mark =
    MARKS.path.exec(url.pathname)?.[1] ??
    MARKS.query.exec(url.search)?.[1] ??
    MARKS.host.exec(url.hostname)?.[1]
  return mark?.toLowerCase() ?? null
}
