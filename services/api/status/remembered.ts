import { withTimeLimit } from '../../../shared/resilience/time-limit.ts'

/** ms that a part of the figures may take; the page shows the others without it. */
const PATIENCE = 4_000

/**
 * One reading for all who ask within `fresh` ms. What takes longer than four seconds fails for
 * those who wait, but is not asked again while it is under way.
 */
export function remembered<T>(fresh: number, read: () => Promise<T>): () => Promise<T> {
  let last: { until: number; reading: Promise<T>; open: boolean } | undefined
  return () => {
    if (last === undefined || (!last.open && performance.now() > last.until)) {
      const begun = { until: performance.now() + fresh, reading: read(), open: true }
      const end = () => {
        begun.open = false
      }
      begun.reading.then(end, end)
      last = begun
    }
    return withTimeLimit(last.reading, PATIENCE, () => {
      throw new Error('It took too long.')
    })
  }
}
