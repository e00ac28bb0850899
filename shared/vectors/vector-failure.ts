import { sentenceOf } from '../process/command.ts'
import { CircuitOpen } from '../resilience/circuit.ts'

/**
 * The reason why a request to the vector store failed.
 * - `unavailable`: it does not answer, or not now.
 * - `refused`: it refused the request; one of the points may be the cause.
 * - `missing`: there is no such collection.
 */
export class VectorFailure extends Error {
  override name = 'VectorFailure'
  readonly kind: 'unavailable' | 'refused' | 'missing'

  constructor(kind: 'unavailable' | 'refused' | 'missing', message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.kind = kind
  }
}

/** Converts errors of Qdrant's client and of `nearest.ts`. */
export function vectorFailure(error: unknown): VectorFailure {
  if (error instanceof VectorFailure) return error
  if (error instanceof CircuitOpen) return new VectorFailure('unavailable', error.message)
  const status = error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : null
  const said = status === null ? sentenceOf(rootOf(error)) : `${status} ${detailOf(error)}`.trim()
  if (status === 404) return new VectorFailure('missing', `Qdrant has no such collection (${said}).`, { cause: error })
  if (status === 400 || status === 409 || status === 413 || status === 422) {
    return new VectorFailure('refused', `Qdrant refuses: ${said}.`, { cause: error })
  }
  return new VectorFailure('unavailable', `Qdrant does not answer (${said}).`, { cause: error })
}

/** The innermost cause: the message `fetch failed` says nothing. */
function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? rootOf(error.cause) : error
}

function detailOf(error: unknown): string {
  if (!(error instanceof Error) || !('data' in error)) return ''
  const data: unknown = error.data
  const text = typeof data === 'string' ? data : JSON.stringify(data ?? '')
  return text.replace(/\s+/g, ' ').slice(0, 200)
}
