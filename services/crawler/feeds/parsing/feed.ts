/** What a feed or a sitemap turned out to be. */
export type FeedFormat = 'rss' | 'rdf' | 'atom' | 'json' | 'news sitemap' | 'sitemap' | 'sitemap index'

/** One entry as the feed has it; texts are raw, addresses as written but for `xml:base`. */
export interface RawEntry {
  link: string | null
  /** What a redirecting service replaced (`feedburner:origLink`). */
  originalLink: string | null
  /** `rdf:about`, the address of last resort. */
  about: string | null
  id: string | null
  /** The id may serve as address when there is no link (RSS 2.0, `isPermaLink`). */
  idIsLink: boolean
  title: string | null
  summary: string | null
  content: string | null
  authors: string[]
  published: string | null
  language: string | null
  /** A sitemap's `lastmod`: says which entries are new, not when they were published. */
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
  /**
   * False: broken off, or longer than the limits; what is there was read, but there may be more.
   */
  whole: boolean
}

/** An entry with nothing said. */
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
