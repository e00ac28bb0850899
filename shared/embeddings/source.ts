import { readRetryAfter } from '../resilience/retry-after.ts'
import type { Model } from './models.ts'

/**
 * The reason why there are no vectors.
 * - `unavailable`: the endpoint does not answer, or not now; the texts are not to blame.
 * - `refused`: it refused, or answered without vectors. One of the texts may be the cause.
 */
export class EmbeddingFailure extends Error {
  override name = 'EmbeddingFailure'
  readonly kind: 'unavailable' | 'refused'
  /** ms after which the endpoint asked to be tried again (Retry-After); null: it did not ask. */
  readonly retryAfter: number | null
  /** ms after which the request was given up; null: it failed for another reason. */
  readonly late: number | null

  constructor(
    kind: 'unavailable' | 'refused',
    message: string,
    options: { cause?: unknown; retryAfter?: number | null; late?: number | null } = {},
  ) {
    super(message, { cause: options.cause })
    this.kind = kind
    this.retryAfter = options.retryAfter ?? null
    this.late = options.late ?? null
  }
}

/**
 * 401, 403, 404: wrong settings. 408, 425, 429, 502–504: try again later. The text may be the cause
 * of any other status.
 */
const NOT_THE_TEXT = new Set([401, 402, 403, 404, 405, 407, 408, 425, 429, 502, 503, 504])

/** The failure behind an HTTP answer other than 2xx. */
export function failureOf(status: number, retryAfter: string | null, detail: string): EmbeddingFailure {
  const kind = NOT_THE_TEXT.has(status) ? 'unavailable' : 'refused'
  const reason = detail.replace(/\s+/g, ' ').trim().slice(0, 200)
  return new EmbeddingFailure(kind, `The embedding endpoint answers ${status}${reason ? `: ${reason}` : ''}.`, {
    retryAfter: readRetryAfter(retryAfter),
  })
}

export const APIS = ['openai', 'tei', 'hf'] as const

export type Api = (typeof APIS)[number]

/** A source of vectors: an API and its address. */
export interface Source {
  api: Api
  /** Empty: Inference Providers with `hf`, nowhere otherwise. */
  url: string
  model: Model
  /** Bearer token; empty: none. */
  token: string
}

/**
 * Makes vectors of texts in one request. Some models embed a search term and a text (`kind`)
 * differently.
 */
export type Ask = (texts: string[], kind: 'query' | 'passage', signal: AbortSignal) => Promise<number[][]>
