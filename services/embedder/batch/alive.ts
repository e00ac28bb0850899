import { setTimeout as pause } from 'node:timers/promises'
import type { Embedder } from './embedder.ts'

const PROBE = 'Perscope'
/** The longest text that a model accepts. */
const LONG_PROBE = 'Perscope '.repeat(1_000)
const FIRST_PAUSE = 200
const LONGEST_PAUSE = 3_000
/**
 * ms in which a service must answer again. Otherwise it counts as away, and the articles are given
 * back.
 */
const PATIENCE = 15_000

/**
 * Whether the models and the vector store work for a harmless text, now or within some seconds.
 *
 * @param late ms after which a text was given up. A harmless text of the greatest length is then
 * tried. A model that needs half of that time for it counts as away.
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
      // The pause is random, so that the embedders of a fleet do not all try again at once.
      await pause(wait * (0.5 + Math.random()), undefined, { signal })
    }
  }
  return false
}
