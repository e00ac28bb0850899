import type { MemorySegment } from '../memory/memory-segment.ts'
import type { NameLists } from '../names/name-lists.ts'
import { createPace } from '../pace.ts'
import { isWithin } from '../query/filters.ts'
import type { QueryNode } from '../query/parse.ts'
import { type DocIdSet, difference, intersection, passing, rangeSet, union } from '../segment/doc-id-set.ts'
import type { Collector, SegmentReader } from './collector.ts'
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

/** The parts of an in-memory segment that a query is evaluated on. */
type Evaluated = Pick<MemorySegment, 'documents' | 'list' | 'phrase'>

/**
 * The documents of an in-memory segment that match a query, exactly.
 *
 * @param within the only documents of interest, so phrases are looked for in these alone; null: all
 */
function evaluate(node: QueryNode, segment: Evaluated, within: DocIdSet | null = null): DocIdSet {
  switch (node.kind) {
    case 'term':
      return segment.list(node.term)
    case 'phrase':
      return segment.phrase(node.words, node.scope, within)
    case 'or':
      return union(
        node.of.map(clause => evaluate(clause, segment, within)),
        segment.documents.length,
      )
    case 'and':
      return conjunction(node.of, segment, within)
    case 'andNot':
      return node.not.reduce(
        (found, clause) => (found.count === 0 ? found : difference(found, evaluate(clause, segment, found))),
        evaluate(node.of, segment, within),
      )
  }
}

/**
 * Terms are evaluated first, because a phrase looks at its candidates one by one. Stops when
 * nothing is left.
 */
function conjunction(clauses: QueryNode[], segment: Evaluated, within: DocIdSet | null): DocIdSet {
  const terms = clauses.filter(clause => clause.kind === 'term')
  const others = clauses.filter(clause => clause.kind !== 'term')
  const [first, ...more] = [...terms, ...others]
  return more.reduce(
    (found, clause) => (found.count === 0 ? found : intersection(found, evaluate(clause, segment, found))),
    evaluate(first!, segment, within),
  )
}
