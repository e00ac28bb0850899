/**
 * The visits that wait long for a host. Each occupies one of CRAWL_CONCURRENCY places, so hosts
 * with long pauses must not occupy them all.
 */
export interface LongWaits {
  /** Begins a wait for an outlet, and returns its end. Null: too many visits wait already. */
  begin(outletNo: number): (() => void) | null
}

/** Long waits for one outlet: for its feeds and for its pages. */
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
