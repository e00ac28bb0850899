import { indexText } from '../../search/analysis/word-list.ts'
import type { Range } from '../../search/merge/policy.ts'
import { createSegmentBuilder } from '../../search/segment/builder.ts'
import { readSegmentArticles, storeSegment } from '../../search/store/postgres-segments.ts'
import type { Client, Pool, Queryable } from '../../shared/postgres/pool.ts'
import { transaction } from '../../shared/postgres/transaction.ts'

/** Articles whose texts are in memory at a time. */
const PART = 500n

export interface SegmentWork {
  /** The articles whose texts are read once more; the words of the others are taken as they are. */
  chosen: ReadonlySet<bigint>
  /** Told after each part, how many of the chosen it held. */
  worked(articles: number): Promise<void>
  /** In the transaction that puts the new segment in place. */
  within(client: Client): Promise<void>
  signal: AbortSignal
}

/**
 * Makes a segment anew from its articles' texts and puts it, with the words that have changed, in place of the old one in
 * one transaction: searches see the one or the other. The work before is done outside of it.
 *
 * @returns false when it was interrupted, and nothing changed
 */
export async function reindexSegment(pool: Pool, range: Range, work: SegmentWork): Promise<boolean> {
  const articles = await readSegmentArticles(pool, range)
  const builder = createSegmentBuilder(articles, range.first)
  const changed: bigint[] = []
  for (let from = range.first; from <= range.last; from += PART) {
    if (work.signal.aborted) return false
    const rows = await readTexts(pool, from, from + PART - 1n < range.last ? from + PART - 1n : range.last)
    let read = 0
    for (const row of rows) {
      if (!work.chosen.has(row.seq)) {
        builder.addWords(row.seq, row.title_words, row.body_words)
        continue
      }
      const { title, body } = indexText(row.title, row.body)
      builder.addWords(row.seq, title, body)
      if (title !== row.title_words || body !== row.body_words) changed.push(row.seq)
      read++
    }
    await work.worked(read)
  }
  const built = builder.build()
  if (work.signal.aborted) return false
  await transaction(pool, async client => {
    // A tokenizer's change can mean tens of thousands of texts, which the server must not take for a holder that fell asleep.
    await client.query('set local idle_in_transaction_session_timeout = 0')
    for (let at = 0; at < changed.length; at += Number(PART)) {
      const rows = await readTextsOf(client, changed.slice(at, at + Number(PART)))
      const read = rows.map(row => indexText(row.title, row.body))
      await client.query(WORDS, [rows.map(row => row.seq), read.map(one => one.title), read.map(one => one.body)])
    }
    await storeSegment(client, range, articles, built)
    await work.within(client)
  })
  return true
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
const WORDS = `
  update article_words w set title = n.title, body = n.body
  from unnest($1::bigint[], $2::text[], $3::text[]) as n (seq, title, body)
  where w.seq = n.seq`
