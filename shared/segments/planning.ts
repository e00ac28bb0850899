/** A range of articles by number, both ends included. */
export interface Range {
  first: bigint
  last: bigint
}

/** Articles in a segment of each kind. All are powers of two, and at most 65,536. */
export interface SegmentSizes {
  /** Made as soon as so many new articles are there: what is not in a segment yet is searched more slowly. */
  minor: bigint
  /** Made of minor ones, and soon: a search looks at every segment, and would look at a dozen more. */
  middle: bigint
  /** Made of middle ones. */
  major: bigint
}

export const SEGMENT_SIZES: SegmentSizes = { minor: 4_096n, middle: 16_384n, major: 65_536n }

/**
 * The next range of new articles to be sealed, right after those that are: a whole block of the largest size of which so many wait,
 * so that segments always cover the articles from the first on without a gap. Null when nothing is due.
 *
 * @param live ranges of the present segments, ascending and without gaps
 * @param last number of the newest article
 */
export function nextNew(live: Range[], last: bigint, { minor, middle, major }: SegmentSizes): Range | null {
  const covered = live.at(-1)?.last ?? 0n
  // Up to the next multiple: after sizes were others, blocks would else be crossed for ever.
  const endOf = (size: bigint) => (covered / size + 1n) * size
  const whole = [major, middle].find(size => covered % size === 0n && endOf(size) <= last)
  const end = endOf(whole ?? minor)
  return end <= last ? { first: covered + 1n, last: end } : null
}

/**
 * The blocks of a size whose articles all are in smaller segments, which are to become one. A block that a present segment crosses
 * or holds, because sizes were others once, stays as it is; one whose parts are to become one before waits for that.
 */
export function mergesDue(live: Range[], sizes: SegmentSizes, kind: 'middle' | 'major'): Range[] {
  const covered = live.at(-1)?.last ?? 0n
  const size = sizes[kind]
  const before = kind === 'major' ? mergesDue(live, sizes, 'middle') : []
  const due: Range[] = []
  // Both ascend, and there may be thousands of each.
  let from = 0
  for (let first = 1n; first + size - 1n <= covered; first += size) {
    const block = { first, last: first + size - 1n }
    while (live[from]!.last < block.first) from++
    let to = from
    while (to < live.length && live[to]!.first <= block.last) to++
    const parts = live.slice(from, to)
    if (parts.length > 1 && parts.every(one => isWithin(one, block)) && !before.some(one => isWithin(one, block)))
      due.push(block)
  }
  return due
}

const isWithin = (one: Range, other: Range) => one.first >= other.first && one.last <= other.last

/** Whether sealing would find something to do. */
export function isDue(covered: bigint, last: bigint, { minor }: SegmentSizes): boolean {
  return covered + minor <= last
}
