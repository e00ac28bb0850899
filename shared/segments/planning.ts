/** A range of articles by number, both ends included. */
export interface Range {
  first: bigint
  last: bigint
}

/** Articles in a segment of each kind. Both are powers of two, and at most 65,536. */
export interface SegmentSizes {
  /** Made as soon as so many new articles are there: what is not in a segment yet is searched more slowly. */
  minor: bigint
  /** Made of minor ones: the fewer segments, the faster a search. */
  major: bigint
}

export const SEGMENT_SIZES: SegmentSizes = { minor: 4_096n, major: 65_536n }

/**
 * The next range of new articles to be sealed, right after those that are: a whole block of the larger size where so many wait,
 * else one of the smaller, so that segments always cover the articles from the first on without a gap. Null when nothing is due.
 *
 * @param live ranges of the present segments, ascending and without gaps
 * @param last number of the newest article
 */
export function nextNew(live: Range[], last: bigint, { minor, major }: SegmentSizes): Range | null {
  const covered = live.at(-1)?.last ?? 0n
  // Up to the next multiple: after sizes were others, blocks would else be crossed for ever.
  const endOf = (size: bigint) => (covered / size + 1n) * size
  const end = covered % major === 0n && endOf(major) <= last ? endOf(major) : endOf(minor)
  return end <= last ? { first: covered + 1n, last: end } : null
}

/**
 * The blocks of the larger size whose articles all are in smaller segments, which are to become one. A block that a present
 * segment crosses or holds, because sizes were others once, stays as it is.
 */
export function mergesDue(live: Range[], { major }: SegmentSizes): Range[] {
  const covered = live.at(-1)?.last ?? 0n
  const due: Range[] = []
  for (let first = 1n; first + major - 1n <= covered; first += major) {
    const range = { first, last: first + major - 1n }
    const isMade = live.some(one => one.first === range.first && one.last === range.last)
    if (!isMade && live.every(one => isWithin(one, range) || isApart(one, range))) due.push(range)
  }
  return due
}

const isWithin = (one: Range, other: Range) => one.first >= other.first && one.last <= other.last
const isApart = (one: Range, other: Range) => one.last < other.first || one.first > other.last

/** Whether sealing would find something to do. */
export function isDue(covered: bigint, last: bigint, { minor }: SegmentSizes): boolean {
  return covered + minor <= last
}
