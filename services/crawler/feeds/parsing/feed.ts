import type { FeedLinks } from './links.ts'

/** The formats of feeds and sitemaps that are recognised. */
export type FeedFormat = 'rss' | 'rdf' | 'atom' | 'json' | 'news sitemap' | 'sitemap' | 'sitemap index'

/** Whether older entries leave the document when new ones come. Sitemaps keep theirs for long. */
export const showsLatestAlone = (format: FeedFormat) =>
  format === 'rss' || format === 'rdf' || format === 'atom' || format === 'json'

/**
 * One entry of a feed. Texts are raw. Addresses are as written, but resolved against `xml:base`.
 */
export interface RawEntry {
  link: string | null
  /** The address that a redirecting service has replaced (`feedburner:origLink`). */
  originalLink: string | null
  /** `rdf:about`: the address when there is no other. */
  about: string | null
  id: string | null
  /** The id is the address when there is no link (RSS 2.0, `isPermaLink`). */
  idIsLink: boolean
  title: string | null
  summary: string | null
  content: string | null
  authors: string[]
  published: string | null
  language: string | null
  /** The time of its last change. In a sitemap (`lastmod`) it also tells which entries are new. */
  modified: string | null
}

/** One document of a sitemap index. */
export interface SitemapPart {
  url: string
  modified: string | null
}

export interface Feed {
  format: FeedFormat
  title: string | null
  language: string | null
  entries: RawEntry[]
  parts: SitemapPart[]
  links: FeedLinks
  /** False: the document breaks off or exceeds the limits, and may hold more than was read. */
  whole: boolean
}

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
  published: null,
  language: null,
  modified: null,
}
