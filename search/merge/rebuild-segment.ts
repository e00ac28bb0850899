import type { Client, Pool } from '../../shared/postgres/pool.ts'
import { indexText } from '../analysis/word-list.ts'
import { createSegmentBuilder } from '../segment/builder.ts'
import { openSegmentWriter } from '../store/open.ts'
import { postgresArticles } from '../store/postgres-articles.ts'
import { readTexts, readTextsAndWords, updateWords } from '../store/postgres-words.ts'
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
    const rows = await readTextsAndWords(pool, from, from + PART - 1n < range.last ? from + PART - 1n : range.last)
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
        await tokeniseAgain(client, changed)
        await work.within(client)
      },
    },
  )
  return true
}

/**
 * Tokenises the articles once more: their words would be too many to hold until the transaction.
 */
async function tokeniseAgain(client: Client, seqs: bigint[]): Promise<void> {
  for (let at = 0; at < seqs.length; at += Number(PART)) {
    const texts = await readTexts(client, seqs.slice(at, at + Number(PART)))
    const words = texts.map(({ seq, title, body }) => ({ seq, ...indexText(title, body) }))
    await updateWords(client, words)
  }
}
