import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { LRUCache } from 'lru-cache'
import type { Logger } from '../../../shared/log/logger.ts'
import { isTransient } from '../../../shared/postgres/pool.ts'
import { createSemaphore } from '../../../shared/resilience/semaphore.ts'
import { NoPermit } from '../access/permits.ts'
import { ApiError } from '../contract/errors.ts'
import { RETRY_UNAVAILABLE, type SearchMode } from '../contract/parameters.ts'
import type { ErrorObject } from '../contract/resources.ts'
import { boundLines, isAnybodys } from './observe.ts'

/*
 * Every answer leaves through here: its ETag, its compression, or its error. Operations return
 * content and know nothing of HTTP. Equal bodies are compressed once, because many clients poll the
 * same pages.
 */

/** A good answer, without headers and status. */
export interface Content {
  contentType: string
  /** All of the answer except `untagged`; the ETag is its hash. */
  tagged: string
  /** The ETag, where it is known already. */
  etag?: string
  /** Makes what the body has beyond `tagged`, as the cursor (decision 8). */
  untagged(): string
  /** Makes the body. A 304 needs none. */
  body(untagged: string): Buffer
}

/** A good answer of an operation that searches. */
export interface Answer extends Content {
  search: SearchMode
  /** ms that the search took, of the time to the answer. */
  searchMs: number
  /** Whether nothing was found. */
  isEmpty: boolean
}

/** A weak ETag (RFC 9110 §8.8.3): the same in every process. */
export const etagOf = ({ tagged }: { tagged: string | Buffer }): string =>
  `W/"${hash('sha256', tagged, 'base64url').slice(0, 27)}"`

/** An answer whose body is all that identifies it. */
function wholeContent(contentType: string, body: string): Content {
  return { contentType, tagged: body, untagged: () => '', body: () => Buffer.from(body) }
}

/** An answer in JSON about something that was found. */
export const jsonAnswer = (body: string, search: SearchMode = 'keyword', searchMs = 0): Answer => ({
  ...{ ...jsonContent(body), search, searchMs, isEmpty: false },
})

export const jsonContent = (body: string) => wholeContent('application/json; charset=utf-8', body)

/** @param limit bytes of compressed answers that are kept */
export function createSender(limit: number) {
  const compressor = createCompressor(limit)
  /**
   * Sends an answer, or 304 when the client has it (decision 8).
   * @param beforeHeaders runs just before the headers go out; what it throws is sent instead
   */
  return async (request: Request, response: Response, answer: Content, beforeHeaders: () => Promise<void>) => {
    const etag = answer.etag ?? etagOf(answer)
    const known = matchesEtag(request.headers['if-none-match'], etag)
    const sent = known ? null : await bodyFor(request, answer, etag, compressor)
    await beforeHeaders()
    response.setHeader('Vary', varying(response.getHeader('Vary')))
    response.setHeader('Cache-Control', 'private, no-cache')
    response.setHeader('ETag', etag)
    if (sent === null) {
      response.status(304).end()
      return
    }
    response.setHeader('Content-Type', answer.contentType)
    if (sent.encoding !== null) response.setHeader('Content-Encoding', sent.encoding)
    if (sent.isLengthKnown) response.setHeader('Content-Length', sent.bytes.length)
    else response.removeHeader('Content-Length') // Node would add one by itself
    // Node leaves the body of HEAD out.
    response.status(200).end(sent.bytes)
  }
}

interface Body {
  bytes: Buffer
  encoding: Encoding | null
  /**
   * Compressed answers have no `Content-Length`, as HEAD has none where GET would be compressed.
   */
  isLengthKnown: boolean
}

/** Bytes. Smaller bodies are not compressed. */
const SMALL = 1_024

