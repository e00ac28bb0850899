import { readRetryAfter } from '#shared/resilience/retry-after'
import type { Model } from './models.ts'

/**
 * The reason why there are no vectors.
 * - `unavailable`: the endpoint does not answer, or asks to try again later. The texts are not the
 *   cause.
 * - `refused`: it refused, or answered without vectors. One of the texts may be the cause.
 */
export class EmbeddingFailure extends Error {
  override name = 'EmbeddingFailure'
  readonly kind: 'unavailable' | 'refused'
  /**
   * The endpoint asked to wait this many ms before the next try (Retry-After); null: it did not
   * ask.
   */
  readonly retryAfter: number | null
  /** The request was given up after this many ms; null: it failed for another reason. */
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
 * 401, 403 and 404 mean wrong settings. 408, 425, 429 and 502 to 504 mean: try again later. For any
 * status that is not in this set, the text may be the cause.
 */
const NOT_THE_TEXT = new Set([401, 402, 403, 404, 405, 407, 408, 425, 429, 502, 503, 504])

/** Makes the failure of an HTTP answer other than 2xx. */
export function failureOf(
  status: number,
  retryAfter: string | null,
  detail: string,
): EmbeddingFailure {
  const kind = NOT_THE_TEXT.has(status) ? 'unavailable' : 'refused'
  const reason = detail.replace(/\s+/g, ' ').trim().slice(0, 200)
  return new EmbeddingFailure(
    kind,
    `The embedding endpoint answers ${status}${reason ? `: ${reason}` : ''}.`,
    {
      retryAfter: readRetryAfter(retryAfter),
    },
  )
}

export const APIS = ['openai', 'tei', 'hf'] as const

export type Api = (typeof APIS)[number]

/** A source of vectors: an API and its address. */
export interface Source {
  api: Api
  /** Empty: Inference Providers if the API is `hf`, otherwise no endpoint. */
  url: string
  model: Model
  /** Bearer token; empty: none. */
  token: string
}

/**
 * Makes vectors of texts in one request. `kind`: some models embed a search term differently from
 * other texts.
 */
export type Ask = (
  texts: string[],
  kind: 'query' | 'passage',
  signal: AbortSignal,
) => Promise<number[][]>
