import type { Pool } from '../../shared/postgres/pool.ts'
import { createSegmentBuilder, type SegmentSource } from '../segment/builder.ts'
import { release } from '../segment/large.ts'
import { createPace, immediately, type Pace } from '../segment/pace.ts'
import type { ArticleSource } from '../store/article-source.ts'
import { openReads } from '../store/index-reads.ts'
import { openSegmentWriter } from '../store/open.ts'
import { postgresArticles } from '../store/postgres-articles.ts'
import type { SegmentRange, SegmentWork, SegmentWriter } from '../store/segment-store.ts'
import type { KnownWords } from './known-words.ts'
import { mergesDue, nextFlush, partOfTime, SEGMENT_SIZES, type SegmentSizes } from './policy.ts'

/**
 * The two kinds of work never touch the same articles, so they may run at the same time: a merge
 * takes a quarter of a minute of computing, in which new articles must not pile up.
 */
export const KINDS: readonly SegmentWork[] = ['flush', 'merge']

export interface MakeOptions {
  kinds?: readonly SegmentWork[]
  /** Kinds for which to wait when another process is doing them; otherwise they are left to it. */
  waitFor?: readonly SegmentWork[]
  /** Works for a part of the time only, where that is enough. */
  gently?: boolean
  /**
   * Keeps the words of flushed segments for the merge. The caller uses it for one call at a time.
   */
  knownWords?: KnownWords
  /** Told of each segment that was stored. */
  onMade?: (made: MadeSegment) => void
}

export interface MadeSegment {
  kind: SegmentWork
  articles: number
  ms: number
}

/**
 * Makes all segments that are due, those of the first kind first. The next call finishes the work
 * of a killed process.
 *
 * @returns the number of segments made
 */
export async function makeSegments(
  pool: Pool,
  sizes: SegmentSizes = SEGMENT_SIZES,
  options: MakeOptions = {},
): Promise<number> {
  const store = { writer: openSegmentWriter(pool), source: postgresArticles(openReads(pool)) }
  let made = 0
  while (await makeFirst(store, sizes, options)) made++
  return made
}

/** Makes the first segment that is due. A flush, also of another process, may make a merge due. */
async function makeFirst(store: Store, sizes: SegmentSizes, options: MakeOptions): Promise<boolean> {
  for (const kind of options.kinds ?? KINDS) if (await makeNext(store, sizes, kind, options)) return true
  return false
}

interface Store {
  writer: SegmentWriter
  source: ArticleSource
}

/**
 * Makes one segment, so that others who wait for the lock get a turn. Returns whether one was due.
 */
async function makeNext(store: Store, sizes: SegmentSizes, kind: SegmentWork, options: MakeOptions): Promise<boolean> {
  const { writer } = store
  const wait = options.waitFor?.includes(kind) === true
  const isMade = await writer.exclusively(kind, wait, async () => {
    const due = await nextDue(writer, kind, sizes)
    if (due === null) return false
    const start = performance.now()
    const pace = options.gently && due.part < 1 ? createPace(due.part) : immediately
    const articles = await make(store, due, { pace, knownWords: options.knownWords })
    options.onMade?.({ kind, articles, ms: performance.now() - start })
    await writer.removeUnused(pace)
    return true
  })
  return isMade ?? false
}

/** A range that is due, and the part of the time to work on it where nobody waits. */
interface Due {
  range: SegmentRange
  /** It will be merged. */
  isPart: boolean
  part: number
}

async function nextDue(writer: SegmentWriter, kind: SegmentWork, sizes: SegmentSizes): Promise<Due | null> {
  const newest = await writer.readLastSeq()
  const stored = await writer.readRanges()
  const range = kind === 'flush' ? nextFlush(stored, newest, sizes) : (mergesDue(stored, sizes)[0] ?? null)
  if (range === null) return null
  const covered = stored.at(-1)?.last ?? 0n
  return {
    range,
    isPart: kind === 'flush' && range.last - range.first + 1n < sizes.merged,
    part: partOfTime(kind, range, { newest, covered }, sizes),
  }
}

/** @returns the number of articles in the segment */
async function make(
  { writer, source }: Store,
  { range, isPart }: Due,
  { pace, knownWords }: { pace: Pace; knownWords: KnownWords | undefined },
): Promise<number> {
  const expects = await writer.readNumbers(range)
  const articles = await readSources(source, range, pace)
  const known = knownWords?.take(expects) ?? null
  const words = known?.reduce((sum, texts) => sum + texts.words.length, 0)
  const builder = createSegmentBuilder(articles, range.first, { pace, words, vocabulary: knownWords?.vocabulary })
  if (known === null) {
    for await (const { seq, title, body } of source.readWords(range)) builder.addWords(seq, title, body)
  } else {
    for (const texts of known) {
      builder.addTexts(texts)
      release(texts.words)
    }
  }
  const texts = isPart && knownWords !== undefined ? builder.knownTexts() : null
  const segmentNo = await writer.replace({ range, articles, built: builder.build() }, { pace, expects })
  if (texts !== null) knownWords?.keep(segmentNo, texts)
  return articles.length
}

/** Articles of one statement. */
const SOURCES_PER_STATEMENT = 2_048n

async function readSources(source: ArticleSource, { first, last }: SegmentRange, pace: Pace): Promise<SegmentSource[]> {
  const articles: SegmentSource[] = []
  for (let from = first; from <= last; from += SOURCES_PER_STATEMENT) {
    pace()
    const to = from + SOURCES_PER_STATEMENT - 1n
    articles.push(...(await source.readSources({ first: from, last: to < last ? to : last })))
  }
  return articles
}
