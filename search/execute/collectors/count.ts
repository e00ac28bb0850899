import type { Collector } from './collector.ts'

export interface CountCollector extends Collector {
  readonly limit: number
  /** Number of matches so far. */
  count(): number
}

/**
 * Counts matches; the search may stop when the limit is reached.
 * @param limit 0: no count is needed
 */
export function createCountCollector(limit: number): CountCollector {
  let count = 0
  return {
    limit,
    count: () => count,
    collect(matches) {
      count += matches.count
    },
    aggregation: {
      kind: 'count',
      limit,
      take(found) {
        count += found
      },
    },
    isComplete: () => count >= limit,
  }
}
