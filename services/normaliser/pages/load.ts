import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Template } from '#services/normaliser/template'
import type { Country, Language } from '#shared/articles/article'
import { type FeedEntry, type StoredPage, wholeEntry } from '#shared/outlets/page'
import type { RightsHeaders, Signal } from '#shared/outlets/rights'
import { type Pool, readRow, readValue } from '#shared/postgres/pool'

/** A stored page, and what is known of it. */
export interface LoadedPage {
  page: StoredPage
  /** Whether the answer of the outlet is still stored. */
  isKept: boolean
  /** The lines that pages of the outlet share; null: no page of it was read before. */
  template: Template | null
  /** The number of pages from which the template has learnt. */
  taught: number
  /**
   * The page's signals of rights, and the time when it was finished; null: it had no signals, or is
   * not finished.
   */
  stated: { seen: Signal[]; at: Date } | null
}

/** A page's columns, with the columns of its source and its outlet. */
interface PageRow {
  page_no: bigint
  url: string
  entry: (Partial<FeedEntry> & Pick<StoredPage, 'foreign'>) | null
  final_url: string | null
  status: number | null
  content_type: string | null
  rights: RightsHeaders | null
  body: Buffer | null
  fetched_at: Date | null
  name: string
  domain: string
  country: Country
  languages: Language[]
  time_zone: string
  licence: string | null
  seen: Signal[] | null
  finished_at: Date | null
}

const inflate = promisify(gunzip)
/** The most bytes of a decompressed body. The crawler's limit for an answer is far lower. */
export const MAX_BYTES = 268_435_456

/**
 * The outlet of a page that must be normalised. Null: the page rests, or does not wait any more.
 */
export const outletOf = (pool: Pool, pageNo: bigint): Promise<number | null> =>
  readValue<number>(
    pool,
    `select outlet_no from pages
      where page_no = $1 and state = 'stored' and (rests_until is null or rests_until <= clock_timestamp())`,
    [pageNo],
  )

/**
 * Loads a page that waits to be normalised. Null when another process has finished it, or when it
 * was removed.
 *
 * @param options.finished whether finished pages are loaded, too
 */
export async function loadPage(
  pool: Pool,
  pageNo: bigint,
  options: { finished?: boolean } = {},
): Promise<LoadedPage | null> {
  const row = await readRow<PageRow & { template: Template | null; taught: number | null }>(
    pool,
    `select p.page_no, p.url, p.entry, s.final_url, s.status, s.content_type, s.rights, s.body, s.fetched_at,
            o.name, o.domain, o.country, o.languages, o.time_zone, o.licence, p.rights as seen, p.finished_at, t.template, t.pages as taught
       from pages p join outlets o using (outlet_no) left join page_sources s using (page_no)
            left join outlet_templates t using (outlet_no)
      where p.page_no = $1 and (p.state = 'stored' or $2)`,
    [pageNo, options.finished ?? false],
  )
  if (row === undefined) return null
  return {
    isKept: row.fetched_at !== null,
    template: row.template,
    taught: row.taught ?? 0,
    stated:
      row.seen === null || row.finished_at === null
        ? null
        : { seen: row.seen, at: row.finished_at },
    page: await pageOf(row),
  }
}

/** Decompresses the body of a page, and makes a `StoredPage` of the row. */
async function pageOf(row: PageRow): Promise<StoredPage> {
  return {
    pageId: row.page_no,
    url: row.url,
    finalUrl: row.final_url ?? row.url,
    status: row.status ?? 0,
    contentType: row.content_type,
    rights: row.rights,
    body: row.body === null ? null : await inflate(row.body, { maxOutputLength: MAX_BYTES }),
    fetchedAt: row.fetched_at ?? new Date(),
    entry: row.entry === null ? null : wholeEntry(row.entry, row.url),
    foreign: row.entry?.foreign,
    outlet: {
      name: row.name,
      domain: row.domain,
      country: row.country,
      languages: row.languages,
      timeZone: row.time_zone,
      licence: row.licence,
      feeds: [],
      sitemaps: [],
    },
  }
}
