import type { Outlet } from './catalogue.ts'
import type { RightsHeaders } from './rights.ts'

/**
 * SQL: the outlets of stored pages, for a `with recursive`. It skips through the index
 * pages_stored_turns, however many pages an outlet has.
 */
export const STORING = `storing as (
       (select outlet_no from pages where state = 'stored' order by outlet_no limit 1)
       union all
       select next.outlet_no
         from storing s, lateral (select outlet_no from pages where state = 'stored' and outlet_no > s.outlet_no
                                   order by outlet_no limit 1) next
     )`

/**
 * An entry of a feed or sitemap, about one address. Texts are raw: HTML and entities as they are
 * after XML parsing.
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
  /** As written in the feed; the normaliser reads it in the outlet's time zone. */
  published: string | null
  /** The entry's or the feed's own language tag. */
  language: string | null
}

/** Replaces what a feed says about a page on a foreign host. */
export const NO_WORDS = {
  ...{ title: null, summary: null, content: null, authors: [], published: null, language: null },
} satisfies Partial<FeedEntry>

/** An entry with all of its fields. Those that it lacks are empty. */
export const wholeEntry = (entry: { [K in keyof FeedEntry]?: FeedEntry[K] | null }, url: string): FeedEntry => ({
  url: entry.url ?? url,
  guid: entry.guid ?? null,
  title: entry.title ?? null,
  summary: entry.summary ?? null,
  content: entry.content ?? null,
  authors: entry.authors ?? [],
  published: entry.published ?? null,
  language: entry.language ?? null,
})

/**
 * Pages of one outlet for which the normaliser is called at a time, by the crawler or by its own
 * sweeper. The others wait in Postgres, so that the queue has room for all outlets.
 */
export const CALLED_AT_ONCE = 100

/** A page that the crawler stored and the normaliser turns into an article. */
export interface StoredPage {
  pageId: bigint
  /** As the feed named it. */
  url: string
  /** After redirects; the same as `url` when nothing was fetched. */
  finalUrl: string
  /** HTTP status; 401, 403, 451 come without a body and become an article from the feed alone. */
  status: number
  /** The Content-Type header as sent, with its charset; null without one. */
  contentType: string | null
  /** The headers that state rights; null: none does. */
  rights: RightsHeaders | null
  /** Bytes as served, after Content-Encoding; null when the outlet refused the page. */
  body: Uint8Array | null
  fetchedAt: Date
  entry: FeedEntry | null
  /**
   * Which address is on a host that belongs to nobody in the catalogue: the one that the feed
   * `named`, the one that `answered` after redirects, or both. Without it: none.
   */
  foreign?: 'named' | 'answered' | 'both' | undefined
  outlet: Outlet
}
