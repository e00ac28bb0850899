import { hintedLook, plannedLook } from '../../../shared/pages/looks.ts'
import type { Client } from '../../../shared/postgres/pool.ts'
import type { Reading } from '../changes/reading.ts'

/** A page whose article is indexed. */
export interface ReadPage {
  pageNo: bigint
  /** What later looks at the page are compared with; null: it is not looked at again. */
  reading: Reading | null
  /** The publication of the article, from which the page's age counts; null: not known. */
  publishedAt: Date | null
}

/**
 * ms by which a hint may be older than the page's fetch, and still count: the request began before
 * the answer was stored.
 */
const FETCHING = 60_000

/**
 * Plans the first look at pages whose articles are indexed by the same transaction. A page that is
 * too old for a look has a row all the same: a feed may say later that it has changed. Pages of
 * outlets that refuse them have no reading, and are left alone.
 *
 * @param recheck CRAWL_RECHECK in ms
 */
export async function planLooks(client: Client, pages: ReadPage[], recheck: number): Promise<void> {
  const read = pages.flatMap(({ pageNo, reading, publishedAt }) =>
    reading === null ? [] : [{ pageNo, publishedAt, ...reading }],
  )
  if (read.length === 0) return
  await client.query(
    `insert into page_looks (page_no, outlet_no, host, born_at, look_at, answered_at, hinted_at, final_url, etag,
                             last_modified, digest, title, sentences, modified, corrected)
     select r.page_no, p.outlet_no, p.host, b.born_at,
            least(${plannedLook('b.born_at', '$7')},
                  case when p.hinted_at >= s.fetched_at - $8 * interval '1 ms'
                       then ${hintedLook('b.born_at', 's.fetched_at', '$7')} end),
            s.fetched_at, p.hinted_at, s.final_url, s.etag, s.last_modified, s.digest, r.title, r.sentences, r.modified,
            r.corrected
       from unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::bytea[], $5::timestamptz[], $6::bool[])
              as r (page_no, published_at, title, sentences, modified, corrected)
       join pages p using (page_no) join page_sources s using (page_no),
       lateral (select least(r.published_at, s.fetched_at) as born_at) b
     on conflict (page_no) do nothing`,
    [
      read.map(({ pageNo }) => pageNo),
      read.map(({ publishedAt }) => publishedAt),
      read.map(({ title }) => title),
      read.map(({ sentences }) => Buffer.from(sentences)),
      read.map(({ modified }) => modified),
      read.map(({ corrected }) => corrected),
      ...[recheck, FETCHING],
    ],
  )
}
