import type { Bounds } from '../query/time-bounds.ts'
import type { Columns } from '../segment/columns.ts'
import { type DocSet, passing, stretchesOf, union } from '../segment/doc-id-set.ts'
import type { Segment } from '../store/segment-store.ts'

/** What matches must be besides holding words: of a time, visible when the sequence began, by somebody. */
export interface Restriction {
  bounds: Bounds
  watermark: bigint
  publisherNos: ReadonlySet<number> | null
  authorNos: ReadonlySet<number> | null
}

/** Whether a segment can hold anything that is allowed. */
export function mayHold(segment: Segment, { bounds, watermark }: Restriction): boolean {
  if (segment.first > watermark) return false
  const { published, undatedSince, ingested } = bounds
  if (ingested !== null && !overlaps(segment.ingested, ingested.from, ingested.to)) return false
  return undatedSince !== null || overlaps(segment.published, published.from, published.to)
}

function overlaps(span: Segment['published'], from: number, to: number): boolean {
  return span !== null && span.first < to && span.last >= from
}

/** The documents of a set that are allowed. */
export function restrict(set: DocSet, segment: Segment, columns: Columns, restriction: Restriction): DocSet {
  const { dated, size } = columns
  const { published, undatedSince } = restriction.bounds
  // Most segments lie within: their times need not be searched.
  const from = columns.earliest >= published.from ? 0 : firstAtLeast(columns, published.from)
  const to = columns.latest < published.to ? dated : firstAtLeast(columns, published.to)
  const undated = undatedOf(segment, columns, undatedSince)
  const whole = from === 0 && to === dated && undated !== 'none'
  let allowed = whole ? set : stretchesOf(set, from, Math.max(from, to), undated === 'none' ? size : dated)
  if (undated === 'some') {
    const { ingested } = columns
    // A comparison with NaN, the missing date, is false.
    const late = passing(stretchesOf(allowed, 0, 0, dated), doc => ingested[doc]! >= undatedSince!)
    allowed = union([stretchesOf(allowed, 0, dated, size), late], size)
  }
  const tests = testsOf(segment, columns, restriction)
  const [test] = tests
  if (test === undefined) return allowed
  return passing(allowed, tests.length === 1 ? test : doc => tests.every(one => one(doc)))
}

/** Which of the documents without a date of publication were ingested late enough to belong to the set. */
function undatedOf(segment: Segment, { allIngested }: Columns, since: number | null): 'all' | 'some' | 'none' {
  if (segment.undated === 0) return 'all'
  const { ingested } = segment
  if (since === null || ingested === null || ingested.last < since) return 'none'
  return allIngested && ingested.first >= since ? 'all' : 'some'
}

/** The number of the first dated document published then or later. */
export function firstAtLeast({ published, dated }: Columns, time: number): number {
  let low = 0
  let high = dated
  while (low < high) {
    const middle = (low + high) >>> 1
    if (published[middle]! < time) low = middle + 1
    else high = middle
  }
  return low
}

/** Only what the segment as a whole leaves open is asked of each document. */
function testsOf(segment: Segment, columns: Columns, restriction: Restriction): ((doc: number) => boolean)[] {
  const { bounds, watermark, publisherNos, authorNos } = restriction
  const { ingested, allIngested, offsets, publishers, authors, authorStarts } = columns
  const tests: ((doc: number) => boolean)[] = []
  // Comparisons with NaN, the missing date, are false.
  const span = bounds.ingested
  if (span !== null && !(allIngested && segment.ingested!.first >= span.from && segment.ingested!.last < span.to)) {
    tests.push(doc => ingested[doc]! >= span.from && ingested[doc]! < span.to)
  }
  if (segment.last > watermark) {
    const visible = Number(watermark - segment.first)
    tests.push(doc => offsets[doc]! <= visible)
  }
  if (publisherNos !== null) tests.push(doc => publisherNos.has(publishers[doc]!))
  if (authorNos !== null) {
    tests.push(doc => {
      for (let at = authorStarts[doc]!; at < authorStarts[doc + 1]!; at++) if (authorNos.has(authors[at]!)) return true
      return false
    })
  }
  return tests
}
