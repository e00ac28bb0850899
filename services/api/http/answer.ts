import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { LRUCache } from 'lru-cache'
import { ArchiveFailure } from '#search/archive/client'
import { NoPermit } from '#services/api/access/permits'
import { ApiError, invalid } from '#services/api/contract/errors'
import { RETRY_UNAVAILABLE, type SearchMode } from '#services/api/contract/parameters'
import { DeskRefusal } from '#shared/desk/feeds'
import type { Logger } from '#shared/log/logger'
import { isTransient } from '#shared/postgres/pool'
import { CircuitOpen } from '#shared/resilience/circuit'
import { createSemaphore } from '#shared/resilience/semaphore'
import { boundLines, isAnybodys } from './observe.ts'

/*
 * Almost every answer leaves through this file, which adds its ETag and its compression, or makes
 * it an error. Operations return content and know nothing of HTTP. Equal bodies are compressed
 * once, because many clients poll the same pages.
 */

/** A successful answer, without headers and status. */
export interface Content<Body = Buffer> {
  contentType: string
  /** All of the answer except `untagged`; the ETag is its hash. */
  tagged: string
  /** The ETag, where the caller knows it already. */
  etag?: string
  /** Makes the part of the body that the ETag does not cover, as the cursor (decision 8). */
  untagged(): string
  /** Makes the body. A 304 needs none. */
  body(untagged: string): Body
}

/** A body that may take turns with the work of other keys while it is made. */
export type TurnedBody = Buffer | Promise<Buffer>

/** A successful answer of an operation that searches. */
export interface Answer<Body = Buffer> extends Content<Body> {
  search: SearchMode
  /** ms that the search took. */
  searchMs: number
  /** Whether nothing was found. */
  isEmpty: boolean
}

/** A weak ETag (RFC 9110 §8.8.3), equal in every process. */
export const etagOf = ({ tagged }: { tagged: string | Buffer }): string =>
  `W/"${hash('sha256', tagged, 'base64url').slice(0, 27)}"`

/** An answer in JSON about something that was found. */
export const jsonAnswer = (body: string, search: SearchMode = 'keyword', searchMs = 0): Answer => ({
  ...jsonContent(body),
  search,
  searchMs,
  isEmpty: false,
})

/** An answer in JSON whose ETag covers its whole body. */
export const jsonContent = (body: string): Content => ({
  contentType: 'application/json; charset=utf-8',
  tagged: body,
  untagged: () => '',
  body: () => Buffer.from(body),
})

/**
 * Sends an answer, or 304 when the client has it (decision 8).
 * @param beforeHeaders runs just before the headers go out; an error that it throws is sent instead
 * of the answer
 */
export type Sender = (
  request: Request,
  response: Response,
  answer: Content<TurnedBody>,
  beforeHeaders: () => Promise<void>,
) => Promise<undefined>

/** @param limit most bytes of compressed answers in memory */
export function createSender(limit: number): Sender {
  const compressor = createCompressor(limit)
  return async (request, response, answer, beforeHeaders) => {
    const etag = answer.etag ?? etagOf(answer)
    const known = matchesEtag(request.headers['if-none-match'], etag)
    const sent = known ? null : await bodyFor(request, answer, etag, compressor)
    await beforeHeaders()
    response.setHeader('Vary', varying(response.getHeader('Vary')))
    response.setHeader('Cache-Control', 'private, no-cache')
    response.setHeader('ETag', etag)
    if (sent === null) return void response.status(304).end()
    response.setHeader('Content-Type', answer.contentType)
    if (sent.encoding !== null) response.setHeader('Content-Encoding', sent.encoding)
    if (sent.isLengthKnown) response.setHeader('Content-Length', sent.bytes.length)
    else response.removeHeader('Content-Length') // Node would add the header by itself
    // For HEAD, Node sends the headers without the body.
    response.status(200).end(sent.bytes)
  }
}

interface Body {
  bytes: Buffer
  encoding: Encoding | null
  /**
   * A compressed answer has no `Content-Length`. A HEAD has none either, where GET may be
   * compressed.
   */
  isLengthKnown: boolean
}

/** Bytes. Smaller bodies are not compressed. */
const SMALL = 1_024

async function bodyFor(
  request: Request,
  answer: Content<TurnedBody>,
  etag: string,
  compressor: Compressor,
): Promise<Body> {
  const encoding = encodingFor(request.headers['accept-encoding'])
  if (encoding === null)
    return { bytes: await answer.body(answer.untagged()), encoding, isLengthKnown: true }
  // HEAD needs no body, so none is made. Without a body, the length of its compressed form is
  // unknown, so no length is sent (RFC 9110 §8.6).
  if (request.method === 'HEAD') return { bytes: NOTHING, encoding: null, isLengthKnown: false }
  const untagged = answer.untagged()
  const key = `${encoding} ${etag} ${untagged}`
  const kept = compressor.kept(key)
  if (kept !== undefined) return { bytes: kept, encoding, isLengthKnown: false }
  const bytes = await answer.body(untagged)
  if (bytes.length < SMALL) return { bytes, encoding: null, isLengthKnown: true }
  return { bytes: await compressor.compress(key, encoding, bytes), encoding, isLengthKnown: false }
}

