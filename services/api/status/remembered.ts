import { setTimeout as sleep } from 'node:timers/promises'

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
    return inTime(last.reading)
  }
}

async function inTime<T>(reading: Promise<T>): Promise<T> {
  const timer = new AbortController()
  const late = sleep(PATIENCE, undefined, { signal: timer.signal, ref: false }).then(() => {
    throw new Error('It took too long.')
  })
  late.catch(() => {}) // also when the reading was in time
  try {
    return await Promise.race([reading, late])
  } finally {
    timer.abort()
  }
}
