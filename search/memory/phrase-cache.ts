/**
 * The documents of an in-memory segment that contain a phrase. The same phrases are asked for again
 * and again, and documents never change: a later search looks only at those that came since.
 */
export interface PhraseCache {
  /**
   * @param candidates ascending documents that may contain the phrase
   * @param size documents of the segment
   */
  docs(key: string, candidates: Uint16Array, size: number, contains: (doc: number) => boolean): Uint16Array
}

/** @param limit phrases; the least recently used one is dropped */
export function createPhraseCache(limit: number): PhraseCache {
  const phrases = new Map<string, { upTo: number; docs: number[] }>()
  return {
    docs(key, candidates, size, contains) {
      const known = phrases.get(key) ?? { upTo: 0, docs: [] }
      phrases.delete(key)
      phrases.set(key, known)
      for (const oldest of phrases.keys()) {
        if (phrases.size <= limit) break
        phrases.delete(oldest)
      }
      for (const doc of candidates) if (doc >= known.upTo && contains(doc)) known.docs.push(doc)
      known.upTo = size
      return Uint16Array.from(known.docs)
    },
  }
}
