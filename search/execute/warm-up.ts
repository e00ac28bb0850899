import { setTimeout as pause } from 'node:timers/promises'
import type { Queryable } from '../../shared/postgres/pool.ts'
import { LATEST_ARTICLES } from '../cache/prefetch.ts'
import { shelfOf } from '../cache/segment-cache.ts'
import { readFresh } from '../memory/memory-index.ts'
import { readCatalogue, SegmentsChanged } from '../store/segment-store.ts'
import { readPrelude } from '../store/snapshot.ts'

/** ms between two looks for new articles: so long a time's worth of them is read within a search at most. */
const PAUSE = 200
const PAUSE_AFTER_FAILURE = 1_000

/**
 * Reads ahead for as long as the process runs what every search needs, so that none has to wait for it: the fresh articles, and
 * some 30 MB for each million of the others.
 */
export function keepWarm(db: Queryable, failed: (error: unknown) => void): { stop(): Promise<void> } {
  const ending = new AbortController()
  const { signal } = ending
  const running = (async () => {
    let warmed: bigint | null = null
    while (!signal.aborted) {
      let wait = PAUSE
      try {
        warmed = await warmSearch(db, warmed, signal)
      } catch (error) {
        if (!(error instanceof SegmentsChanged)) {
          wait = PAUSE_AFTER_FAILURE
          failed(error)
        }
      }
      await pause(wait, undefined, { signal, ref: false }).catch(() => {})
    }
  })()
  return {
    stop() {
      ending.abort()
      return running
    },
  }
}

/** Articles between two looks whether the process is to end. */
const STEP = 512n

/**
 * @param warmed the version of the segments that were read already
 * @returns that of those read now
 */
async function warmSearch(db: Queryable, warmed: bigint | null, signal: AbortSignal): Promise<bigint | null> {
  const { version, wordsVersion, lastSeq } = await readPrelude(db, null, null)
  const catalogue = await readCatalogue(db, version)
  const { segments, version: seen, covered } = catalogue
  for (let last = covered; last < lastSeq && !signal.aborted; ) {
    last = last + STEP < lastSeq ? last + STEP : lastSeq
    await readFresh(db, { covered, last, wordsVersion })
  }
  shelfOf(db).whole.follow(db, catalogue, LATEST_ARTICLES)
  if (seen === warmed) return warmed
  for (const segment of segments.toReversed()) {
    if (signal.aborted) return warmed
    await shelfOf(db).columns(db, [segment], seen)
  }
  return seen
}
