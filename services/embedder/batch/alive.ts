import { setTimeout as pause } from 'node:timers/promises'
import type { Embedder } from './embedder.ts'

const PROBE = 'Perscope'
/** As long as a model takes any. */
const LONG_PROBE = 'Perscope '.repeat(1_000)
const FIRST_PAUSE = 200
const LONGEST_PAUSE = 3_000
/** A service that is not back by then is away, and the articles wait elsewhere. */
const PATIENCE = 15_000

/**
 * Whether models and vector store do their work for a harmless text, now or within some seconds.
 *
 * @param late ms after which a text was given up: then a harmless text of the greatest length is
 * tried, and the model is
 *   away, or as good as, when it needs half of that time
 */
export async function comesAlive(
  { embeddingCollections, vectors }: Embedder,
  signal: AbortSignal,
  late: number | null = null,
): Promise<boolean> {
  const end = Date.now() + PATIENCE
  const probe = late === null ? PROBE : LONG_PROBE
  for (let wait = FIRST_PAUSE; Date.now() < end; wait = Math.min(wait * 2, LONGEST_PAUSE)) {
    try {
      await vectors.ping()
      const open = await embeddingCollections.current()
      const began = Date.now()
      for (const { embeddings } of open) await embeddings.embedPassages([probe], signal)
      return late === null || Date.now() - began < late / 2
    } catch {
      // Spread, so that the workers of a fleet do not come back all at once.
      await pause(wait * (0.5 + Math.random()), undefined, { signal })
    }
  }
  return false
}
