import { readRetryAfter } from '../http/retry-after.ts'

/**
 * Why there are no vectors.
 * - `unavailable`: the endpoint does not answer, or not now; the texts are not to blame.
 * - `refused`: it answered that it will not, or with something that is no vector; perhaps for one
 * of the texts.
 */
export class EmbeddingFailure extends Error {
  override name = 'EmbeddingFailure'
  readonly kind: 'unavailable' | 'refused'
  /** ms after which the endpoint asked to be tried again (Retry-After); null: it did not say. */
  readonly retryAfter: number | null
  /** ms after which the request was given up; null: it was not for its slowness. */
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
 * 401, 403, 404: set up wrongly; 408, 425, 429, 502–504: not now. Anything else may be the text's
 * own fault.
 */
const NOT_THE_TEXT = new Set([401, 402, 403, 404, 405, 407, 408, 425, 429, 502, 503, 504])

/** What an HTTP answer other than 2xx means. */
export function failureOf(status: number, retryAfter: string | null, detail: string): EmbeddingFailure {
  const kind = NOT_THE_TEXT.has(status) ? 'unavailable' : 'refused'
  const reason = detail.replace(/\s+/g, ' ').trim().slice(0, 200)
  return new EmbeddingFailure(kind, `The embedding endpoint answers ${status}${reason ? `: ${reason}` : ''}.`, {
    retryAfter: readRetryAfter(retryAfter),
  })
}
