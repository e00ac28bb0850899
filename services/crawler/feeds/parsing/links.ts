import { ADDRESS_LIMIT, readAddress } from '../../../../shared/articles/address.ts'
import { isRecord } from '../../../../shared/json/is-record.ts'
import { childrenOf, type FeedElement } from './markup.ts'

/** The links of a feed that lead to other documents. Absolute addresses. */
export interface FeedLinks {
  /** The address that the feed gives itself. A hub knows the feed by it (WebSub §4). */
  self: string | null
  hubs: string[]
  /** The next page of a feed in pages (RFC 5005 §3; `next_url` of JSON Feed). */
  next: string | null
  /** The archive document before this one (RFC 5005 §4). */
  prevArchive: string | null
}

export const NO_LINKS: FeedLinks = { self: null, hubs: [], next: null, prevArchive: null }

/** Hubs of one feed that are remembered. */
const MAX_HUBS = 5
/** Links of a feed's head that are read. */
const MAX_LINKS = 100

/** A link by its relation (RFC 8288), as written. */
interface Related {
  rel: string
  href: string
}

/** Reads the links in the head of an RSS or Atom feed. */
export function linksOfHead(head: FeedElement, base: string | null): FeedLinks {
  const links = childrenOf(head, 'link', 'atom:link').slice(0, MAX_LINKS)
  return gatherLinks(
    links.map(link => ({
      rel: link.attributes.get('rel') ?? '',
      href: absolute(link.attributes.get('href') ?? '', link.base ?? base),
    })),
    base,
  )
}

/**
 * Reads `feed_url`, `next_url` and `hubs` of a JSON Feed. Hubs of other kinds than WebSub are left
 * out.
 */
export function linksOfJson(feed: Record<string, unknown>, base: string | null): FeedLinks {
  const hubs = (Array.isArray(feed.hubs) ? feed.hubs.slice(0, MAX_LINKS) : [])
    .filter(isRecord)
    .filter(({ type }) => typeof type === 'string' && /^websub$/i.test(type))
    .map(({ url }) => ({ rel: 'hub', href: String(url) }))
  const own = [
    { rel: 'self', href: feed.feed_url },
    { rel: 'next', href: feed.next_url },
  ].map(({ rel, href }) => ({ rel, href: typeof href === 'string' ? href : '' }))
  return gatherLinks([...own, ...hubs], base)
}

/**
 * The first link of each relation, and some hubs. Links that are no http(s) addresses are left out.
 */
function gatherLinks(links: Related[], base: string | null): FeedLinks {
  const found = (wanted: string) => [
    ...new Set(
      links
        .filter(({ rel, href }) => href !== '' && rel.toLowerCase().split(/\s+/).includes(wanted))
        .map(({ href }) => readHref(href, base))
        .filter(href => href !== null),
    ),
  ]
  return {
    self: found('self')[0] ?? null,
    hubs: found('hub').slice(0, MAX_HUBS),
    next: found('next')[0] ?? null,
    prevArchive: found('prev-archive')[0] ?? null,
  }
}

const LONGEST_HEADER = 8_000

/**
 * Adds the hubs and the own address that a Link header names (RFC 8288). They come before those of
 * the document (WebSub §4).
 */
export function linksWithHeader(links: FeedLinks, header: string | undefined, base: string): FeedLinks {
  if (header === undefined) return links
  const written = header.slice(0, LONGEST_HEADER).split(/,\s*(?=<)/)
  const related = written.map(text => ({
    href: /^\s*<([^<>]*)>/.exec(text)?.[1] ?? '',
    rel: /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(text)?.slice(1).find(Boolean) ?? '',
  }))
  const { self, hubs } = gatherLinks(related, base)
  return { ...links, self: self ?? links.self, hubs: [...new Set([...hubs, ...links.hubs])].slice(0, MAX_HUBS) }
}

function readHref(href: string, base: string | null): string | null {
  if (href.length > ADDRESS_LIMIT) return null
  const url = readAddress(href, base ?? undefined)
  if (url === null || url.href.length > ADDRESS_LIMIT) return null
  url.hash = ''
  url.username = ''
  url.password = ''
  return url.href
}

function absolute(href: string, base: string | null): string {
  const text = href.trim()
  if (text === '' || text.length > ADDRESS_LIMIT || base === null) return text
  return URL.parse(text, base)?.href ?? text
}
