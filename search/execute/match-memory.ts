import type { MemorySegment } from '../memory/memory-segment.ts'
import type { NameLists } from '../memory/name-lists.ts'
import type { Pace } from '../pace.ts'
import { isWithin } from '../query/filters.ts'
import type { Near, PhraseLeaf, QueryNode } from '../query/parse.ts'
import {
  type DocIdSet,
  difference,
  intersection,
  passing,
  rangeSet,
  union,
} from '../segment/doc-id-set.ts'
import type { Collector, SegmentReader } from './collector.ts'
import type { SearchPlan } from './plan.ts'
import { cheapFirst, hasNear, limitTo, phrasesOf } from './two-phase.ts'

/**
 * Matches in-memory segments and hands the matches to collectors.
 *
 * @param above articles up to this `seq` are left out: stored parts have them, or the search does
 *   not want them
 */
export async function matchMemory(
  { names, pace }: { names: NameLists; pace: Pace },
  segments: readonly MemorySegment[],
  above: bigint,
  { node, nameTerms, filter }: SearchPlan,
  collectors: readonly Collector[],
): Promise<void> {
  if (segments.length === 0) return
  const nameLists = nameTerms.length === 0 ? null : await names.ofMemory(nameTerms, segments)
  const step = node !== null && hasNear(node) ? WORDS_READ : Infinity
  const evaluated = segments.map((segment): Evaluated => {
    const list = (term: string) => nameLists?.(segment, term) ?? segment.list(term)
    return { ...segmentOf(segment), list }
  })
  for (const { at, from, to } of stepsOf(segments, above, filter.watermark, step)) {
    const segment = segments[at]!
    // A segment may grow during the pause. Matching reads it up to the watermark.
    if (pace.isDue()) await pace.rest()
    const range = rangeSet(from, to, segment.documents.length)
    const within = step === Infinity ? null : range
    const found = node === null ? range : evaluate(node, evaluated[at]!, within)
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

/** The documents of segments after one `seq` up to another, in steps. */
function* stepsOf(segments: readonly MemorySegment[], above: bigint, upTo: bigint, step: number) {
  for (const [at, segment] of segments.entries()) {
    const last = docsUpTo(segment, upTo)
    for (let from = docsUpTo(segment, above); from < last; from += step)
      yield { at, from, to: Math.min(from + step, last) }
  }
}

/** What a search evaluates of a segment, whose words it looks up once. */
function segmentOf({ documents, phrase, near }: MemorySegment): Omit<Evaluated, 'list'> {
  const results = new Map<QueryNode, DocIdSet>()
  let length = 0
  const nears = new Map<Near | PhraseLeaf, ReturnType<MemorySegment['near']>>()
  return {
    documents,
    phrase,
    near(one) {
      const known = nears.get(one) ?? near(one)
      nears.set(one, known)
      return known
    },
    once(node, make) {
      if (documents.length !== length) results.clear()
      length = documents.length
      const known = results.get(node) ?? make()
      results.set(node, known)
      return known
    },
  }
}

/** Documents whose words are read between two looks at the clock, for NEAR. */
const WORDS_READ = 64

function readerOf(segment: MemorySegment): SegmentReader {
  const { documents, times } = segment
  return {
    ...times,
    dated: null,
    startsAt: null,
    values: segment,
    list: segment.list,
    seqOf: doc => documents[doc]!.seq,
    offsets: null,
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
interface Evaluated extends Pick<MemorySegment, 'documents' | 'list' | 'phrase' | 'near'> {
  /** Makes the result of a part of a query once, as long as the segment does not grow. */
  once(node: QueryNode, make: () => DocIdSet): DocIdSet
}

/**
 * The documents of an in-memory segment that match a query. The result is exact.
 *
 * @param within only these documents matter, so phrases are checked in these alone; null: in all
 */
function evaluate(node: QueryNode, segment: Evaluated, within: DocIdSet | null = null): DocIdSet {
  // Lists cost the same for a few documents as for all.
  return within === null || phrasesOf(node) > 0
    ? evaluateAlone(node, segment, within)
    : segment.once(node, () => evaluateAlone(node, segment, null))
}

function evaluateAlone(node: QueryNode, segment: Evaluated, within: DocIdSet | null): DocIdSet {
  switch (node.kind) {
    case 'term':
      return segment.list(node.term)
    case 'phrase':
      return segment.phrase(node.words, node.scope, within)
    case 'near':
      return segment.near(node.near)(limitTo(evaluate(node.of, segment, within), within))
    case 'or':
      return union(
        node.of.map(clause => evaluate(clause, segment, within)),
        segment.documents.length,
      )
    case 'and':
      return conjunction(node.of, segment, within)
    case 'andNot':
      return node.not.reduce(
        (found, clause) =>
          found.count === 0 ? found : difference(found, evaluate(clause, segment, found)),
        limitTo(evaluate(node.of, segment, within), within),
      )
  }
}

/**
 * Evaluates phrases last, because a phrase checks its candidates one by one. Stops when no
 * candidate remains.
 */
function conjunction(clauses: QueryNode[], segment: Evaluated, within: DocIdSet | null): DocIdSet {
  const [first, ...more] = cheapFirst(clauses)
  return more.reduce(
    (found, clause) =>
      found.count === 0 ? found : intersection(found, evaluate(clause, segment, found)),
    limitTo(evaluate(first!, segment, within), within),
  )
}
