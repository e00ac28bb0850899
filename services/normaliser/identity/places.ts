import { getDomain } from 'tldts'
import { allWords } from '../languages/index.ts'

/** Addresses at which many articles meet, so that none of them is known by it. */

const WALLS = new Set([
  ...'consent cookiewall cookie-wall cookies privacy privacy-gate privacygate privacy-wall gdpr'.split(' '),
  ...'sso oauth 404 geoblock captcha challenge paywall'.split(' '),
  ...allWords(rules => rules.interstitials.paths),
])
const WALL_HOSTS = /^(?:consent|myprivacy|privacy|cookies?|login|sso|auth|account|accounts|id|validate|geo)\./

/** What templates leave behind that found no value, or were never filled in: `{{slug}}`, `null`. */
const UNFILLED = /^(?:null|undefined|NaN|\[object(?: |%20)[Oo]bject\])$|\{\{|%7[Bb]%7[Bb]|\$\{|\$%7[Bb]|<%|%3[Cc]%/

/** A site's root, or the page of a consent, login or error wall. */
export function isNoArticle(url: URL): boolean {
  const parts = segments(url)
  if (parts.length === 0) return !rootNamesAnArticle(url)
  if (parts.some(part => UNFILLED.test(part))) return true
  if (WALL_HOSTS.test(url.hostname) && getDomain(url.hostname) !== url.hostname) return true
  const first = (parts[0] ?? '').toLowerCase().replace(/\.(?:html?|php|aspx?)$/, '')
  return WALLS.has(first) && (parts.length === 1 || !namesAnArticle(parts.at(-1) ?? ''))
}

/**
 * Whether the address is a section or front page, seen from an article's own: fewer steps deep, and
 * its last step a plain word (`/nieuws`, `/sport/voetbal/`), where an article's would hold a number
 * or several words.
 */
export function isSectionOf(url: URL, article: URL): boolean {
  const parts = segments(url)
  const last = parts.at(-1) ?? ''
  if (parts.length === 0 || (url.search !== '' && url.search === article.search)) return false
  return parts.length < segments(article).length && !namesAnArticle(last)
}

/**
 * Whether a page that names an article led to one of another site that names none: a consent gate,
 * a parked domain. What the services do that shorten addresses and count readers is the other way
 * round.
 */
export function leadsToNoArticle(article: URL, end: URL): boolean {
  const [from = '', to = ''] = [segments(article).at(-1), segments(end).at(-1)]
  return namesAnArticle(from) && !namesAnArticle(to) && /^[a-z]+$/i.test(to)
}

function namesAnArticle(segment: string): boolean {
  return /\d{3,}/.test(segment) || segment.split(/[-_+]|%20/).length >= 3 || /\.(?:html?|php|aspx?)$/i.test(segment)
}

/** `/?p=123` and `/?123` are articles of a site without pretty addresses. */
function rootNamesAnArticle(url: URL): boolean {
  return /[?&](?:(?:p|id|art|article|artikel|nid|aid|newsid|story|storyid)=\w*)?\d+(?:[&=]|$)/i.test(url.search)
}

function segments(url: URL): string[] {
  return url.pathname.split('/').filter(part => part !== '' && !/^index\.\w+$/i.test(part))
}