async function bodyFor(request: Request, answer: Content, etag: string, compressor: Compressor): Promise<Body> {
  const encoding = encodingFor(request.headers['accept-encoding'])
  if (encoding === null) return { bytes: answer.body(answer.untagged()), encoding, isLengthKnown: true }
  // HEAD needs no body, so none is made. The length of another body would be wrong (RFC 9110 §8.6),
  // so none is sent.
  if (request.method === 'HEAD') return { bytes: NOTHING, encoding: null, isLengthKnown: false }
  const untagged = answer.untagged()
  const key = `${encoding} ${etag} ${untagged}`
  const kept = compressor.kept(key)
  if (kept !== undefined) return { bytes: kept, encoding, isLengthKnown: false }
  const bytes = answer.body(untagged)
  if (bytes.length < SMALL) return { bytes, encoding: null, isLengthKnown: true }
  return { bytes: await compressor.compress(key, encoding, bytes), encoding, isLengthKnown: false }
}

const NOTHING = Buffer.alloc(0)

/** Sends text that is made anew for each request, and bears no ETag. */
export async function sendOnce(request: Request, response: Response, contentType: string, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  const encoding = bytes.length < SMALL ? null : encodingFor(request.headers['accept-encoding'])
  response.vary('Accept-Encoding').set('Content-Type', contentType)
  if (encoding !== null) response.set('Content-Encoding', encoding)
  response.end(encoding === null ? bytes : await COMPRESS[encoding](bytes))
}

/** `Vary` of an answer. It already holds `Origin` where origins are configured. */
function varying(before: ReturnType<Response['getHeader']>): string {
  const own = 'Authorization, Accept-Encoding'
  return before === undefined ? own : `${before}, ${own}`
}

/** `If-None-Match` by weak comparison (RFC 9110 §13.1.2): `*`, or a list of tags. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header === etag || header.trim() === '*') return true
  const opaque = (tag: string) => tag.replace(/^W\//, '')
  return (header.match(/(?:W\/)?"[^"]*"/g) ?? []).some(tag => opaque(tag) === opaque(etag))
}

/** Refuses any method that a path does not have. */
export function refuseMethod(methods = 'GET, HEAD'): RequestHandler {
  return (_request, _response, next) => next(new ApiError('method_not_allowed', { headers: { Allow: methods } }))
}

export const refusePath: RequestHandler = (_request, _response, next) => {
  next(new ApiError('not_found'))
}

/**
 * The error for whatever was thrown. Anything that is not an `ApiError` is told to clients as an
 * internal error.
 */
function errorOf(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  // Postgres is away, or its disk is full.
  const headers = { 'Retry-After': String(RETRY_UNAVAILABLE) }
  if (isTransient(thrown)) return new ApiError('service_unavailable', { headers, cause: thrown })
  return new ApiError('internal_error', { cause: thrown })
}

/** Reads whatever was thrown as an error of the contract, and notes it for logs and figures. */
export function notesOf(log: Logger): (thrown: unknown, response: Response) => ApiError {
  const isWritten = boundLines(log)
  return (thrown, response) => {
    const error = errorOf(thrown)
    response.locals.errorCode = error.code
    // A client that left while it waited for a permit is no failure.
    const hasLeft = error.cause instanceof NoPermit && response.destroyed
    // While Postgres is away, each request without a key fails. So only some of them are logged.
    if (error.status >= 500 && !hasLeft && (!isAnybodys(response) || isWritten())) {
      const cause = error.cause instanceof Error ? error.cause : error
      log.error({ request: response.locals.requestId, code: error.code, err: detail(cause) }, 'request failed')
    }
    return error
  }
}

/** Sends an error as the contract's object. */
export function sendError(note: ReturnType<typeof notesOf>): ErrorRequestHandler {
  return (thrown: unknown, _request, response, _next) => {
    const error = note(thrown, response)
    if (response.headersSent) {
      response.destroy()
      return
    }
    for (const name of ['ETag', 'Content-Length', 'Content-Type']) response.removeHeader(name)
    response
      .vary('Accept-Encoding')
      .status(error.status)
      .set({ ...error.headers, 'Cache-Control': 'no-store' })
    response.json(errorObject(error))
  }
}

