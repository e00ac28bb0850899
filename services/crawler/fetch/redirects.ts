import { decodeHTMLAttribute } from 'entities'
import { getDomain } from 'tldts'
import { parseCookie } from 'undici'
import { readAddress } from '#shared/articles/address'
import { decodeText } from '#shared/encoding/decode'
import type { FetchedResponse } from './request.ts'

/** The cookies of one chain of redirects (RFC 6265, as far as such a chain needs it). */
export interface CookieJar {
  /** Stores the cookies that an answer sets. */
  set(from: URL, setCookie: string[]): void
  /** The Cookie header for an address; empty: no cookies. */
  headerFor(url: URL): string
  isEmpty(): boolean
}

/** The most cookies of one chain. */
const MOST_COOKIES = 50

interface Cookie {
  name: string
  value: string
  host: string
  /** Whether the cookie is also for the subdomains of `host`. */
  subdomains: boolean
  path: string
  secure: boolean
}

export function createCookieJar(): CookieJar {
  const cookies = new Map<string, Cookie>()
  return {
    set(from, setCookie) {
      for (const written of setCookie.slice(0, MOST_COOKIES)) {
        const read = readCookie(from, written)
        if (read === null) continue
        const key = `${read.cookie.host} ${read.cookie.path} ${read.cookie.name}`
        cookies.delete(key)
        if (!read.isExpired && cookies.size < MOST_COOKIES) cookies.set(key, read.cookie)
      }
    },
    headerFor: url =>
      [...cookies.values()]
        .filter(cookie => isFor(cookie, url))
        .map(({ name, value }) => `${name}=${value}`)
        .join('; '),
    isEmpty: () => cookies.size === 0,
  }
}

function readCookie(from: URL, written: string): { cookie: Cookie; isExpired: boolean } | null {
  const read = parseCookie(written)
  // A cookie with characters outside of Latin-1 is left out, because undici cannot send them in a
  // header.
  if (!read?.name || !/^[\u0020-\u007e\u00a0-\u00ff]*$/.test(read.name + read.value)) return null
  const { name, value, secure = false, path = '', maxAge, expires } = read
  const domain = read.domain?.toLowerCase() ?? ''
  if (domain !== '' && !isOwnDomain(from.hostname, domain)) return null
  return {
    cookie: {
      name,
      value,
      secure,
      host: domain === '' ? from.hostname : domain,
      subdomains: domain !== '',
      path: path.startsWith('/')
        ? path
        : from.pathname.slice(0, Math.max(1, from.pathname.lastIndexOf('/'))),
    },
    isExpired: maxAge === undefined ? Number(expires) < Date.now() : maxAge <= 0,
  }
}

/** Whether a host may set cookies for this domain: it is the host's own, and no public suffix. */
const isOwnDomain = (host: string, domain: string) =>
  host === domain ||
  (host.endsWith(`.${domain}`) && getDomain(domain, { allowPrivateDomains: true }) !== null)

function isFor({ host, subdomains, path, secure }: Cookie, url: URL): boolean {
  if (url.hostname !== host && !(subdomains && url.hostname.endsWith(`.${host}`))) return false
  if (secure && url.protocol !== 'https:') return false
  return url.pathname === path || url.pathname.startsWith(path.endsWith('/') ? path : `${path}/`)
}

/** Seconds. A document that redirects its reader within this time is a redirect. */
const AT_ONCE = 1
/** Words. A document with this many is to be read, even if it redirects its reader later. */
const PROSE = 50
/** Bytes. `refreshOf` does not look for a refresh in a longer document. */
const BEGINNING = 200_000

/**
 * The address to which a document redirects its reader at once, by `Refresh:` or by a meta element
 * (HTML, "shared declarative refresh steps"). Browsers follow both. Null for a page with prose, for
 * a later refresh, and for a refresh that only browsers without scripts see.
 */
export function refreshOf({ status, headers, body }: FetchedResponse, url: URL): string | null {
  if (status < 200 || status > 299 || body.length > BEGINNING) return null
  const { refresh } = headers
  if (
    refresh === undefined &&
    !/http-equiv\s{0,9}=\s{0,9}["']?\s{0,9}refresh/i.test(body.toString('latin1'))
  )
    return null
  const html = decodeText(body, { contentType: headers['content-type'] ?? null, kind: 'html' })
  const seen = html.replace(UNSEEN, ' ')
  if ((seen.replace(/<[^<>]*>/g, ' ').match(/\p{L}{2,}/gu)?.length ?? 0) >= PROSE) return null
  const target = targetOf(refresh ?? '') ?? metaTarget(seen)
  if (target === null) return null
  const base = /<base\b[^<>]{0,2000}?\shref\s{0,9}=[\s"']{0,9}([^"'\s<>]{1,2000})/i.exec(seen)?.[1]
  return (
    readAddress(
      target,
      (refresh === undefined && base ? URL.parse(base, url.href)?.href : null) ?? url.href,
    )?.href ?? null
  )
}

function metaTarget(html: string): string | null {
  for (const [tag] of html.matchAll(/<meta\b[^<>]*>/gi)) {
    if (!/\shttp-equiv\s{0,9}=\s{0,9}["']?\s{0,9}refresh\b/i.test(tag)) continue
    const [, double, single, bare] =
      /\scontent\s{0,9}=\s{0,9}(?:"([^"]{0,4000})"|'([^']{0,4000})'|([^\s"'>]{1,4000}))/i.exec(
        tag,
      ) ?? []
    const target = targetOf(decodeHTMLAttribute(double ?? single ?? bare ?? ''))
    if (target !== null) return target
  }
  return null
}

/** The address of `0; url=/b`, where the time is at most a second. */
function targetOf(refresh: string): string | null {
  const [, seconds, written = ''] =
    /^\s{0,99}(\d{0,9})(?:\.\d{0,9})?\s{0,99}[;,\s]\s{0,99}(?:url\s{0,99}=\s{0,99})?(.{0,4000})$/is.exec(
      refresh.trim(),
    ) ?? []
  if (seconds === undefined || Number(seconds) > AT_ONCE) return null
  const quoted = /^(["'])(.*?)(?:\1|$)/s.exec(written)
  return (quoted?.[2] ?? written).trim() || null
}

/**
 * Parts that no reader sees: comments, scripts, styles, titles, and parts for browsers without
 * scripts.
 */
const UNSEEN = /<!--.*?(?:-->|$)|<(script|noscript|style|title)\b.*?(?:<\/\1|$)/gis
