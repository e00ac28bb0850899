import type { KnownCount } from '../cache/count-cache.ts'
import type { SegmentCache } from '../cache/segment-cache.ts'
import { countBetween } from '../segment/counting.ts'
import type { DocIdSet } from '../segment/doc-id-set.ts'
import type { IndexMeta, SegmentMeta } from '../store/segment-store.ts'
import type { Aggregation } from './collectors/aggregation.ts'
import type { Collector } from './collectors/collector.ts'
import { passingPart } from './filter.ts'
import type { SearchPlan } from './plan.ts'
import type { SegmentMatches } from './verify.ts'

/** A collector that takes numbers of matches, whichever these are. */
export type Counter = Collector & { aggregation: Extract<Aggregation, { kind: 'count' }> }

/** Collectors that only count, and the others. */
export function partition(collectors: readonly Collector[]): [Counter[], Collector[]] {
  const isCounter = (collector: Collector): collector is Counter => collector.aggregation.kind === 'count'
  return [collectors.filter(isCounter), collectors.filter(collector => !isCounter(collector))]
}

/**
 * Numbers of matches that former searches with the same words and filters have counted in the
 * segments (`CountCache`).
 */
export interface KnownMatches {
  /** Whether a segment is known to have no match. */
  hasNone(segment: SegmentMeta): boolean
  /** Tells counters the matches of a segment; false: they are not known. */
  count(segment: SegmentMeta, counters: readonly Counter[]): boolean
  /** @param matches of each segment, in the same order */
  add(found: readonly SegmentMatches[], matches: readonly DocIdSet[]): void
  /** For later searches. */
  keep(): void
}

export function openKnownCounts(
  { cache, meta }: { cache: SegmentCache; meta: IndexMeta },
  { node, verification, filter }: SearchPlan,
): KnownMatches {
  // Each segment has matches of everything.
  if (node === null) return { hasNone: () => false, count: () => false, add() {}, keep() {} }
  const key = JSON.stringify([node, verification])
  const counts = cache.counts.of(key)
  let grown = false

  /** Matches of a segment that pass the filter; null: not known. */
  function passed(segment: SegmentMeta): number | null {
    const known = counts.get(segment.no)
    if (known === undefined || known.all === 0) return known?.all ?? null
    const part = passingPart(segment, known, filter)
    return part === null ? null : known[part]
  }
  return {
    hasNone: segment => passed(segment) === 0,

    count(segment, counters) {
      const known = passed(segment)
      if (known === null) return false
      for (const counter of counters) counter.aggregation.take(known)
      return true
    },

    add(found, matches) {
      for (const [index, one] of found.entries()) {
        const { no } = one.segment
        const before = counts.get(no)
        const learned = learnedFrom(one, matches[index]!, passingPart(one.segment, one.columns, filter))
        if (learned === null || before?.[learned.all === null ? 'dated' : 'all'] != null) continue
        counts.set(no, learned)
        grown = true
      }
    },

    keep() {
      if (!grown) return
      cache.counts.keep(
        key,
        counts,
        meta.segments.map(segment => segment.no),
      )
    },
  }
}

/** @param part the documents of the segment that passed the filter */
function learnedFrom(
  { segment, columns, isWhole }: SegmentMatches,
  matches: DocIdSet,
  part: 'all' | 'dated' | null,
): KnownCount | null {
  const { allIngested, dated } = columns
  if (isWhole || part === 'all') {
    const all = matches.count
    return { all, dated: segment.undated === 0 ? all : countBetween(matches, 0, dated), allIngested }
  }
  return part === null ? null : { all: null, dated: matches.count, allIngested }
}
