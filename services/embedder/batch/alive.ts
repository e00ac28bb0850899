import { setTimeout as pause } from 'node:timers/promises'
import type { Embedder } from './embed.ts'

const PROBE = 'Perscope'
const FIRST_PAUSE = 200
const LONGEST_PAUSE = 3_000
/** A service that is not back by then is away, and the articles wait elsewhere. */
const PATIENCE = 15_000

/** Whether models and vector store do their work for a harmless text, now or within some seconds. */
export async function comesAlive({ spaces, vectors }: Embedder, signal: AbortSignal): Promise<boolean> {
  const end = Date.now() + PATIENCE
  for (let wait = FIRST_PAUSE; Date.now() < end; wait = Math.min(wait * 2, LONGEST_PAUSE)) {
    try {
      await vectors.ping()
      for (const { embeddings } of await spaces.current()) await embeddings.embedPassages([PROBE], signal)
      return true
    } catch {
      // Spread, so that the workers of a fleet do not come back all at once.
      await pause(wait * (0.5 + Math.random()), undefined, { signal })
    }
  }
  return false
}
