import type { Pool } from '../../shared/postgres/pool.ts'
import { transaction } from '../../shared/postgres/transaction.ts'
import { createSegmentBuilder } from '../../shared/segments/builder.ts'
import type { Range } from '../../shared/segments/planning.ts'
import { readSegmentArticles, storeSegment } from '../../shared/segments/storing.ts'
import { wordList } from '../../shared/text/document.ts'
import { words } from '../../shared/text/tokens.ts'

/** Articles whose texts are in memory at a time. */
const PART = 500n

/**
 * Reads the texts of a segment's articles once more, and puts their words and a new segment in place of the old, all in one
 * transaction: searches see the one or the other.
 */
export async function reindexSegment(pool: Pool, range: Range): Promise<void> {
  await transaction(pool, async client => {
    // A large segment takes seconds of computing, which the server must not take for a holder that fell asleep.
    await client.query('set local idle_in_transaction_session_timeout = 0')
    const articles = await readSegmentArticles(client, range)
    const builder = createSegmentBuilder(articles, range.first)
    for (let from = range.first; from <= range.last; from += PART) {
      const to = from + PART - 1n < range.last ? from + PART - 1n : range.last
      const { rows } = await client.query<{ seq: bigint; title: string; body: string | null }>(
        'select seq, title, body from article_texts where seq between $1 and $2',
        [from, to],
      )
      const read = rows.map(row => ({
        seq: row.seq,
        title: words(row.title),
        body: row.body === null ? [] : words(row.body),
      }))
      for (const { seq, title, body } of read) builder.addWords(seq, title, body)
      await client.query(WORDS, [
        read.map(one => one.seq),
        read.map(one => wordList(one.title)),
        read.map(one => wordList(one.body)),
      ])
    }
    await storeSegment(client, range, articles, builder.build())
  })
}

// $1 seqs, $2 titles, $3 bodies; rows that are as they should be stay.
const WORDS = `
  update article_words w set title = n.title, body = n.body
  from unnest($1::bigint[], $2::text[], $3::text[]) as n (seq, title, body)
  where w.seq = n.seq and (w.title <> n.title or w.body <> n.body)`
