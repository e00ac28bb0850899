import type { Outlet } from './catalogue.ts'
import type { RightsHeaders } from './rights.ts'

/**
 * SQL for a `with recursive`: `outlet`, the outlets that have such pages. It jumps from outlet to
 * outlet in the index of these pages, so their number does not matter.
 *
 * @param where SQL: which pages
 */
export const outletsOf = (where: string): string => `outlet as (
       (select outlet_no from pages where ${where} order by outlet_no limit 1)
       union all
       select next.outlet_no
         from outlet o, lateral (select outlet_no from pages where ${where} and outlet_no > o.outlet_no
                                  order by outlet_no limit 1) next
     )`

/**
 * An entry of a feed or sitemap about one address. Texts are raw: their HTML and entities are as
 * the XML parser returns them.
 */
export interface FeedEntry {
  url: string
  guid: string | null
  title: string | null
  /** RSS description, Atom summary. */
  summary: string | null
  /** content:encoded, Atom content, JSON Feed content_html. */
  content: string | null
  authors: string[]
  /** The text in the feed. The normaliser reads it in the outlet's time zone. */
  published: string | null
  /** The language tag of the entry, or of the feed. */
  language: string | null
  /** RSS and Atom categories, as the feed writes them; absent: an earlier version read the feed. */
  categories?: string[]
}

/** Replaces the feed's data about a page on a foreign host. */
export const NO_WORDS = {
  title: null,
  summary: null,
  content: null,
  authors: [],
  published: null,
  language: null,
  categories: [],
} satisfies Partial<FeedEntry>

/** An entry with all of its fields. A missing field becomes null or empty. */
export const wholeEntry = (
  entry: { [K in keyof FeedEntry]?: FeedEntry[K] | null },
  url: string,
): FeedEntry => ({
  url: entry.url ?? url,
  guid: entry.guid ?? null,
  title: entry.title ?? null,
  summary: entry.summary ?? null,
  content: entry.content ?? null,
  authors: entry.authors ?? [],
  published: entry.published ?? null,
  language: entry.language ?? null,
  categories: entry.categories ?? [],
})

/**
 * For how many pages of one outlet the crawler, or the normaliser's sweeper, may have messages in
 * the queue. Other pages wait in Postgres, so that the queue has room for all outlets.
 */
export const CALLED_AT_ONCE = 100

/** A page that the crawler stored and the normaliser turns into an article. */
export interface StoredPage {
  /** The address in the feed. */
  url: string
  /** The address after redirects; equal to `url` if nothing was fetched. */
  finalUrl: string
  /**
   * HTTP status. With 401, 403 and 451 there is no body, and the article is made from the feed
   * alone.
   */
  status: number
  /** The Content-Type header that the server sent, with its charset; null without one. */
  contentType: string | null
  /** The headers that state rights; null: no header does. */
  rights: RightsHeaders | null
  /** The bytes after Content-Encoding was undone; null when the outlet refused the page. */
  body: Uint8Array | null
  fetchedAt: Date
  entry: FeedEntry | null
  /**
   * Which address is on a host of no outlet in the catalogue: the one in the feed (`named`), the
   * one after redirects (`answered`), or both. Absent: neither.
   */
  foreign?: 'named' | 'answered' | 'both' | undefined
  outlet: Omit<Outlet, 'feeds' | 'sitemaps'>
}
