import type { SegmentRange, SegmentWork } from '../store/segment-store.ts'

/** Articles in a segment of each kind. Both are powers of two, and at most 65,536. */
export interface SegmentSizes {
  /**
   * New articles are flushed to a segment as soon as there are so many. Smaller segments would
   * leave less in the memory of every process that searches. But a search matches every segment,
   * and to keep them few, small ones would have to be merged twice.
   */
  flushed: bigint
  /** Flushed segments are merged into one of this size. */
  merged: bigint
}

export const SEGMENT_SIZES: SegmentSizes = { flushed: 8_192n, merged: 65_536n }

/**
 * The next range of new articles to be flushed, right after the stored ones: a whole merged size
 * where so many articles wait. So segments always cover the articles from the first on without a
 * gap.
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
 * The last article of the next flushed segment: that is due when the article is there. A multiple
 * of the size, because otherwise a former size, or the end of an import, would shift all later
 * blocks for good.
 *
 * @param covered articles up to this `seq` have a segment
 */
export function endOfFlush(covered: bigint, { flushed, merged }: SegmentSizes): bigint {
  const end = (covered / flushed + 1n) * flushed
  // The next segment takes the articles of one that would be very short, unless a block ends there.
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
 * The blocks of the merged size whose articles are all in smaller segments. A block that a stored
 * segment crosses or contains, because of a former size, stays as it is. So does one whose first
 * segments were released, because the archive has their articles.
 */
export function mergesDue(stored: SegmentRange[], { merged }: Pick<SegmentSizes, 'merged'>): SegmentRange[] {
  const covered = stored.at(-1)?.last ?? 0n
  const due: SegmentRange[] = []
  const stands = stored[0]?.first ?? 1n
  // Blocks and segments both ascend, and there may be thousands of each.
  let from = 0
  for (let first = 1n; first + merged - 1n <= covered; first += merged) {
    const block = { first, last: first + merged - 1n }
    while (stored[from]!.last < block.first) from++
    let to = from
    while (to < stored.length && stored[to]!.first <= block.last) to++
    const parts = stored.slice(from, to)
    if (parts.length > 1 && block.first >= stands && parts.every(part => isWithin(part, block))) due.push(block)
  }
  return due
}

const isWithin = (one: SegmentRange, other: SegmentRange) => one.first >= other.first && one.last <= other.last

/**
 * At full speed a flush takes half of a core for three seconds, and a merge longer.
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
