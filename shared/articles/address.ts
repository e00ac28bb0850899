import { hash } from 'node:crypto'
import { getDomain } from 'tldts'
import tracking from './tracking.json' with { type: 'json' }

/** In characters. Every reader of addresses refuses longer ones, because no article has one. */
export const ADDRESS_LIMIT = 2048

/**
 * The most characters of a key, because a row of a btree index holds at most a third of a page. In
 * a longer key, a hash replaces all that follows the host. To cut the key would not do, because
 * long addresses often begin alike.
 */
const KEY_LIMIT = 512

/**
 * Reads an address as a browser would (WHATWG URL), relative to `base` if given. Null when the
 * address is longer than ADDRESS_LIMIT, or not http(s): `javascript:`, `mailto:` and `data:` lead
 * to no articles.
 */
export function readAddress(text: string, base?: string): URL | null {
  if (text.length > ADDRESS_LIMIT) return null
  const url = URL.parse(text.trim(), base)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null
  // A name with a dot at its end is the same host (RFC 1034 §3.1).
  url.hostname = url.hostname.replace(/\.+$/, '')
  return url.href.length > ADDRESS_LIMIT ? null : url
}

/**
 * Reads an address for the next request. Removes the fragment, and also name and password, so that
 * they are never sent or logged.
 */
export function readTarget(text: string, base?: string): URL | null {
  const url = readAddress(text, base)
  if (url === null) return null
  url.hash = ''
  url.username = ''
  url.password = ''
  return url
}

/**
 * The version of the rules of `addressKey`. Raise it with every change: a start then gives the
 * articles their keys of these rules, too. Addresses of articles that were taken out are kept as
 * hashes of their keys, so `findBarred` then has to look for the keys of the former rules as well.
 */
export const ADDRESS_RULES = 1

/**
 * The key of an article's address, the same for all forms of the address (decision 37). It has no
 * scheme, no `www.`, `m.` or `amp.`, no fragment, no tracking parameters, no index file and no
 * trailing slash. The other parameters stay, sorted, because one such as `?id=123` may identify the
 * article. The port stays unless it is the default of the scheme. A key has at most 512 ASCII
 * characters. `addressKey('https://' + key)` is `key` again.
 *
 * @param address as written, or as `readAddress` has read it
 * @throws TypeError when `readAddress` refuses the address
 */
export function addressKey(address: string | URL): string {
  const url = typeof address === 'string' ? readAddress(address) : address
  if (url === null)
    throw new TypeError(
      `not an http(s) address of at most ${ADDRESS_LIMIT} characters: ${String(address).slice(0, 100)}`,
    )
  const real = outOfAmpCache(url) ?? url
  const key =
    keyHost(real) + keyPath(real.pathname) + keyQuery(real.search) + keyFragment(real.hash)
  if (key.length <= KEY_LIMIT) return key
  return `${keyHost(real)}/~${hash('sha256', key)}`
}

/**
 * The address that clients see: without fragment, credentials and tracking parameters. The rest
 * stays as the outlet wrote it.
 */
export function cleanAddress(url: URL): string {
  const clean = new URL(outOfAmpCache(url) ?? url)
  clean.hash = keyFragment(clean.hash)
  clean.username = ''
  clean.password = ''
  const kept = parameters(clean.search)
  if (kept.length < clean.search.slice(1).split('&').length)
    clean.search = kept.map(({ raw }) => raw).join('&')
  return clean.href
}

/**
 * The address that an AMP cache has a copy of; null: the address is not in an AMP cache. Copies of
 * `https://example.nl/a` are `https://example-nl.cdn.ampproject.org/c/s/example.nl/a` and
 * `https://www.google.com/amp/s/example.nl/a`.
 */
function outOfAmpCache(url: URL): URL | null {
  const path = url.hostname.endsWith('.cdn.ampproject.org')
    ? /^\/[cv]\/(s\/)?(.+)$/.exec(url.pathname)
    : /^(?:www\.)?google\.[a-z.]+$/.test(url.hostname)
      ? /^\/amp\/(s\/)?(.+)$/.exec(url.pathname)
      : null
  return path === null
    ? null
    : readAddress(`${path[1] ? 'https' : 'http'}://${path[2]}${url.search}`)
}

