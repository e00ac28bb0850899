import { getDomain } from 'tldts'
import { allWords } from '../languages/index.ts'

/** Addresses that many articles share, so that they identify none of them. */

const INTERSTITIAL_PATHS = new Set([
  ...'consent cookiewall cookie-wall cookies privacy privacy-gate privacygate privacy-wall gdpr'.split(' '),
  ...'sso oauth 404 geoblock captcha challenge paywall'.split(' '),
  ...allWords(rules => rules.interstitials.paths),
])
const INTERSTITIAL_HOSTS = /^(?:consent|myprivacy|privacy|cookies?|login|sso|auth|account|accounts|id|validate|geo)\./

/** Traces of templates that were not filled in, or that found no value: `{{slug}}`, `null`. */
const UNFILLED = /^(?:null|undefined|NaN|\[object(?: |%20)[Oo]bject\])$|\{\{|%7[Bb]%7[Bb]|\$\{|\$%7[Bb]|<%|%3[Cc]%/

/** Whether the address is a site's root, or a page for consent, login or errors. */
export function isNoArticle(url: URL): boolean {
  const parts = segments(url)
  if (parts.length === 0) return !rootNamesAnArticle(url)
  if (parts.some(part => UNFILLED.test(part))) return true
  if (INTERSTITIAL_HOSTS.test(url.hostname) && getDomain(url.hostname) !== url.hostname) return true
  const first = (parts[0] ?? '').toLowerCase().replace(/\.(?:html?|php|aspx?)$/, '')
  return INTERSTITIAL_PATHS.has(first) && (parts.length === 1 || !namesAnArticle(parts.at(-1) ?? ''))
}

/**
 * Whether an address is a section or front page, compared with an article's. It has fewer steps,
 * and its last step is a plain word (`/nieuws`, `/sport/voetbal/`). The last step of an article has
 * a number or several words.
 */
export function isSectionOf(url: URL, article: URL): boolean {
  const parts = segments(url)
  const last = parts.at(-1) ?? ''
  if (parts.length === 0 || (url.search !== '' && url.search === article.search)) return false
  return parts.length < segments(article).length && !namesAnArticle(last)
}

/**
 * Whether a redirect leads from an article's address to one that is not, on another site: a consent
 * page, a parked domain. Services that shorten addresses or count readers redirect the other way
 * round.
 */
export function leadsToNoArticle(article: URL, end: URL): boolean {
  const [from = '', to = ''] = [segments(article).at(-1), segments(end).at(-1)]
  return namesAnArticle(from) && !namesAnArticle(to) && /^[a-z]+$/i.test(to)
}

function namesAnArticle(segment: string): boolean {
  return /\d{3,}/.test(segment) || segment.split(/[-_+]|%20/).length >= 3 || /\.(?:html?|php|aspx?)$/i.test(segment)
}

/**
 * Whether a root with parameters is an article: `/?p=123` and `/?123` on sites without readable
 * addresses.
 */
function rootNamesAnArticle(url: URL): boolean {
  return /[?&](?:(?:p|id|art|article|artikel|nid|aid|newsid|story|storyid)=\w*)?\d+(?:[&=]|$)/i.test(url.search)
}

function segments(url: URL): string[] {
  return url.pathname.split('/').filter(part => part !== '' && !/^index\.\w+$/i.test(part))
}
