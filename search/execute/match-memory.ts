import { type Evaluated, evaluate } from '../memory/evaluate.ts'
import type { MemorySegment } from '../memory/memory-segment.ts'
import type { NameLists } from '../names/name-lists.ts'
import { createPace } from '../pace.ts'
import { isWithin } from '../query/time-bounds.ts'
import { passing, rangeSet } from '../segment/doc-id-set.ts'
import type { Collector, SegmentReader } from './collectors/collector.ts'
import type { SearchPlan } from './plan.ts'

/**
 * Matches in-memory segments and hands the matches to collectors.
 *
 * @param covered articles up to this `seq` are in stored segments
 */
export async function matchMemory(
  names: NameLists,
  segments: readonly MemorySegment[],
  covered: bigint,
  { node, nameTerms, filter }: SearchPlan,
  collectors: readonly Collector[],
): Promise<void> {
  if (segments.length === 0) return
  const pace = createPace()
  const nameLists = await names.ofMemory(nameTerms, segments)
  const named = (segment: MemorySegment): Evaluated =>
    nameTerms.length === 0
      ? segment
      : {
          documents: segment.documents,
          phrase: segment.phrase,
          list: term => nameLists(segment, term) ?? segment.list(term),
        }
  for (const segment of segments) {
    // A segment that grows meanwhile is read up to the watermark.
    if (pace.isDue()) await pace.rest()
    const [from, to] = [docsUpTo(segment, covered), docsUpTo(segment, filter.watermark)]
    if (from >= to) continue
    const { length } = segment.documents
    const found = node === null ? rangeSet(from, to, length) : evaluate(node, named(segment))
    const { published, ingested } = segment.times
    const matches = passing(
      found,
      doc => doc >= from && doc < to && isWithin(filter.bounds, published[doc]!, ingested[doc]!),
    )
    if (matches.count === 0) continue
    const reader = readerOf(segment)
    for (const collector of collectors) collector.collect(matches, reader)
  }
}

function readerOf(segment: MemorySegment): SegmentReader {
  const { documents, times } = segment
  return {
    ...times,
    dated: null,
    startsAt: null,
    values: segment,
    list: segment.list,
    outlets: null,
    seqOf: doc => documents[doc]!.seq,
    idOf: doc => documents[doc]!.id,
    addressOf: doc => ({ kind: 'memory', segment, doc }),
  }
}

/** How many documents have a `seq` up to this one; documents stand in order of `seq`. */
function docsUpTo({ documents }: MemorySegment, seq: bigint): number {
  let low = 0
  let high = documents.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (documents[middle]!.seq <= seq) low = middle + 1
    else high = middle
  }
  return low
}
