/** Why a request brought no whole answer. */
export type FailureKind =
  | 'time-out'
  | 'connection'
  | 'name'
  /** The body ended early, or could not be decompressed. */
  | 'cut'
  | 'too-large'
  | 'private-address'
  /** Public addresses are not asked on this one. */
  | 'port'
  /** What the server said is not HTTP. */
  | 'protocol'
  /** The crawler itself gave up: it is stopping, or another crawler has the permit. */
  | 'aborted'

/** A request without a whole answer; `message` is a short sentence for the outlet's health. */
export class RequestFailure extends Error {
  override name = 'RequestFailure'
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

/** Sorts the errors of undici, sockets, the resolver and zlib. */
export function asFailure(error: unknown): RequestFailure {
  if (error instanceof RequestFailure) return error
  const cause = error instanceof Error && error.cause instanceof RequestFailure ? error.cause : null
  if (cause !== null) return cause
  const code = codeOf(error)
  const text = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
  const kind = KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? 'connection'
  return new RequestFailure(kind, `${SENTENCES[kind]} (${code || text || 'no reason given'})`, error)
}

const KINDS: [RegExp, FailureKind][] = [
  [/TIMEOUT|ETIMEDOUT|TimeoutError/, 'time-out'],
  [/ENOTFOUND|EAI_/, 'name'],
  [/CONTENT_LENGTH_MISMATCH|^Z_|ERR_BROTLI|ERR_ZSTD|^ZSTD_/, 'cut'],
  [/^HPE_|HTTPParser|HEADERS_OVERFLOW|UND_ERR_INVALID/, 'protocol'],
  [/ABORT/i, 'aborted'],
]

const SENTENCES: Record<FailureKind, string> = {
  'time-out': 'no whole answer in time',
  connection: 'the connection failed',
  name: 'the name does not resolve',
  cut: 'the answer was cut short',
  'too-large': 'the answer is too large',
  'private-address': 'the address is not public',
  port: 'the port is not one of the web',
  protocol: 'the answer is not HTTP',
  aborted: 'the request was given up',
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  return error.name === 'Error' ? '' : error.name
}
