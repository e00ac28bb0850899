import type { ScoringTerm } from '../query/match.ts'
import { type DocIdSet, has } from '../segment/doc-id-set.ts'
import type { MemorySegment } from './memory-segment.ts'

/** The scores of some documents, in their order. */
export function scoreInMemory(hits: { segment: MemorySegment; doc: number }[], scoring: ScoringTerm[]): number[] {
  const listsOf = new Map<MemorySegment, DocIdSet[]>()
  return hits.map(({ segment, doc }) => {
    const lists = listsOf.get(segment) ?? scoring.map(one => segment.list(one.term))
    listsOf.set(segment, lists)
    const { language } = segment.documents[doc]!
    return scoring.reduce(
      (score, one, index) => (one.language === language && has(lists[index]!, doc) ? score + one.weight : score),
      0,
    )
  })
}
