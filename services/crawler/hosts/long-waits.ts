/**
 * Visits that wait long for a host. Each keeps one of CRAWL_CONCURRENCY, so outlets with long
 * pauses must not keep them all.
 */
export interface LongWaits {
  /** Begins a wait on an outlet's account. Null: there are too many; else ends it. */
  begin(outletNo: number): (() => void) | null
}

/** Of one outlet: its feeds and its pages. */
const OF_AN_OUTLET = 2

/** @param concurrency CRAWL_CONCURRENCY; half of it may wait long */
export function createLongWaits(concurrency: number): LongWaits {
  const most = Math.max(1, Math.floor(concurrency / 2))
  const waiting: number[] = []
  return {
    begin(outletNo) {
      const own = waiting.filter(one => one === outletNo).length
      if (waiting.length >= most || own >= OF_AN_OUTLET) return null
      waiting.push(outletNo)
      return () => void waiting.splice(waiting.indexOf(outletNo), 1)
    },
  }
}
