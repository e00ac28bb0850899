import { countCommon } from '../../segment/counting.ts'
import type { DocIdSet } from '../../segment/doc-id-set.ts'
import type { Collector, DocReader } from './collector.ts'

export interface TermCollector extends Collector {
  collect(matches: DocIdSet, values: DocReader): void
  /** By term. */
  readonly counts: Float64Array
}

/** Counts the matches that have each of some terms, by the posting lists. */
export function createTermCollector(terms: readonly string[]): TermCollector {
  const counts = new Float64Array(terms.length)
  return {
    terms,
    counts,
    aggregation: {
      kind: 'terms',
      terms,
      take(found) {
        found.forEach((count, index) => {
          counts[index]! += count
        })
      },
    },
    isComplete: () => false,
    collect(matches, segment) {
      if (matches.count === 0) return
      terms.forEach((term, index) => {
        counts[index]! += countCommon(matches, segment.list(term))
      })
    },
  }
}
