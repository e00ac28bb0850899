import type { Dispatcher } from 'undici'
import type { Config } from '#shared/config/config'
import { isRecord } from '#shared/encoding/is-record'
import { sentenceOf } from '#shared/process/command'
import { CircuitOpen } from '#shared/resilience/circuit'
import { withTimeLimit } from '#shared/resilience/time-limit'
import { type NearArticle, VectorFailure } from './store.ts'

/**
 * Asks for the points nearest to a vector. The best come first. `question` has the form of Qdrant's
 * `points/query`.
 *
 * @throws QdrantAnswer, or the error of the connection
 */
export type AskNearest = (
  collection: string,
  question: Record<string, unknown>,
) => Promise<NearArticle[]>

export interface QdrantAddress {
  /** Scheme and host, without the port. */
  origin: string
  port: number
  /** The path before Qdrant's own paths; empty, or `/…`. */
  prefix: string
}

/**
 * After this part of the time limit, a search is sent a second time, because a node that was just
 * lost never answers its requests.
 */
const PATIENCE = 1 / 3
/** How many second tries run at a time. */
const SECOND_TRIES = 4

/** Qdrant answered with an error. */
class QdrantAnswer extends Error {
  override name = 'QdrantAnswer'
  readonly status: number
  readonly data: string

  constructor(status: number, data: string) {
    super(`Qdrant answers ${status}`)
    this.status = status
    this.data = data
  }
}

/**
 * Opens the search for the nearest points. A user waits for it, so it does not use Qdrant's own
 * client. That client uses `fetch`, and parses every answer with a reviver for numbers beyond 2^53.
 * For 500 points the reviver takes most of the time, and numbers of articles are below 2^53.
 *
 * @param timeout ms that a request may take
 * @param dispatcher opens the connections
 */
export function openNearest(
  { QDRANT_API_KEY }: Pick<Config, 'QDRANT_API_KEY'>,
  { origin, port, prefix }: QdrantAddress,
  timeout: number,
  dispatcher: Dispatcher,
): AskNearest {
  // Asks for no compressed answers, and undici does not ask for them by itself. Qdrant sends a
  // compressed answer in pieces and waits after the first for the client's delayed acknowledgement.
  // That takes 40 ms for a list of 500, which uncompressed fits into one piece.
  const headers = {
    'content-type': 'application/json',
    ...(QDRANT_API_KEY === '' ? {} : { 'api-key': QDRANT_API_KEY }),
  }
  const secondTry = createSecondTry({
    after: timeout * PATIENCE,
    limit: timeout,
    most: SECOND_TRIES,
    again: isPassing,
  })
  const post = async (collection: string, question: string, signal: AbortSignal) => {
    const { statusCode, body } = await dispatcher.request({
      origin: `${origin}:${port}`,
      path: `${prefix}/collections/${encodeURIComponent(collection)}/points/query`,
      method: 'POST',
      headers,
      body: question,
      signal,
    })
    const text = await body.text()
    if (statusCode !== 200) throw new QdrantAnswer(statusCode, text)
    return text
  }
  return async (collection, question) => {
    const asked = JSON.stringify({ ...question, with_payload: ['id'], with_vector: false })
    const text = await secondTry(signal => post(collection, asked, signal))
    const answer: unknown = JSON.parse(text)
    const points = isRecord(answer) && isRecord(answer.result) ? answer.result.points : null
    if (!Array.isArray(points) || !points.every(isPoint))
      throw new QdrantAnswer(502, 'something that holds no points')
    return points.map(({ id, score, payload }) => ({ seq: BigInt(id), id: idIn(payload), score }))
  }
}

/** Whether an error is of the connection or of one node. Another node may then answer. */
const isPassing = (error: unknown) => !(error instanceof QdrantAnswer) || error.status >= 500

/** The id of the article of a vector. @returns '': a former version stored the vector */
export const idIn = (payload: unknown): string =>
  isRecord(payload) && typeof payload.id === 'string' ? payload.id : ''

const isPoint = (value: unknown): value is { id: number; score: number; payload: unknown } =>
  isRecord(value) && Number.isSafeInteger(value.id) && typeof value.score === 'number'

/** Makes a `VectorFailure` of an error of Qdrant's client or of this file. */
export function vectorFailure(error: unknown): VectorFailure {
  if (error instanceof VectorFailure) return error
  if (error instanceof CircuitOpen) return new VectorFailure('unavailable', error.message)
  const status =
    error instanceof Error && 'status' in error && typeof error.status === 'number'
      ? error.status
      : null
  const said = status === null ? sentenceOf(rootOf(error)) : `${status} ${detailOf(error)}`.trim()
  if (status === 404)
    return new VectorFailure('missing', `Qdrant has no such collection (${said}).`, {
      cause: error,
    })
  if (status === 400 || status === 409 || status === 413 || status === 422)
    return new VectorFailure('refused', `Qdrant refuses: ${said}.`, { cause: error })
  return new VectorFailure('unavailable', `Qdrant does not answer (${said}).`, { cause: error })
}

/** The innermost cause of an error, because the message `fetch failed` does not give the reason. */
const rootOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? rootOf(error.cause) : error

function detailOf(error: unknown): string {
  if (!(error instanceof Error) || !('data' in error)) return ''
  const data: unknown = error.data
  const text = typeof data === 'string' ? data : JSON.stringify(data ?? '')
  return text.replace(/\s+/g, ' ').slice(0, 200)
}

interface SecondTryOptions {
  /** After this many ms without an answer, a request is sent a second time. */
  after: number
  /** ms that the two tries may take together. */
  limit: number
  /**
   * How many second tries run at a time. This limit keeps them from doubling the load of a slow
   * service.
   */
  most: number
  /** Whether to send a request a second time after this error. */
  again: (error: unknown) => boolean
}

/**
 * Makes a function that sends a request a second time when its answer is late or an error, and
 * takes the first good answer. Behind a load balancer, the second request goes to another node than
 * the one that was just lost. Use it only for requests that change nothing.
 */
export function createSecondTry({
  after,
  limit,
  most,
  again,
}: SecondTryOptions): <T>(ask: (signal: AbortSignal) => Promise<T>) => Promise<T> {
  let under = 0
  return async <T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(limit)])
    const first = ask(signal)
    try {
      const early = await withTimeLimit(
        first.then(
          value => ({ value }),
          error => ({ error }),
        ),
        after,
        () => null,
      )
      if (early !== null && 'value' in early) return early.value
      if (under >= most || (early !== null && !again(early.error))) return await first
      under += 1
      try {
        return await Promise.any([first, ask(signal)])
      } finally {
        under -= 1
        // Ends the slower try. This runs only after a second try, because each abort makes an error
        // with its stack, which takes time.
        over.abort()
      }
    } catch (error) {
      throw error instanceof AggregateError ? error.errors.at(-1) : error
    }
  }
}
