import { describe } from '#shared/log/printable'

/** The reason why a request brought no complete answer. */
export type FailureKind = keyof typeof SENTENCES

/** Failures of requests that were never sent. */
export const NEVER_ASKED: ReadonlySet<string> = new Set<FailureKind>([
  'private-address',
  'port',
  'held',
])

/** A request without a complete answer. `message` is a short sentence for operators. */
export class RequestFailure extends Error {
  override name = 'RequestFailure'
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

/** Converts an error of undici, a socket, the resolver or zlib into a `RequestFailure`. */
export function asFailure(error: unknown): RequestFailure {
  if (error instanceof RequestFailure) return error
  const cause = error instanceof Error && error.cause instanceof RequestFailure ? error.cause : null
  if (cause !== null) return cause
  const code = codeOf(error)
  const text = describe(error).split('\n')[0]!
  const kind = KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? 'connection'
  const sentence = CERTIFICATES[code] ?? SENTENCES[kind]
  return new RequestFailure(kind, `${sentence} (${code || text || 'no reason given'})`, error)
}

/** Sentences for the common reasons why Node refuses a certificate, by Node's error codes. */
const CERTIFICATES: Record<string, string> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate has been revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is signed by an authority that is not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is that of another host',
}

const KINDS: [RegExp, FailureKind][] = [
  [/TIMEOUT|ETIMEDOUT|TimeoutError/, 'time-out'],
  [/ENOTFOUND|EAI_/, 'name'],
  [/CERT|^UNABLE_TO_|^ERR_SSL_|^ERR_TLS_|^EPROTO$/, 'tls'],
  [/CONTENT_LENGTH_MISMATCH|^Z_|^ERR__|^ZSTD_/, 'cut'],
  [/^HPE_|HTTPParser|HEADERS_OVERFLOW|UND_ERR_INVALID/, 'protocol'],
  [/ABORT/i, 'aborted'],
]

const SENTENCES = {
  'time-out': 'no complete answer in time',
  connection: 'the connection failed',
  name: 'the name does not resolve',
  /** The certificate is not trusted, or the TLS handshake failed. */
  tls: 'no secure connection could be made',
  /** The body ended early, or could not be decompressed. */
  cut: 'the answer was cut short',
  'too-large': 'the answer is too large',
  'private-address': 'the address is not public',
  /** CRAWL_PORTS does not allow the port. */
  port: 'the port is not allowed',
  /** The crawler asks no public host before CRAWL_USER_AGENT names its operator. */
  held: 'the address is not asked yet',
  protocol: 'the answer is not HTTP',
  /** The crawler itself ended the request: it is stopping, or another crawler has the permit. */
  aborted: 'the request was aborted',
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  return error.name === 'Error' ? '' : error.name
}
