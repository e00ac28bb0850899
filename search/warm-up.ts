import { setTimeout as pause } from 'node:timers/promises'
import type { IndexParts, SearchSizes } from './execute/index-parts.ts'
import { rehearseNames } from './names/rehearsal.ts'
import { ALL_EFFORT, LITTLE_EFFORT, rehearse } from './rehearsal.ts'
import { SegmentsChanged } from './store/segment-store.ts'

/** Reads ahead the data that every search needs, so that no search has to wait for it. */
export interface WarmUp {
  /**
   * Resolves when the new articles, the columns, the prefetched dictionaries and the most frequent
   * lists were read once, and some searches were run.
   */
  warm: Promise<void>
  stop(): Promise<void>
}

/**
 * ms between two looks for new articles. A search reads at most so long a time's worth of them
 * itself.
 */
const INTERVAL = 200
const INTERVAL_AFTER_FAILURE = 1_000

/**
 * @param gently leaves processors to others
 * @param onFailure told of what could not be read; it is tried again
 */
export function startWarmUp(
  index: IndexParts,
  sizes: SearchSizes,
  gently: boolean,
  onFailure: (error: unknown) => void,
): WarmUp {
  const ending = new AbortController()
  const { signal } = ending
  const first = Promise.withResolvers<void>()
  const ahead = followSegmentsAhead(index, sizes, signal, onFailure)
  const run = async () => {
    let warmed: bigint | null = null
    let rehearsed = false
    while (!signal.aborted) {
      let wait = INTERVAL
      try {
        ;[warmed] = await Promise.all([readAhead(index, sizes, warmed, signal), index.names.readAll()])
        if (!rehearsed && warmed !== null) {
          rehearsed = true
          const meta = await index.metaOf(warmed)
          await rehearseNames(index.cache, meta)
          await rehearse(index, meta, sizes, gently ? LITTLE_EFFORT : ALL_EFFORT, signal)
        }
        first.resolve()
      } catch (error) {
        if (!(error instanceof SegmentsChanged)) {
          wait = INTERVAL_AFTER_FAILURE
          onFailure(error)
        }
      }
      await pause(wait, undefined, { signal, ref: false }).catch(() => {})
    }
  }
  const running = run()
  return {
    warm: first.promise,
    async stop() {
      ending.abort()
      first.resolve()
      await running
      await ahead
    },
  }
}

/**
 * Reads the segments that are stored and not used yet, until it is stopped. A loop of its own: they
 * are used a second later, and a look for new articles may take longer.
 */
async function followSegmentsAhead(
  { segments, cache }: IndexParts,
  sizes: SearchSizes,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    let wait = INTERVAL
    try {
      await cache.readAhead(await segments.readAhead(), sizes.prefetch)
    } catch (error) {
      wait = INTERVAL_AFTER_FAILURE
      onFailure(error)
    }
    await pause(wait, undefined, { signal, ref: false }).catch(() => {})
  }
}

/** Articles between two checks whether to stop. */
const STEP = 512n

/**
 * @param warmed version of the segments that were read before
 * @returns the version that was read now
 */
async function readAhead(
  index: IndexParts,
  sizes: SearchSizes,
  warmed: bigint | null,
  signal: AbortSignal,
): Promise<bigint | null> {
  const { version, wordsVersion, lastSeq } = await index.segments.readSnapshot()
  const meta = await index.metaOf(version)
  const { covered, segments } = meta
  for (let last = covered; last < lastSeq && !signal.aborted; ) {
    last = last + STEP < lastSeq ? last + STEP : lastSeq
    await index.memory.upTo({ covered, last, wordsVersion }, sizes.memory)
  }
  index.cache.prefetch.follow(meta, sizes.prefetch)
  if (meta.version === warmed) return warmed
  for (const segment of segments.toReversed()) {
    if (signal.aborted) return warmed
    await index.cache.columns([segment], meta.version)
  }
  await index.cache.prefetch.idle()
  return meta.version
}
