import type { Client, Pool, Queryable } from '../../shared/postgres/pool.ts'
import { indexText } from '../analysis/word-list.ts'
import { createSegmentBuilder } from '../segment/builder.ts'
import { openSegmentWriter } from '../store/open.ts'
import { postgresArticles } from '../store/postgres-articles.ts'
import type { SegmentRange } from '../store/segment-store.ts'

/** Articles whose texts are in memory at a time. */
const PART = 500n

export interface RebuildWork {
  /** The articles to be tokenised anew; the words of the others are kept. */
  chosen: ReadonlySet<bigint>
  /** Told after each part how many of the chosen articles it had. */
  worked(articles: number): Promise<void>
  /** More work for the transaction that replaces the segment. */
  within(client: Client): Promise<void>
  signal: AbortSignal
}

/**
 * Builds a segment anew from the texts of its articles. One transaction replaces the old segment
 * and the words that have changed: a search sees the old state or the new one. All work before it
 * runs outside of the transaction.
 *
 * @returns false: it was interrupted, and nothing changed
 */
export async function rebuildSegment(pool: Pool, range: SegmentRange, work: RebuildWork): Promise<boolean> {
  const articles = await postgresArticles(pool).readSources(range)
  const builder = createSegmentBuilder(articles, range.first)
  const changed: bigint[] = []
  for (let from = range.first; from <= range.last; from += PART) {
    if (work.signal.aborted) return false
    const rows = await readTexts(pool, from, from + PART - 1n < range.last ? from + PART - 1n : range.last)
    let tokenised = 0
    for (const row of rows) {
      if (!work.chosen.has(row.seq)) {
        builder.addWords(row.seq, row.title_words, row.body_words)
        continue
      }
      const { title, body } = indexText(row.title, row.body)
      builder.addWords(row.seq, title, body)
      if (title !== row.title_words || body !== row.body_words) changed.push(row.seq)
      tokenised++
    }
    await work.worked(tokenised)
  }
  const built = builder.build()
  if (work.signal.aborted) return false
  await openSegmentWriter(pool).replace(
    { range, articles, built },
    {
      async within(client) {
        await updateWords(client, changed)
        await work.within(client)
      },
    },
  )
  return true
}

/**
 * Tokenises the articles once more: their words would be too many to hold until the transaction.
 */
async function updateWords(client: Client, seqs: bigint[]): Promise<void> {
  for (let at = 0; at < seqs.length; at += Number(PART)) {
    const rows = await readTextsOf(client, seqs.slice(at, at + Number(PART)))
    const words = rows.map(row => indexText(row.title, row.body))
    await client.query(UPDATE_WORDS, [
      rows.map(row => row.seq),
      words.map(one => one.title),
      words.map(one => one.body),
    ])
  }
}

interface Texts {
  seq: bigint
  title: string
  body: string | null
}

interface TextsAndWords extends Texts {
  title_words: string
  body_words: string
}

// Indexes: the primary keys.
async function readTexts(db: Queryable, first: bigint, last: bigint): Promise<TextsAndWords[]> {
  const { rows } = await db.query<TextsAndWords>(
    `select seq, t.title, t.body, w.title as title_words, w.body as body_words
     from article_texts t join article_words w using (seq) where seq between $1 and $2`,
    [first, last],
  )
  return rows
}

async function readTextsOf(db: Queryable, seqs: bigint[]): Promise<Texts[]> {
  const { rows } = await db.query<Texts>('select seq, title, body from article_texts where seq = any ($1::bigint[])', [
    seqs,
  ])
  return rows
}

// $1 seqs, $2 titles, $3 bodies
const UPDATE_WORDS = `
  update article_words w set title = n.title, body = n.body
  from unnest($1::bigint[], $2::text[], $3::text[]) as n (seq, title, body)
  where w.seq = n.seq`