function detail(error: Error): Record<string, unknown> {
  return { message: error.message, stack: error.stack, ...('code' in error ? { code: error.code } : {}) }
}

/** The error object of the contract; beside the two operations it may have another code. */
function errorObject(error: ApiError): Omit<ErrorObject, 'code'> & Pick<ApiError, 'code'> {
  return {
    status: 'error',
    code: error.code,
    message: error.message,
    ...(error.errors === undefined ? {} : { errors: error.errors }),
  }
}

type Compressor = ReturnType<typeof createCompressor>

/**
 * Most bodies that are compressed at once: Node has as many threads for it. More would only hold
 * more memory.
 */
const AT_ONCE = 4
/** Bytes of an entry beside its key and body. */
const ENTRY_BYTES = 400

/**
 * Compresses bodies and keeps the result: many clients poll the same pages.
 *
 * @param limit bytes of what is kept
 */
export function createCompressor(limit: number) {
  const permits = createSemaphore(AT_ONCE)
  const cache = new LRUCache<string, Buffer, { encoding: Encoding; body: Buffer }>({
    maxSize: limit,
    sizeCalculation: (small, key) => small.length + 2 * key.length + ENTRY_BYTES,
    fetchMethod: (_key, _stale, { context: { encoding, body } }) => permits.run(() => COMPRESS[encoding](body)),
    ignoreFetchAbort: true,
  })
  return {
    kept: (key: string) => cache.get(key),
    /**
     * Equal keys asked at the same time are compressed once.
     * @param key equal keys mean equal bodies in equal codings
     */
    compress: (key: string, encoding: Encoding, body: Buffer): Promise<Buffer> =>
      cache.forceFetch(key, { context: { encoding, body } }),
  }
}

// Levels by measurement: the next ones take twice the time for two percent fewer bytes
// (docs/experiments/README.md).
const BROTLI_QUALITY = 2
const LEVEL = 3
/**
 * The window of brotli, as the exponent of its bytes. It is larger than almost every page, and
 * takes a thirtieth of the memory of brotli's default.
 */
const BROTLI_WINDOW = 17

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

/** @param window of brotli, as the exponent of its bytes */
export const compressors = (
  quality: number,
  level: number,
  window: number,
): Record<Encoding, (body: Buffer) => Promise<Buffer>> => ({
  br: body =>
    compressBrotli(body, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: quality,
        [constants.BROTLI_PARAM_LGWIN]: window,
        [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
      },
    }),
  gzip: body => compressGzip(body, { level }),
})

const COMPRESS = compressors(BROTLI_QUALITY, LEVEL, BROTLI_WINDOW)

/** A content coding in which answers are sent. */
type Encoding = 'br' | 'gzip'

/**
 * The coding that a client wants most by its `Accept-Encoding` (RFC 9110 §12.5.3); null: none. When
 * several are wanted equally, br comes first, then gzip: browsers give all the same weight.
 */
export function encodingFor(header: string | undefined): Encoding | null {
  if (header === undefined) return null
  const weights = readWeights(header)
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*')
  // The plain form need not be named. It then counts as much as the least wanted coding.
  const plain = weightOf('identity') ?? Math.min(1, ...[...weights.values()].filter(q => q > 0))
  const [br, gzip] = [weightOf('br') ?? 0, weightOf('gzip') ?? 0]
  const best = Math.max(br, gzip)
  if (best === 0 || best < plain) return null
  return br === best ? 'br' : 'gzip'
}

/** Most codings of the header that are read. */
const MOST = 32

function readWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const item of header.toLowerCase().split(',', MOST)) {
    const [name = '', ...parameters] = item.split(';')
    const q = /^\s*q\s*=\s*(\d(?:\.\d*)?|\.\d+)\s*$/.exec(parameters.at(-1) ?? '')?.[1]
    if (!weights.has(name.trim())) weights.set(name.trim(), Number(q ?? 1))
  }
  return weights
}
