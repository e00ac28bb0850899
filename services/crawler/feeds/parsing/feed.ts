import { readTarget } from '#shared/articles/address'
import type { FeedEntry } from '#shared/outlets/page'
import { childrenOf, type FeedElement } from './markup.ts'

/** The formats of feeds and sitemaps that are recognised. */
export type FeedFormat =
  | 'rss'
  | 'rdf'
  | 'atom'
  | 'json'
  | 'news sitemap'
  | 'sitemap'
  | 'sitemap index'

/**
 * Whether older entries leave the document when new ones come. Sitemaps keep older entries for
 * long.
 */
export const showsLatestAlone = (format: FeedFormat): format is 'rss' | 'rdf' | 'atom' | 'json' =>
  format === 'rss' || format === 'rdf' || format === 'atom' || format === 'json'

/**
 * One entry of a feed. Texts are raw. Addresses are as written, but resolved against `xml:base`.
 */
export interface RawEntry extends Omit<FeedEntry, 'url' | 'guid'> {
  link: string | null
  /** The address that a redirecting service has replaced (`feedburner:origLink`). */
  originalLink: string | null
  /** `rdf:about`, which is the address of the entry when there is no other. */
  about: string | null
  id: string | null
  /** The authors of its source, who count when the entry names none (RFC 4287 §4.2.1). */
  sourceAuthors: string[]
  /** The id is the address when there is no link (RSS 2.0, `isPermaLink`). */
  idIsLink: boolean
  /**
   * The time of the last change. For entries of a sitemap (`lastmod`) it also decides which are
   * new.
   */
  modified: string | null
}

/** One document of a sitemap index. */
export interface SitemapPart {
  url: string
  modified: string | null
}

export interface Feed {
  format: FeedFormat
  language: string | null
  entries: RawEntry[]
  parts: SitemapPart[]
  /** The next page of a paged feed, as an absolute address. */
  next: string | null
  /** The licence that the head states. A mere reservation of rights does not count. */
  licence: string | null
  /** False: the document breaks off or exceeds the limits, so entries may be missing. */
  whole: boolean
}

/** A feed without entries or other content. */
export const EMPTY_FEED = {
  language: null,
  entries: [],
  parts: [],
  next: null,
  licence: null,
  whole: true,
} satisfies Omit<Feed, 'format'>

/** An entry without any field. */
export const EMPTY_ENTRY: RawEntry = {
  link: null,
  originalLink: null,
  about: null,
  id: null,
  idIsLink: false,
  title: null,
  summary: null,
  content: null,
  authors: [],
  sourceAuthors: [],
  published: null,
  language: null,
  modified: null,
}

/** The most links of a feed's head that are read. */
const MAX_LINKS = 100

/** The next page of a paged RSS or Atom feed (RFC 5005 §3); null without one. */
export function nextOfHead(head: FeedElement, base: string | null): string | null {
  for (const link of childrenOf(head, 'link', 'atom:link').slice(0, MAX_LINKS)) {
    const isNext = link.attributes.get('rel')?.toLowerCase().split(/\s+/).includes('next') ?? false
    const next = isNext ? nextPage(link.attributes.get('href') ?? '', link.base ?? base) : null
    if (next !== null) return next
  }
  return null
}

/** The absolute address of a next page; null when the text is no address. */
export function nextPage(href: string, base: string | null): string | null {
  const text = href.trim()
  if (text === '') return null
  return readTarget(text, base ?? undefined)?.href ?? null
}
