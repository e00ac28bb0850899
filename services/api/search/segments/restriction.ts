import type { Columns } from '../../../../shared/segments/columns.ts'
import { type DocSet, passing, stretchesOf } from '../../../../shared/segments/doc-set.ts'
import type { Bounds } from '../bounds.ts'
import type { Segment } from './catalogue.ts'

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
  const { published, undatedSince } = restriction.bounds
  const { dated, size } = columns
  const from = firstAtLeast(columns, published.from)
  const to = firstAtLeast(columns, published.to)
  const all = from === 0 && to === dated && (undatedSince !== null || dated === size)
  const inTime = all ? set : stretchesOf(set, from, Math.max(from, to), undatedSince === null ? size : dated)
  const tests = testsOf(segment, columns, restriction)
  return tests.length === 0 ? inTime : passing(inTime, doc => tests.every(test => test(doc)))
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
  const { dated, size, ingested, allIngested, offsets, publishers, authors, authorStarts } = columns
  const tests: ((doc: number) => boolean)[] = []
  const { undatedSince } = bounds
  // Comparisons with NaN, the missing date, are false.
  if (undatedSince !== null && dated < size) tests.push(doc => doc < dated || ingested[doc]! >= undatedSince)
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
