import { SEGMENT_SIZES } from './indexing/policy.ts'
import { createScheduler } from './indexing/scheduler.ts'
import { type SegmentEvents, segmentOf } from './indexing/segments.ts'
import { type Client, type Pool, transaction } from './postgres.ts'
import { createSegmentBuilder } from './segment/builder.ts'
import type { ArticleWords } from './store/article-source.ts'
import {
  foldNamesAgain,
  postgresArticles,
  raiseWordsVersion,
  readTexts,
  readTextsAndWords,
  updateWords,
  writeStated,
} from './store/postgres-articles.ts'
import { openSegmentWriter } from './store/postgres-segment-writer.ts'
import { openReads, partsOf, type SegmentRange } from './store/segment-store.ts'
import type { Indexer, RebuildWork, Tokeniser } from './types.ts'

/*
 * The entry for programs that write articles: the normaliser, import, reindex, benchmarks and
 * tests. Programs that search use `index.ts`.
 */

export { authorId } from './indexing/identity.ts'
export { SEGMENT_SIZES } from './indexing/policy.ts'
export { lowerPriority } from './indexing/scheduler.ts'
export { createKnownWords, KINDS, makeSegments } from './indexing/segments.ts'
export { serveSegments } from './indexing/worker.ts'
export { raiseWordsVersion, renewNames } from './store/postgres-articles.ts'
export { readIndexSize } from './store/postgres-segments.ts'
export type * from './types.ts'

const WARNINGS: SegmentEvents = {
  made() {},
  failed: (_, failure) => process.emitWarning(`could not make a segment of the index: ${failure}`),
}

/**
 * Opens the index for writing. The returned object holds all state.
 *
 * @param thread address of a module that calls `serveSegments`. Threads that run it make segments.
 * @param events absent: failures become process warnings
 */
export function openIndexer(pool: Pool, thread: string, events: SegmentEvents = WARNINGS): Indexer {
  const writer = openSegmentWriter(pool)
  return {
    ...createScheduler(pool, thread, events),
    rebuild: {
      ranges: () => writer.readRanges(),
      mend: () => mendRanges(pool),
      exclusively: work => writer.withoutWriters(work),
      segment: (range, work) => rebuildSegment(pool, range, work),
      words: (seqs, tokeniser) => rebuildWords(pool, seqs, tokeniser),
      stated: said => transaction(pool, client => writeStated(client, said)),
      names: signal => foldNamesAgain(pool, signal),
    },
  }
}

async function mendRanges(pool: Pool): Promise<void> {
  const writer = openSegmentWriter(pool)
  await writer.removeWrong()
  for (const gap of await writer.readGaps(SEGMENT_SIZES.merged)) {
    for (const range of partsOf(gap, SEGMENT_SIZES.merged)) {
      await writer.replace(await segmentOf(postgresArticles(openReads(pool)), range))
    }
  }
  await writer.removeUnused()
}

/** How many articles are read and tokenised together. */
const PART = 500n

/**
 * Builds a segment anew from the texts of its articles. One transaction replaces the old segment
 * and the changed words, so a search sees either the old state or the new one. Reading, tokenising
 * and building come before this transaction. Threads tokenise the next articles meanwhile.
 *
 * @returns false: it was interrupted, and nothing changed
 */
async function rebuildSegment(
  pool: Pool,
  range: SegmentRange,
  work: RebuildWork,
): Promise<boolean> {
  const { tokeniser } = work
  const writer = openSegmentWriter(pool)
  // Read first, as every maker of a segment does.
  const cleared = await writer.readLastRemoval()
  const stored = await postgresArticles(openReads(pool)).readSources(range)
  const articles = stored.map(one => ({ ...one, ...work.stated?.get(one.seq) }))
  const builder = createSegmentBuilder(articles, range.first)
  const changed: bigint[] = []
  const parts = Array.from(
    partsOf(range, PART),
    part => () => tokenisePart(pool, tokeniser, part, work.chosen),
  )
  for await (const part of inOrder(parts, tokeniser.atOnce)) {
    if (work.signal.aborted) return false
    for (const { seq, title, body } of part.words) builder.addWords(seq, title, body)
    changed.push(...part.changed)
    await work.worked(part.tokenised)
  }
  const built = await builder.build()
  if (work.signal.aborted) return false
  await writer.replace(
    { range, articles, built, cleared },
    {
      async within(client) {
        await tokeniseAgain(client, tokeniser, changed)
        if (work.stated !== undefined) await writeStated(client, work.stated)
        await work.within(client)
      },
    },
  )
  await writer.removeUnused()
  return true
}

/**
 * @returns the words of some articles, the `seq` of those whose words changed, and how many were
 *   tokenised
 */
async function tokenisePart(
  pool: Pool,
  tokeniser: Tokeniser,
  { first, last }: SegmentRange,
  chosen: ReadonlySet<bigint>,
) {
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
 * Tokenises the articles a second time, inside the transaction. To keep the words of the first time
 * would take too much memory.
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

/**
 * Tokenises articles anew that have no segment yet. If words changed, searches then read all words
 * of such articles again.
 */
async function rebuildWords(pool: Pool, seqs: bigint[], tokeniser: Tokeniser): Promise<void> {
  if (seqs.length === 0) return
  const texts = await readTexts(pool, seqs)
  const tokenised = await tokeniser.tokenise(texts)
  const words = texts.map(({ seq }, index) => ({ seq, ...tokenised[index]! }))
  await transaction(pool, async client => {
    if ((await updateWords(client, words)) !== 0) await raiseWordsVersion(client)
  })
}

/** Runs works, at most `atOnce` at a time, and yields their results in the order of `works`. */
async function* inOrder<T>(works: Iterable<() => Promise<T>>, atOnce: number): AsyncGenerator<T> {
  const running: Promise<T>[] = []
  for (const work of works) {
    const done = running.length === atOnce ? [await running.shift()!] : []
    const started = work()
    // `running.shift()` reports the error when its turn comes. Until then it must not count as
    // unhandled.
    started.catch(() => {})
    running.push(started)
    yield* done
  }
  for (const one of running) yield await one
}
