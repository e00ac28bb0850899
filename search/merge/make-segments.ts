import type { Pool } from '../../shared/postgres/pool.ts'
import { createSegmentBuilder } from '../segment/builder.ts'
import { createPace, immediately, type Pace } from '../segment/pace.ts'
import type { ArticleSource } from '../store/article-source.ts'
import { openSegmentWriter } from '../store/open.ts'
import { postgresArticles } from '../store/postgres-articles.ts'
import type { SegmentRange, SegmentWork, SegmentWriter } from '../store/segment-store.ts'
import { mergesDue, nextFlush, SEGMENT_SIZES, type SegmentSizes } from './policy.ts'

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
  /** Told of each segment that was stored. */
  onMade?: (made: MadeSegment) => void
}

export interface MadeSegment {
  kind: SegmentWork
  articles: number
  ms: number
}

/**
 * Makes all segments that are due. The next call finishes the work of a killed process.
 *
 * @returns the number of segments made
 */
export async function makeSegments(
  pool: Pool,
  sizes: SegmentSizes = SEGMENT_SIZES,
  options: MakeOptions = {},
): Promise<number> {
  const store = { writer: openSegmentWriter(pool), source: postgresArticles(pool) }
  let made = 0
  for (let before = -1; before < made; ) {
    before = made
    // A flush of another process may make a merge due, so flushes come first.
    for (const kind of options.kinds ?? KINDS) while (await makeNext(store, sizes, kind, options)) made++
  }
  return made
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
    const articles = await make(store, due.range, pace)
    options.onMade?.({ kind, articles, ms: performance.now() - start })
    return true
  })
  return isMade ?? false
}

/** A range that is due, and the part of the time to work on it where nobody waits. */
interface Due {
  range: SegmentRange
  part: number
}

async function nextDue(writer: SegmentWriter, kind: SegmentWork, sizes: SegmentSizes): Promise<Due | null> {
  const last = await writer.readLastSeq()
  const stored = await writer.readRanges()
  if (kind === 'flush') {
    const range = nextFlush(stored, last, sizes)
    return range && { range, part: 1 }
  }
  const [range] = mergesDue(stored, sizes)
  if (range === undefined) return null
  // A merge has time, because smaller segments are searched as well; but not when half of the next
  // block is there.
  const isLate = stored.at(-1)!.last - range.last >= sizes.merged / 2n
  return { range, part: isLate ? 1 : 1 / 2 }
}

/** @returns the number of articles in the segment */
async function make({ writer, source }: Store, range: SegmentRange, pace: Pace): Promise<number> {
  const expects = await writer.readNumbers(range)
  const articles = await source.readSources(range)
  const builder = createSegmentBuilder(articles, range.first, pace)
  for await (const { seq, title, body } of source.readWords(range)) builder.addWords(seq, title, body)
  await writer.replace({ range, articles, built: builder.build() }, { pace, expects })
  return articles.length
}
