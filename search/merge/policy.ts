/** A range of articles by number, both ends included. */
export interface Range {
  first: bigint
  last: bigint
}

/** Articles in a segment of each kind. Both are powers of two, and at most 65,536. */
export interface SegmentSizes {
  /**
   * Made as soon as so many new articles are there. Smaller ones would leave fewer articles to the memory of every process that searches;
   * but a search looks at every segment, and to have few of them, they would have to be made into larger ones twice.
   */
  minor: bigint
  /** Made of minor ones. */
  major: bigint
}

export const SEGMENT_SIZES: SegmentSizes = { minor: 8_192n, major: 65_536n }

/**
 * The next range of new articles to be sealed, right after those that are: a whole major block where so many wait, so that segments
 * always cover the articles from the first on without a gap. Null when nothing is due.
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
 * The major blocks whose articles all are in smaller segments, which are to become one. A block that a present segment crosses
 * or holds, because sizes were others once, stays as it is.
 */
export function mergesDue(live: Range[], { major }: Pick<SegmentSizes, 'major'>): Range[] {
  const covered = live.at(-1)?.last ?? 0n
  const due: Range[] = []
  // Both ascend, and there may be thousands of each.
  let from = 0
  for (let first = 1n; first + major - 1n <= covered; first += major) {
    const block = { first, last: first + major - 1n }
    while (live[from]!.last < block.first) from++
    let to = from
    while (to < live.length && live[to]!.first <= block.last) to++
    const parts = live.slice(from, to)
    if (parts.length > 1 && parts.every(one => isWithin(one, block))) due.push(block)
  }
  return due
}

const isWithin = (one: Range, other: Range) => one.first >= other.first && one.last <= other.last

/** Whether sealing would find something to do. */
export function isDue(covered: bigint, last: bigint, { minor }: SegmentSizes): boolean {
  return covered + minor <= last
}