const NOTHING = Buffer.alloc(0)

/** Sends a text that each request makes anew, without an ETag. */
export async function sendOnce(
  request: Request,
  response: Response,
  contentType: string,
  text: string,
): Promise<void> {
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
  return (_request, _response, next) =>
    next(new ApiError('method_not_allowed', { headers: { Allow: methods } }))
}

export const refusePath: RequestHandler = (_request, _response, next) => {
  next(new ApiError('not_found'))
}

/**
 * Converts a thrown value into the error for the client: an `ApiError` stays itself, a refusal of
 * the desk becomes one, and any other value is an internal error.
 */
function errorOf(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof DeskRefusal) {
    const { code, message } = thrown
    return code === 'invalid_request' ? invalid('name', message) : new ApiError(code, { message })
  }
  // Postgres is away, or its disk is full; or the archive index does not answer.
  const headers = { 'Retry-After': String(RETRY_UNAVAILABLE) }
  const isAway = [ArchiveFailure, CircuitOpen].some(kind => thrown instanceof kind)
  if (isAway || isTransient(thrown))
    return new ApiError('service_unavailable', { headers, cause: thrown })
  return new ApiError('internal_error', { cause: thrown })
}

/**
 * Converts a thrown value into an error for the client, and records it for the log and the metrics.
 */
export type NoteError = (thrown: unknown, response: Response) => ApiError

export function notesOf(log: Logger): NoteError {
  const isWritten = boundLines(log)
  return (thrown, response) => {
    const error = errorOf(thrown)
    response.locals.errorCode = error.code
    // A client that left while it waited for a permit is no failure.
    const hasLeft = error.cause instanceof NoPermit && response.destroyed
    // While Postgres is away, each request without a key fails. We log only some of these failures.
    if (error.status >= 500 && !hasLeft && (!isAnybodys(response) || isWritten())) {
      const cause = error.cause instanceof Error ? error.cause : error
      const { message, stack } = cause
      const err = { message, stack, code: 'code' in cause ? cause.code : undefined }
      log.error({ request: response.locals.requestId, code: error.code, err }, 'request failed')
    }
    return error
  }
}

/** Sends an error as the contract's object. */
export function sendError(note: NoteError): ErrorRequestHandler {
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
    const { code, message, errors } = error
    // The error object of the contract. Operations beside the contract have further codes.
    response.json({ status: 'error', code, message, errors })
  }
}

interface Compressor {
  kept(key: string): Buffer | undefined
  /**
   * Compresses a body once for equal keys, also for keys that are asked at the same time.
   * @param key equal keys mean equal bodies in equal codings
   */
  compress(key: string, encoding: Encoding, body: Buffer): Promise<Buffer>
}

/**
 * The most bodies that are compressed at once: Node has as many threads for this work. More bodies
 * would only take memory.
 */
const AT_ONCE = 4
/** Bytes of an entry without its key and body. */
const ENTRY_BYTES = 400

/**
 * Compresses bodies and keeps the results, because many clients poll the same pages.
 *
 * @param limit most bytes of the results in memory
 */
export function createCompressor(limit: number): Compressor {
  const permits = createSemaphore(AT_ONCE)
  const cache = new LRUCache<string, Buffer, { encoding: Encoding; body: Buffer }>({
    maxSize: limit,
    sizeCalculation: (small, key) => small.length + 2 * key.length + ENTRY_BYTES,
    fetchMethod: (_key, _stale, { context: { encoding, body } }) =>
      permits.run(() => COMPRESS[encoding](body)),
    ignoreFetchAbort: true,
  })
  return {
    kept: key => cache.get(key),
    compress: (key, encoding, body) => cache.forceFetch(key, { context: { encoding, body } }),
  }
}

// Levels by measurement: the next levels take twice the time for two percent fewer bytes
// (docs/experiments/README.md).
const BROTLI_QUALITY = 2
const LEVEL = 3
/**
 * The window of brotli, as the exponent of its bytes. It is larger than almost every page, and
 * takes much less memory than brotli's default.
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
 * The coding that a client prefers by its `Accept-Encoding` (RFC 9110 §12.5.3); null: no coding. Of
 * codings with equal weights br comes first, then gzip, because browsers give all the same weight.
 */
export function encodingFor(header: string | undefined): Encoding | null {
  if (header === undefined) return null
  const weights = readWeights(header)
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*')
  // A client that does not name the plain form accepts it like its least wanted coding.
  const plain = weightOf('identity') ?? Math.min(1, ...[...weights.values()].filter(q => q > 0))
  const br = weightOf('br') ?? 0
  const gzip = weightOf('gzip') ?? 0
  const best = Math.max(br, gzip)
  if (best === 0 || best < plain) return null
  return br === best ? 'br' : 'gzip'
}

/** The most codings of the header that are read. */
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
