import { textArray } from '../postgres/binary-arrays.ts'
import type { Client } from '../postgres/pool.ts'
import type { NewArticle } from './new-article.ts'
import type { RegisteredNames } from './outlets-and-authors.ts'
import { type PreparedText, prepareText } from './text.ts'

/**
 * A row of `articles` with its rows in other tables, without the values that the clock gives.
 */
export interface PreparedArticle extends PreparedText<string | Uint8Array> {
  publishedAt: Date | null
  /** undefined: the clock gives it. */
  ingestedAt: Date | null | undefined
  publisherNo: number
  authorNos: number[]
  country: string
  language: string
  url: string
  pageNo: bigint | null
}

/**
 * Prepares an article: all work that takes time and needs no lock. An article with a prepared text
 * needs little.
 */
export function prepareArticle(article: NewArticle, names: RegisteredNames): PreparedArticle {
  return {
    ...(article.prepared ?? prepareText(article)),
    publishedAt: article.publishedAt,
    ingestedAt: article.ingestedAt,
    publisherNo: names.publisherNo(article),
    authorNos: names.authorNos(article),
    country: article.country,
    language: article.language,
    url: article.url,
    pageNo: article.pageNo ?? null,
  }
}

/**
 * Takes the lock of the clock and inserts the articles. From here to the commit no other process
 * can make articles visible, so this does as little as possible. Returns the number of the first
 * article; the others follow in order.
 */
export async function insertArticles(
  client: Client,
  articles: (PreparedArticle & { id: string })[],
  embedAt: Date,
): Promise<bigint> {
  const { rows } = await client.query<{ first: bigint }>({
    name: 'insert-articles',
    text: INSERT,
    values: [
      articles.map(one => one.id),
      articles.map(one => one.publishedAt),
      articles.map(one => one.ingestedAt ?? null),
      articles.map(one => one.ingestedAt === undefined),
      articles.map(one => one.publisherNo),
      articles.map(one => `{${one.authorNos.join(',')}}`),
      articles.map(one => one.country),
      articles.map(one => one.language),
      textArray(articles.map(one => one.words.title)),
      textArray(articles.map(one => one.words.body)),
      textArray(articles.map(one => one.title)),
      textArray(articles.map(one => one.url)),
      textArray(articles.map(one => one.snippet)),
      textArray(articles.map(one => one.body)),
      embedAt,
      articles.map(one => one.pageNo),
    ],
  })
  return rows[0]!.first
}

// One statement, so that the lock of the clock is held only for this, the delayed job of the
// embedding and the commit. `incoming` is materialised, and counted by `clock`, so that Postgres
// parses all of it before it takes the lock. The stamp grows by at least 1 ms from batch to batch
// and is never ahead of the wall clock by more than that.
const INSERT = `
  with incoming as materialized (
    select i.id, i.published_at, i.ingested_at, i.stamped, i.publisher_no, i.author_nos::int[], i.country, i.language,
           i.words_title, i.words_body, i.title, i.url, i.snippet, i.body, i.page_no, i.place
    from unnest($1::text[], $2::timestamptz[], $3::timestamptz[], $4::boolean[], $5::int[], $6::text[], $7::text[],
                $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $16::bigint[])
         with ordinality
      as i (id, published_at, ingested_at, stamped, publisher_no, author_nos, country, language,
            words_title, words_body, title, url, snippet, body, page_no, place)
  ), clock as (
    update ingest_clock
    set last_at = greatest(date_trunc('milliseconds', clock_timestamp()), last_at + interval '1 ms'),
        last_seq = last_seq + (select count(*) from incoming)
    returning last_at, last_seq - (select count(*) from incoming) as base
  ), numbered as materialized (
    select i.*, base + place as seq, case when stamped then last_at else ingested_at end as entered_at
    from incoming i, clock
  ), indexed as (
    insert into articles (seq, id, published_at, ingested_at, publisher_no, author_nos, country, language)
    select seq, id, published_at, entered_at, publisher_no, author_nos, country, language from numbered order by seq
  ), worded as (
    insert into article_words (seq, title, body)
    select seq, words_title, words_body from numbered order by seq
  ), shown as (
    insert into article_texts (seq, title, url, snippet, body)
    select seq, title, url, snippet, body from numbered order by seq
  ), days as (
    select 'published_at' as axis, (published_at at time zone 'UTC')::date as day, count(*) as articles
    from numbered where published_at is not null group by 2
    union all
    select 'ingested_at', (entered_at at time zone 'UTC')::date, count(*)
    from numbered where entered_at is not null group by 2
  ), counted as (
    insert into article_days as d (axis, day, articles) select * from days
    on conflict (axis, day) do update set articles = d.articles + excluded.articles
  ), scheduled as (
    insert into embeddings (seq, due_at, page_no) select seq, $15::timestamptz, page_no from numbered order by seq
  )
  select base + 1 as first from clock`
