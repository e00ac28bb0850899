import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { questionText } from '../../../shared/embeddings/recipe.ts'
import { questions } from './semantic-metrics.ts'

/** Vectors of the questions that were asked lately. */
export interface QuestionVectors {
  /**
   * The vector of a question for one collection. `embed` makes it when none is kept; equal
   * questions that come meanwhile wait for that one.
   *
   * @param collection its name. It stands for model, endpoint and recipe: none of them ever changes
   * under a name, so vectors of two models never meet
   * @throws what `embed` throws, for all that wait; nothing is kept then
   */
  read(collection: string, text: string, embed: () => Promise<number[]>): Promise<number[]>
  /** Bytes, as estimated. */
  stats(): { limit: number; used: number }
}

export interface QuestionVectorLimits {
  /** Bytes; 0: nothing is kept. */
  size: number
  /** ms that a vector is kept; 0: nothing is kept. */
  duration: number
}

/** Bytes of an entry beside the numbers: its digest, the array, the entries of the cache. */
const ENTRY_BYTES = 500

export function createQuestionVectors({ size, duration }: QuestionVectorLimits): QuestionVectors {
  const limit = duration === 0 ? 0 : size
  const kept = new LRUCache<string, Float32Array>({ maxSize: Math.max(1, limit), ttl: Math.max(1, duration) })
  const embedding = new Map<string, Promise<Float32Array>>()

  async function embedded(key: string, embed: () => Promise<number[]>): Promise<Float32Array> {
    try {
      // Qdrant computes with 32 bits. A kept vector and a fresh one are the same to the bit.
      const vector = Float32Array.from(await embed())
      const bytes = vector.byteLength + ENTRY_BYTES
      if (bytes <= limit) kept.set(key, vector, { size: bytes })
      questions.inc({ vector: 'embedded' })
      return vector
    } catch (error) {
      questions.inc({ vector: 'failed' })
      throw error
    } finally {
      embedding.delete(key)
    }
  }

  return {
    async read(collection, text, embed) {
      const key = keyOf(collection, text)
      const known = kept.get(key)
      if (known) {
        questions.inc({ vector: 'kept' })
        return [...known]
      }
      let vector = embedding.get(key)
      if (vector) questions.inc({ vector: 'joined' })
      else {
        vector = embedded(key, embed)
        embedding.set(key, vector)
      }
      return [...(await vector)]
    },
    stats: () => ({ limit, used: kept.calculatedSize }),
  }
}

/** A digest: no memory holds for an hour what somebody asked. */
function keyOf(collection: string, text: string): string {
  return createHash('sha256')
    .update(JSON.stringify([collection, questionText(text)]))
    .digest('base64url')
}
