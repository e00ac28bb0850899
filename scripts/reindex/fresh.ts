import type { Country, Language } from '../../shared/articles/article.ts'
import { prepareArticle } from '../../shared/articles/indexing/insertion.ts'
import { mergeEntries } from '../../shared/articles/indexing/merging.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { LEXEMES, periodsOf } from '../../shared/text/lexemes.ts'
import { quote } from '../../shared/text/tsvector.ts'

/**
 * Makes the full text of some articles anew that are not in a segment yet. Those that are in one by now, and are no more
 * fresh, stay as they are.
 */
export async function reindexFresh(pool: Pool, seqs: bigint[]): Promise<void> {
  const { rows } = await pool.query<Fresh>(READ, [seqs])
  if (rows.length === 0) return
  const prepared = rows.map(prepare)
  await pool.query(WRITE, [
    rows.map(row => row.seq),
    prepared.map((one, index) => `${one.terms} ${ingestedLexemes(rows[index]!.ingested_at)}`),
    prepared.map(one => one.limits),
    prepared.map(one => one.words.title),
    prepared.map(one => one.words.body),
    prepared.map(one => one.words.titleStems),
    prepared.map(one => one.words.bodyStems),
  ])
  await mergeEntries(pool, rows.length, true)
}

interface Fresh {
  seq: bigint
  url: string
  title: string
  body: string | null
  published_at: Date | null
  ingested_at: Date | null
  publisher_no: number
  author_nos: number[]
  country: Country
  language: Language
}

function prepare(row: Fresh) {
  const article = {
    url: row.url,
    addresses: [],
    title: row.title,
    body: row.body,
    publishedAt: row.published_at,
    authors: [],
    outlet: { name: null, domain: null },
    language: row.language,
    country: row.country,
  }
  return prepareArticle(article, { publisherNo: () => row.publisher_no, authorNos: () => row.author_nos })
}

/** What the clock adds to an article's lexemes when it is indexed. */
function ingestedLexemes(at: Date | null): string {
  return periodsOf(at)
    .map(period => quote(LEXEMES.ingested(period)))
    .join(' ')
}

// $1 seqs. Index: the primary key.
const READ = `
  select seq, url, title, body, published_at, ingested_at, publisher_no, author_nos, country, language
  from fresh_articles join article_texts using (seq)
  where seq = any ($1::bigint[]) order by seq`

// $1 seqs, $2 terms, $3 limits, $4 $5 words, $6 $7 stems
const WRITE = `
  with made as (
    select * from unnest($1::bigint[], $2::text[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[])
      as m (seq, terms, limits, title, body, title_stems, body_stems)
  ), fresh as (
    update fresh_articles f set terms = m.terms::tsvector, limits = m.limits from made m where f.seq = m.seq
  )
  update article_words w
  set title = m.title, body = m.body, title_stems = m.title_stems, body_stems = m.body_stems
  from made m where w.seq = m.seq`
