import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Template } from '#services/normaliser/template'
import { type FeedEntry, type StoredPage, wholeEntry } from '#shared/outlets/page'
import type { Signal } from '#shared/outlets/rights'
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

/** A page, with the columns of its source, its outlet and its template. */
interface Row
  extends Omit<StoredPage, 'foreign'>,
    Pick<LoadedPage, 'isKept' | 'template' | 'taught'> {
  entry: (FeedEntry & Pick<StoredPage, 'foreign'>) | null
  seen: Signal[] | null
  at: Date | null
}

/** SQL: the outlet of a page, from the table `outlets` as `o`. */
export const OUTLET_OF_PAGE = `json_build_object('name', o.name, 'domain', o.domain, 'country', o.country,
  'languages', o.languages, 'timeZone', o.time_zone, 'licence', o.licence)`

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
  const row = await readRow<Row>(
    pool,
    `select p.url, p.entry, coalesce(s.final_url, p.url) as "finalUrl", coalesce(s.status, 0) as status,
            s.content_type as "contentType", s.rights, s.body, coalesce(s.fetched_at, now()) as "fetchedAt",
            ${OUTLET_OF_PAGE} as outlet, s.page_no is not null as "isKept", t.template, coalesce(t.pages, 0) as taught,
            p.rights as seen, p.finished_at as at
       from pages p join outlets o using (outlet_no) left join page_sources s using (page_no)
            left join outlet_templates t using (outlet_no)
      where p.page_no = $1 and (p.state = 'stored' or $2)`,
    [pageNo, options.finished ?? false],
  )
  if (row === undefined) return null
  const { isKept, template, taught, seen, at, ...page } = row
  return {
    isKept,
    template,
    taught,
    stated: seen === null || at === null ? null : { seen, at },
    page: {
      ...page,
      body: page.body && (await inflate(page.body, { maxOutputLength: MAX_BYTES })),
      entry: page.entry && wholeEntry(page.entry, page.url),
      foreign: page.entry?.foreign,
    },
  }
}
