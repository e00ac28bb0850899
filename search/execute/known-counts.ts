import type { SegmentCache } from '../cache/segment-cache.ts'
import type { DocIdSet } from '../segment/doc-id-set.ts'
import type { IndexMeta, SegmentMeta } from '../store/segment-store.ts'
import type { Aggregation } from './collectors/aggregation.ts'
import type { Collector } from './collectors/collector.ts'
import { allPass } from './filter.ts'
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
 * What former searches with the same words and filters learned about the segments (`CountCache`).
 */
export interface KnownMatches {
  /** Whether a segment has no match, whatever the times of the search. */
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
  return {
    hasNone: ({ no }) => counts.get(no)?.count === 0,

    count(segment, counters) {
      const known = counts.get(segment.no)
      if (known === undefined || !allPass(segment, known, filter)) return false
      for (const counter of counters) counter.aggregation.take(known.count)
      return true
    },

    add(found, matches) {
      for (const [index, { segment, columns, isWhole }] of found.entries()) {
        if (!isWhole || counts.has(segment.no)) continue
        counts.set(segment.no, { count: matches[index]!.count, allIngested: columns.allIngested })
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
