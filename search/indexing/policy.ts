import type { SegmentRange, SegmentWork } from '../store/segment-store.ts'

/** How many articles a segment of each kind has. Both are powers of two, and at most 65,536. */
export interface SegmentSizes {
  /**
   * New articles are flushed to a segment as soon as there are this many. Smaller segments would
   * leave less in the memory of every process that searches. But a search matches every segment,
   * and to keep them few, small ones would have to be merged twice.
   */
  flushed: bigint
  /** Flushed segments are merged into one of this size. */
  merged: bigint
}

export const SEGMENT_SIZES: SegmentSizes = { flushed: 8_192n, merged: 65_536n }

/**
 * The next range of new articles to be flushed. It begins right after the stored segments, so
 * segments always cover the articles from the first on without a gap. It has a whole merged size
 * where this many articles wait.
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
 * The last article of the next flushed segment. The flush is due when this article is there. Its
 * number is a multiple of the size. Otherwise a former size, or the end of an import, would shift
 * all later blocks for good.
 *
 * @param covered articles up to this `seq` have a segment
 */
export function endOfFlush(covered: bigint, { flushed, merged }: SegmentSizes): bigint {
  const end = (covered / flushed + 1n) * flushed
  // If this segment would be very short, the next one takes its articles too. It never crosses the
  // end of a block.
  return end - covered < leastOf(flushed) && end % merged !== 0n ? end + flushed : end
}

/** Fewer articles are not worth a segment of their own. */
const leastOf = (flushed: bigint) => flushed / 4n

/**
 * The last articles of an import, after the last segment. A segment of their own saves every
 * process that searches from taking them in. Fewer than a quarter of a segment are taken in within
 * half a second, and each segment more makes every search longer.
 *
 * @param last `seq` of the last article of the import
 * @returns null: they are too few
 */
export function remainderToFlush(stored: SegmentRange[], last: bigint, { flushed }: SegmentSizes): SegmentRange | null {
  const covered = stored.at(-1)?.last ?? 0n
  return last > covered && last - covered >= leastOf(flushed) ? { first: covered + 1n, last } : null
}

/**
 * Runs of adjacent small segments that are due to become one: those that have no room for another
 * flush, or that a large segment follows. A large one stays as it is, so that an article is merged
 * once or twice. Imports store segments of any length, so the runs begin where the last one ended.
 */
export function mergesDue(stored: SegmentRange[], { flushed, merged }: SegmentSizes): SegmentRange[] {
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
    run = run === null ? { first, last, parts: 1 } : { first: run.first, last, parts: run.parts + 1 }
    if (run.last - run.first + 1n + flushed > merged) close()
  }
  return due
}

/**
 * The share of the time that work takes while there is no hurry. At full speed a flush takes half
 * of a core for three seconds, and a merge longer.
 */
const GENTLE = 1 / 8

/**
 * The part of the time to work on a segment that is due. Its articles can be searched meanwhile, in
 * memory or in smaller segments, so there is time. Searches on the same processors then hardly wait
 * for it.
 *
 * @param newest `seq` of the newest article
 * @param covered articles up to this `seq` have a segment
 * @returns 1: it is late, because another one is due or soon will be
 */
export function partOfTime(
  kind: SegmentWork,
  range: SegmentRange,
  { newest, covered }: { newest: bigint; covered: bigint },
  { flushed, merged }: SegmentSizes,
): number {
  const isLate = kind === 'flush' ? newest - range.first + 1n >= 2n * flushed : covered - range.last >= merged / 2n
  return isLate ? 1 : GENTLE
}
