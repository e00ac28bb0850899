import { setTimeout as pause } from 'node:timers/promises'
import { CircuitOpen, createCircuit } from '../circuit/circuit.ts'
import { sentenceOf } from '../process/command.ts'
import { createSemaphore } from '../semaphore/semaphore.ts'
import { without } from './bias/removal.ts'
import { EmbeddingFailure } from './embedding-failure.ts'
import { askerOf } from './endpoint.ts'
import type { Model } from './models.ts'
import type { Source } from './source.ts'
import { modelText } from './text.ts'

/** The one way to vectors. All of them have length 1. */
export interface Embeddings {
  model: Model
  /**
   * The vector of a search term: one try, because somebody is waiting.
   * @throws EmbeddingFailure, soon after `signal` at the latest
   */
  embedQuery(text: string, signal: AbortSignal): Promise<number[]>
  /**
   * Vectors of a few texts in one request, in order; first waits as long as the endpoint last asked
   * for (Retry-After). One try: whether the texts or the endpoint are to blame is for the caller to
   * find out.
   * @throws EmbeddingFailure
   */
  embedPassages(texts: string[], signal: AbortSignal): Promise<number[][]>
  /** Why the endpoint is not asked at present, and for how many ms more; null: it is. */
  obstacle(): { reason: string; wait: number } | null
}

export interface EmbeddingOptions {
  /** ms that a request for passages may take. */
  passageTimeout: number
  /** Numbers that a vector must have; null: as many as the model's card says. */
  dimensions?: number | null
}

/**
 * Searches at the model at a time; more would only wait there, where their time limit counts
 * against the model.
 */
const QUERIES_AT_ONCE = 4
/** A search term is 191 characters at most; the rest is for letters that count as two. */
const QUERY_LENGTH = 382

/** ms in which an endpoint can be expected to answer a search. */
const FAIR = 400

/** An endpoint that asks for more patience than this is asked again by whoever comes then. */
const LONGEST_PAUSE = 20_000

export function openEmbeddings(source: Source, options: EmbeddingOptions): Embeddings {
  const { model } = source
  const dimensions = options.dimensions ?? model.dimensions
  const ask = askerOf(source)
  const semaphore = createSemaphore(QUERIES_AT_ONCE)
  /**
   * Failures of requests that were given no time to succeed: they say nothing about the endpoint.
   */
  const hasty = new WeakSet<Error>()
  const circuit = createCircuit('The embedding endpoint', {
    counts: error => error instanceof EmbeddingFailure && error.kind === 'unavailable' && !hasty.has(error),
  })
  let notBefore = 0

  /** One request through the circuit; whatever goes wrong becomes an `EmbeddingFailure`. */
  async function askOnce(texts: string[], kind: 'query' | 'passage', signal: AbortSignal): Promise<number[][]> {
    try {
      return await circuit.run(async () => {
        const began = Date.now()
        try {
          const vectors = await ask(texts, kind, signal)
          return vectors.map(vector => unitVector(model, vector, dimensions))
        } catch (error) {
          if (error instanceof EmbeddingFailure) throw error
          const why = signal.aborted ? 'does not answer in time' : `is out of reach (${sentenceOf(error)})`
          const late = signal.aborted ? Date.now() - began : null
          const failure = new EmbeddingFailure('unavailable', `The embedding endpoint ${why}.`, { cause: error, late })
          if (signal.aborted && Date.now() - began < FAIR) hasty.add(failure)
          throw failure
        }
      })
    } catch (error) {
      if (error instanceof CircuitOpen) throw new EmbeddingFailure('unavailable', error.message)
      if (error instanceof EmbeddingFailure && error.retryAfter !== null) notBefore = Date.now() + error.retryAfter
      throw error
    }
  }

  return {
    model,
    obstacle() {
      const wait = notBefore - Date.now()
      return wait > 0 ? { reason: 'it asked to be let be for a while', wait } : circuit.obstacle()
    },

    async embedQuery(text, signal) {
      if (notBefore > Date.now()) {
        throw new EmbeddingFailure('unavailable', 'The embedding endpoint asked to be let be for a while.')
      }
      try {
        const [vector] = await semaphore.run(async () => {
          signal.throwIfAborted()
          return askOnce([modelText(text, QUERY_LENGTH)], 'query', signal)
        }, signal)
        return vector!
      } catch (error) {
        if (error instanceof EmbeddingFailure) throw error
        throw new EmbeddingFailure('unavailable', 'Too many searches wait for the embedding endpoint.', {
          cause: error,
        })
      }
    },

    async embedPassages(texts, signal) {
      const patience = notBefore - Date.now()
      if (patience > LONGEST_PAUSE) {
        throw new EmbeddingFailure('unavailable', 'The embedding endpoint asked to be let be for long.', {
          retryAfter: patience,
        })
      }
      await pause(Math.max(0, patience), undefined, { signal })
      const cut = texts.map(text => modelText(text, model.maxCharacters))
      return askOnce(cut, 'passage', AbortSignal.any([signal, AbortSignal.timeout(options.passageTimeout)]))
    },
  }
}

/**
 * The vector without the bias of its model, scaled to length 1.
 *
 * @throws EmbeddingFailure when it cannot be a vector of that model
 */
function unitVector(model: Model, vector: number[], dimensions: number | null): number[] {
  if (dimensions !== null && vector.length !== dimensions) {
    throw new EmbeddingFailure(
      'refused',
      `The embedding endpoint answers with ${vector.length} numbers, ${model.name} has ${dimensions}; see EMBEDDINGS_MODEL.`,
    )
  }
  const rest = vector.every(Number.isFinite) ? without(model.bias, vector) : []
  const length = Math.hypot(...rest)
  if (!(length > 0)) {
    throw new EmbeddingFailure('refused', 'The embedding endpoint answers with a vector that has no direction.')
  }
  return rest.map(number => number / length)
}
