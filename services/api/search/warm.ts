import { setTimeout as pause } from 'node:timers/promises'
import type { Queryable } from '../../../shared/postgres/pool.ts'
import { readFresh } from './fresh/store.ts'
import { readPrelude } from './prelude.ts'
import { readCatalogue, SegmentsChanged } from './segments/catalogue.ts'
import { shelfOf } from './segments/shelf.ts'

/** ms between two looks for new articles: so long a time's worth of them is read within a search at most. */
const PAUSE = 200
const PAUSE_AFTER_FAILURE = 1_000

/**
 * Reads ahead for as long as the process runs what searches need, so that none has to wait for it: the fresh articles, some 30 MB
 * for each million of the others, and of a segment that is new what was lately asked of the others.
 */
export function keepWarm(db: Queryable, failed: (error: unknown) => void): { stop(): Promise<void> } {
  const ending = new AbortController()
  const { signal } = ending
  const running = (async () => {
    let warmed: Warmed = { version: null, segments: new Set() }
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

/** The segments that were read already, and the version of the catalogue that had them. */
interface Warmed {
  version: bigint | null
  segments: Set<number>
}

/** @returns what is read now */
async function warmSearch(db: Queryable, warmed: Warmed, signal: AbortSignal): Promise<Warmed> {
  const { version, wordsVersion, lastSeq } = await readPrelude(db, null, null)
  const { segments, version: seen, covered } = await readCatalogue(db, version)
  for (let last = covered; last < lastSeq && !signal.aborted; ) {
    last = last + STEP < lastSeq ? last + STEP : lastSeq
    await readFresh(db, { covered, last, wordsVersion })
  }
  if (seen === warmed.version) return warmed
  const shelf = shelfOf(db)
  for (const segment of segments.toReversed()) {
    if (signal.aborted) return warmed
    await shelf.columns(db, [segment], seen)
    if (!warmed.segments.has(segment.no)) await shelf.readAhead(db, segment, seen)
  }
  return { version: seen, segments: new Set(segments.map(({ no }) => no)) }
}
