import { type Client, type Pool, transaction } from '../../shared/postgres/pool.ts'
import type { DocumentWords } from '../analysis/stop-words.ts'
import { createSegmentBuilder } from '../segment/builder.ts'
import type { ArticleWords } from '../store/article-source.ts'
import {
  postgresArticles,
  raiseWordsVersion,
  readTexts,
  readTextsAndWords,
  updateWords,
} from '../store/postgres-articles.ts'
import { openSegmentWriter } from '../store/postgres-segment-writer.ts'
import { openReads, type SegmentRange } from '../store/segment-store.ts'

/** Articles whose texts are in memory at a time. */
const PART = 500n

export interface RebuildWork {
  tokeniser: Tokeniser
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
 * runs outside of the transaction. Threads tokenise the next articles meanwhile.
 *
 * @returns false: it was interrupted, and nothing changed
 */
export async function rebuildSegment(pool: Pool, range: SegmentRange, work: RebuildWork): Promise<boolean> {
  const { tokeniser } = work
  const articles = await postgresArticles(openReads(pool)).readSources(range)
  const builder = createSegmentBuilder(articles, range.first)
  const changed: bigint[] = []
  const parts = partsOf(range).map(part => () => tokenisePart(pool, tokeniser, part, work.chosen))
  for await (const part of inOrder(parts, tokeniser.atOnce)) {
    if (work.signal.aborted) return false
    for (const { seq, title, body } of part.words) builder.addWords(seq, title, body)
    changed.push(...part.changed)
    await work.worked(part.tokenised)
  }
  const built = builder.build()
  if (work.signal.aborted) return false
  const writer = openSegmentWriter(pool)
  await writer.replace(
    { range, articles, built },
    {
      async within(client) {
        await tokeniseAgain(client, tokeniser, changed)
        await work.within(client)
      },
    },
  )
  await writer.removeUnused()
  return true
}

function partsOf({ first, last }: SegmentRange): SegmentRange[] {
  const parts: SegmentRange[] = []
  for (let from = first; from <= last; from += PART) {
    const to = from + PART - 1n
    parts.push({ first: from, last: to < last ? to : last })
  }
  return parts
}

/** The words of some articles, those that are to be stored anew, and how many were tokenised. */
interface TokenisedPart {
  words: ArticleWords[]
  changed: bigint[]
  tokenised: number
}

async function tokenisePart(
  pool: Pool,
  tokeniser: Tokeniser,
  { first, last }: SegmentRange,
  chosen: ReadonlySet<bigint>,
): Promise<TokenisedPart> {
  const rows = await readTextsAndWords(pool, first, last)
  const wanted = rows.filter(({ seq }) => chosen.has(seq))
  const tokenised = wanted.length === 0 ? [] : await tokeniser.tokenise(wanted)
  const made = new Map(wanted.map(({ seq }, at) => [seq, tokenised[at]!]))
  const changed = wanted.filter(({ seq, title_words, body_words }) => {
    const { title, body } = made.get(seq)!
    return title !== title_words || body !== body_words
  })
  return {
    words: rows.map(({ seq, title_words, body_words }) => ({
      seq,
      ...(made.get(seq) ?? { title: title_words, body: body_words }),
    })),
    changed: changed.map(({ seq }) => seq),
    tokenised: wanted.length,
  }
}

/**
 * Tokenises the articles once more: their words would be too many to hold until the transaction.
 */
async function tokeniseAgain(client: Client, tokeniser: Tokeniser, seqs: bigint[]): Promise<void> {
  const parts: (() => Promise<ArticleWords[]>)[] = []
  for (let at = 0; at < seqs.length; at += Number(PART)) {
    parts.push(async () => {
      const texts = await readTexts(client, seqs.slice(at, at + Number(PART)))
      const words = await tokeniser.tokenise(texts)
      return texts.map(({ seq }, index) => ({ seq, ...words[index]! }))
    })
  }
  for await (const words of inOrder(parts, tokeniser.atOnce)) await updateWords(client, words)
}

/** Tokenises some articles anew that have no segment yet; searches then read their words again. */
export async function rebuildWords(pool: Pool, seqs: bigint[], tokeniser: Tokeniser): Promise<void> {
  if (seqs.length === 0) return
  const texts = await readTexts(pool, seqs)
  const tokenised = await tokeniser.tokenise(texts)
  const words = texts.map(({ seq }, index) => ({ seq, ...tokenised[index]! }))
  await transaction(pool, async client => {
    if ((await updateWords(client, words)) !== 0) await raiseWordsVersion(client)
  })
}

/** Cuts texts into words, perhaps in threads of the caller's. */
export interface Tokeniser {
  /** Calls at a time. */
  atOnce: number
  tokenise(texts: { title: string; body: string | null }[]): Promise<DocumentWords[]>
}

/** Runs some works, so many at a time, and returns their results in order. */
async function* inOrder<T>(works: Iterable<() => Promise<T>>, atOnce: number): AsyncGenerator<T> {
  const running: Promise<T>[] = []
  for (const work of works) {
    const done = running.length === atOnce ? [await running.shift()!] : []
    const started = work()
    // The caller gets the error when its turn comes. Until then it must not count as unhandled.
    started.catch(() => {})
    running.push(started)
    yield* done
  }
  for (const one of running) yield await one
}