function keyHost(url: URL): string {
  let host = url.hostname
  for (;;) {
    const bare = host.replace(/^(?:www|m|mobile|mobiel|amp)\./, '')
    // Without `www.`, the names `www.nl` and `www.localhost` would be no domains, so `www.` stays.
    if (bare === host || getDomain(bare) === null)
      return url.port === '' ? host : `${host}:${url.port}`
    host = bare
  }
}

function keyPath(pathname: string): string {
  let path = canonicalEscapes(pathname)
    .replace(/;(?:jsessionid|phpsessid|sid)=[^/]*/gi, '')
    .replace(/\/{2,}/g, '/')
  for (;;) {
    const shorter = path
      .replace(/\/(?:index\.(?:html?|xhtml|shtml|php\d?|aspx?|jsp|cfm)|default\.aspx?)$/i, '/')
      .replace(/^\/amp(?=\/[^/])/i, '')
      .replace(/(?<=\/[^/]+)\/amp\/?$/i, '')
      .replace(/(?<=[^/.])\.amp(?=\.html?$|$)/i, '')
      .replace(/\/$/, '')
    if (shorter === path) return path
    path = shorter
  }
}

function keyQuery(search: string): string {
  const kept = parameters(search)
    .map(({ name, value }) => {
      const key = canonicalEscapes(name.replaceAll('+', '%20'))
      return value === '' ? key : `${key}=${canonicalEscapes(value.replaceAll('+', '%20'))}`
    })
    .filter(pair => pair !== '')
  return kept.length === 0 ? '' : `?${kept.sort().join('&')}`
}

/** A fragment is usually a place on the page. But pages of scripts keep their path in `#!`. */
const keyFragment = (hash: string): string => (hash.startsWith('#!') && hash.length > 2 ? hash : '')

/** The parameters of a query, without those that track. */
const parameters = (search: string): { raw: string; name: string; value: string }[] =>
  search
    .slice(1)
    .split('&')
    // Some feeds escape twice and so write `?a=1&amp;b=2`.
    .map(raw => raw.replace(/^(?:amp;)+/i, ''))
    .filter(raw => raw !== '')
    .map(raw => {
      const at = raw.indexOf('=')
      return at < 0
        ? { raw, name: raw, value: '' }
        : { raw, name: raw.slice(0, at), value: raw.slice(at + 1) }
    })
    .filter(({ name, value }) => !isTracking(decode(name), decode(value)))

/**
 * Gives equal escapes one spelling (RFC 3986 §6.2.2): unreserved characters are plain, hexadecimal
 * digits are capitals, a stray `%` is escaped.
 */
const canonicalEscapes = (text: string): string =>
  text.replace(/%(?![0-9a-f]{2})/gi, '%25').replace(/%([0-9a-f]{2})/gi, (written, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return /[A-Za-z0-9._~-]/.test(character) ? character : written.toUpperCase()
  })

/**
 * Decodes a name or value of a parameter, for comparisons only. Text with an escape that is not
 * UTF-8 stays as it is.
 */
function decode(text: string): string {
  try {
    return decodeURIComponent(canonicalEscapes(text.replaceAll('+', ' ')))
  } catch {
    return text
  }
}

/**
 * Query parameters that tell where the reader came from, and not which article it is
 * (`tracking.json`). Prefixes and names are those that campaign and analytics tools document, in
 * lower case. AT Internet's are whole names, because other parameters also begin with `xt`.
 */
const NAMES: ReadonlySet<string> = new Set(Object.values(tracking.names).flat())

/**
 * With a word as its value (`?ref=rss`), such a parameter tracks. With a number (`?ref=12345`), it
 * identifies the article.
 */
const NAMES_WITH_A_WORD: ReadonlySet<string> = new Set(tracking.namesWithAWord)

/** Whether a parameter does not help to identify the article. Name and value are decoded. */
function isTracking(name: string, value: string): boolean {
  const key = name.toLowerCase()
  if (NAMES.has(key)) return true
  if (NAMES_WITH_A_WORD.has(key)) return /^(?:\D*|[01])$/.test(value)
  return tracking.prefixes.some(prefix => key.startsWith(prefix) && key.length > prefix.length)
}
