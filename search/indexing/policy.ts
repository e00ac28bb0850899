import type { SegmentRange, SegmentWork } from '../store/segment-store.ts'

/**
 * How many articles a segment of each kind has. Both numbers are powers of two, and at most 65,536.
 */
export interface SegmentSizes {
  /**
   * New articles are flushed to a segment as soon as this many exist. A smaller number would keep
   * fewer new articles in the memory of each process that searches. But a search matches every
   * segment, so more merges would be needed to keep the segments few.
   */
  flushed: bigint
  /** Flushed segments are merged into a segment of this size. */
  merged: bigint
}

export const SEGMENT_SIZES: SegmentSizes = { flushed: 8_192n, merged: 65_536n }

/**
 * The next range of new articles to flush. It begins right after the stored segments, so segments
 * cover all articles from the first on without a gap. If enough articles wait for a whole merged
 * segment, the range has that size.
 *
 * @param stored ranges of the stored segments, ascending and without gaps
 * @param last `seq` of the newest article
 * @returns null: nothing is due
 */
export function nextFlush(
  stored: SegmentRange[],
  last: bigint,
  { flushed, merged }: SegmentSizes,
): SegmentRange | null {
  const covered = stored.at(-1)?.last ?? 0n
  const isWhole = covered % merged === 0n && covered + merged <= last
  const end = isWhole ? covered + merged : endOfFlush(covered, { flushed, merged })
  return end <= last ? { first: covered + 1n, last: end } : null
}

/**
 * The `seq` of the last article of the next flushed segment. The flush is due when this article
 * exists. The `seq` is a multiple of the size. Otherwise an earlier size, or the end of an import,
 * would shift all later blocks for good.
 *
 * @param covered articles up to this `seq` have a segment
 */
export function endOfFlush(covered: bigint, { flushed, merged }: SegmentSizes): bigint {
  const end = (covered / flushed + 1n) * flushed
  // If this segment would be very short, the next segment's articles join it. A segment never
  // crosses the end of a block.
  return end - covered < leastOf(flushed) && end % merged !== 0n ? end + flushed : end
}

/** Fewer articles get no segment of their own. */
const leastOf = (flushed: bigint) => flushed / 4n

/**
 * The range for a segment of the last articles of an import. With this segment, processes that
 * search need not index these articles in memory. For fewer than a quarter of a segment, that takes
 * at most half a second, while each additional segment makes every search longer.
 *
 * @param last `seq` of the last article of the import
 * @returns null: there are too few articles
 */
export function remainderToFlush(
  stored: SegmentRange[],
  last: bigint,
  { flushed }: SegmentSizes,
): SegmentRange | null {
  const covered = stored.at(-1)?.last ?? 0n
  return last > covered && last - covered >= leastOf(flushed) ? { first: covered + 1n, last } : null
}

/**
 * Runs of adjacent small segments that are due to be merged: those without room for another flush,
 * and those before a large segment. A large segment is not merged again, so each article is merged
 * once or twice. Imports store segments of any length, so each run begins where the run before
 * ended.
 */
export function mergesDue(
  stored: SegmentRange[],
  { flushed, merged }: SegmentSizes,
): SegmentRange[] {
  const due: SegmentRange[] = []
  let run: { first: bigint; last: bigint; parts: number } | null = null
  const close = () => {
    if (run !== null && run.parts > 1) due.push({ first: run.first, last: run.last })
    run = null
  }
  for (const { first, last } of stored) {
    const size = last - first + 1n
    if (size > merged / 2n) {
      close()
      continue
    }
    if (run !== null && last - run.first + 1n > merged) close()
    run =
      run === null ? { first, last, parts: 1 } : { first: run.first, last, parts: run.parts + 1 }
    if (run.last - run.first + 1n + flushed > merged) close()
  }
  return due
}

/**
 * The part of the time that a thread works on a segment that is not late. At full speed a flush
 * takes half of a core for three seconds, and a merge longer.
 */
const GENTLE = 1 / 8

/**
 * The part of the time that a thread works on a due segment. Searches find its articles meanwhile
 * in memory or in smaller segments, so it may take long. Searches on the same processors then
 * hardly wait for the thread.
 *
 * @param newest `seq` of the newest article
 * @param covered articles up to this `seq` have a segment
 * @returns 1: the segment is late, because another one is due or soon will be
 */
export function partOfTime(
  kind: SegmentWork,
  range: SegmentRange,
  { newest, covered }: { newest: bigint; covered: bigint },
  { flushed, merged }: SegmentSizes,
): number {
  const isLate =
    kind === 'flush'
      ? newest - range.first + 1n >= 2n * flushed
      : covered - range.last >= merged / 2n
  return isLate ? 1 : GENTLE
}
