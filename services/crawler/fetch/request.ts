import { isUtf8 } from 'node:buffer'
import { addAbortSignal, type Duplex } from 'node:stream'
import { type buildConnector, Client } from 'undici'
import { parseJson } from '#shared/encoding/json'
import { type RightsHeaders, rightsHeaders } from '#shared/outlets/rights'
import { codingsOf, decompressing, tooLarge } from './compression.ts'
import { getLeniently, type Leniency } from './lenient.ts'
import { asFailure, RequestFailure } from './request-failure.ts'

/*
 * One GET to a foreign server, which is not trusted: time, bytes, pieces and length are limited,
 * and a body that is shorter than announced is a failure.
 */

/** A complete answer. */
export interface FetchedResponse {
  status: number
  /** Names in lower case. Repeated headers are joined by a comma. */
  headers: Record<string, string>
  /** The Set-Cookie headers, not joined, because they may hold commas. */
  cookies: string[]
  /** The headers that state rights. They are not joined, because each may be for another agent. */
  rights: RightsHeaders | null
  /** Decompressed. Empty unless the status is 2xx, because other bodies are not read. */
  body: Buffer
  /**
   * False: the answer has no length, and its body may have been cut. Over HTTP/1 such a body ends
   * with the connection. Over HTTP/2 undici cannot tell a cancelled stream from a complete one.
   */
  framed: boolean
}

interface RequestLimits {
  /** ms for the whole request. */
  timeout: number
  /** Bytes, before and after decompression. */
  maxBytes: number
  /** Whether a longer body is cut at `maxBytes` instead of refused. */
  cut?: boolean
  /** Aborts the request. */
  signal: AbortSignal
  /** Counts the bytes of the body as they arrive, even if the request fails later. */
  read?: { bytes: number }
  /** Called between the connection and the request. If it returns false, the request ends. */
  wanted: () => boolean
  /** Reads the answer with the second reader, `lenient.ts`. By default, the strict one reads it. */
  leniency?: Leniency | undefined
}

/**
 * Makes one GET on a connection of its own. At one request a second, a server would often close a
 * kept connection. Never follows redirects.
 *
 * @throws RequestFailure
 */
export async function request(
  url: URL,
  headers: Record<string, string>,
  connect: buildConnector.connector,
  limits: RequestLimits,
): Promise<FetchedResponse> {
  const tooMuch = new AbortController()
  const signal = AbortSignal.any([
    limits.signal,
    AbortSignal.timeout(limits.timeout),
    tooMuch.signal,
  ])
  let received = () => 0
  const { read = { bytes: 0 } } = limits
  let isHttp2 = false
  // Interim answers and chunk extensions do not count as body, and a server could send them for
  // ever.
  const watch = setInterval(() => {
    if (received() > 2 * read.bytes + FRAMING) tooMuch.abort()
  }, 50)
  const guarded: buildConnector.connector = (options, callback) => {
    connect(options, (...result) => {
      const [error, socket] = result
      if (error === null) {
        received = () => socket.bytesRead
        isHttp2 = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2'
      }
      if (error !== null || limits.wanted()) return callback(...result)
      socket.destroy()
      callback(new RequestFailure('aborted', 'another crawler has the permit now'), null)
    })
  }
  const client = new Client(url.origin, {
    connect: guarded,
    pipelining: 0,
    headersTimeout: limits.timeout,
    bodyTimeout: limits.timeout,
    maxHeaderSize: 65_536,
  })
  const sent = { ...headers, 'accept-encoding': 'gzip, deflate, br, zstd' }
  let socket: Duplex | undefined
  let hasBegun = false
  try {
    if (limits.leniency !== undefined) {
      socket = await connectAlone(url, guarded, signal)
      if (isHttp2) {
        // HTTP/2 has frames, and nothing to be lenient about.
        limits.leniency.end(url.host)
        return await request(url, headers, connect, { ...limits, leniency: undefined })
      }
    }
    const response =
      socket === undefined
        ? await client.request({
            method: 'GET',
            path: url.pathname + url.search,
            headers: sent,
            signal,
          })
        : await getLeniently(socket, url, sent)
    hasBegun = true
    const answer = {
      status: response.statusCode,
      headers: flatten(response.headers),
      cookies: [response.headers['set-cookie'] ?? []].flat(),
      rights: rightsHeaders(response.headers),
      body: Buffer.alloc(0),
      framed:
        'content-length' in response.headers ||
        (!isHttp2 && 'transfer-encoding' in response.headers),
    }
    if (answer.status < 200 || answer.status > 299) return answer
    const pieces = inFewPieces(response.body, read, limits)
    const codings = codingsOf(answer.headers['content-encoding'] ?? '')
    const body = await readBody(decompressing(pieces, codings, limits.maxBytes), limits)
    refuseShort(url, { ...answer, body }, read.bytes, limits)
    return { ...answer, body }
  } catch (error) {
    if (limits.signal.aborted) throw new RequestFailure('aborted', 'the request was aborted', error)
    if (tooMuch.signal.aborted) throw tooLarge(limits.maxBytes)
    if (signal.aborted) throw new RequestFailure('time-out', 'no complete answer in time', error)
    throw hasBegun ? cutShort(asFailure(error)) : asFailure(error)
  } finally {
    clearInterval(watch)
    socket?.destroy()
    // Ends the remaining work, such as reading the body of an error.
    await client.destroy().catch(() => {})
  }
}

/** Some servers announce more than they send, and then close the connection. */
const cutShort = (failure: RequestFailure) =>
  failure.kind === 'connection'
    ? new RequestFailure('cut', `the answer was cut short: ${failure.message}`, failure)
    : failure

/**
 * Bytes that one answer may have beyond twice its body, for headers, TLS and the sizes of chunks.
 */
const FRAMING = 1_000_000

/** Makes a connection for one lenient answer. The signal also ends the connection. */
const connectAlone = (
  { host, hostname, protocol, port }: URL,
  connect: buildConnector.connector,
  signal: AbortSignal,
): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    connect({ host, hostname, protocol, port }, (...[error, socket]) => {
      if (error === null) resolve(addAbortSignal(signal, socket))
      else reject(error)
    })
  })

/** Whether a page or a feed has its last tag. */
export const hasEnd = (body: Buffer): boolean =>
  /<\/(?:html|rss|feed|rdf:rdf|urlset|sitemapindex)\s*>/i.test(
    body.subarray(-4_096).toString('latin1').replaceAll('\0', ''),
  )

/** Elements that a page or a feed has to close. */
const CONTAINERS =
  /<(\/?)(?:article|main|section|div|table|ul|ol|script|style|rss|channel|item|feed|entry|urlset|url)\b/gi

/**
 * Whether a body stops in the middle: in a tag or a text, in an open element, in JSON, or in a
 * line. A server that breaks off at the same byte each time sends the same bytes, so equal tries
 * alone do not show that a body is whole.
 */
function breaksOff(body: Buffer): boolean {
  const text = body.toString('latin1').replaceAll('\0', '').trimStart()
  if (/^[{[]/.test(text)) return parseJson(text) === undefined
  if (!/^(?:\xef\xbb\xbf)?</.test(text)) return !/[\r\n]$/.test(text)
  if (!text.trimEnd().endsWith('>')) return true
  let open = 0
  for (const [, closing] of text.matchAll(CONTAINERS)) open += closing === '' ? 1 : -1
  return open > 0
}

/**
 * Refuses a body that is shorter than announced. undici itself compares the lengths only over
 * HTTP/1. When the answer is read leniently, a body is accepted that is whole in spite of its
 * length.
 *
 * @param sent bytes that came, before decompression
 */
function refuseShort(
  url: URL,
  { headers, body }: FetchedResponse,
  sent: number,
  { cut, maxBytes, leniency }: RequestLimits,
): void {
  if (cut && body.length >= maxBytes) return
  const wanted = Number(headers['content-length'] ?? sent)
  // A body that was cut cannot be decompressed.
  const isUnpacked = body.length !== sent
  const isWhole = () =>
    isUnpacked || hasEnd(body) || (leniency?.isRepeated(url, body) && !breaksOff(body))
  if (sent < wanted && (leniency === undefined || !isWhole()))
    throw new RequestFailure('cut', `the answer was cut short at ${sent} of ${wanted} bytes`)
}

/**
 * The first `FREE_PIECES` pieces of a body may be of any size. For each further piece, the body
 * must have at least `USUAL_PIECE` bytes.
 */
const FREE_PIECES = 20_000
const USUAL_PIECE = 64

/**
 * Passes on the pieces of a body, and refuses a body in too many small pieces. Each piece costs
 * time and memory of its own, so megabytes in frames of one byte would take seconds and hundreds of
 * megabytes. Bytes that wait in the stream come as one piece.
 *
 * @param read counts the bytes
 */
async function* inFewPieces(
  body: AsyncIterable<Buffer>,
  read: { bytes: number },
  { maxBytes, cut }: RequestLimits,
) {
  let pieces = 0
  for await (const piece of body) {
    pieces += 1
    read.bytes += piece.length
    if (read.bytes > maxBytes && !cut) throw tooLarge(maxBytes)
    if (pieces > FREE_PIECES + read.bytes / USUAL_PIECE) {
      throw new RequestFailure(
        'protocol',
        `the answer comes in too many small pieces: ${pieces} of ${read.bytes} bytes`,
      )
    }
    yield piece
  }
}

/**
 * Reads a whole body. A body beyond `maxBytes` is refused. With `cut` it is cut
 * there, and the remaining bytes are not awaited.
 */
async function readBody(
  body: AsyncIterable<Buffer>,
  { maxBytes, cut }: RequestLimits,
): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of body) {
    if (length + piece.length > maxBytes && !cut) throw tooLarge(maxBytes)
    pieces.push(piece.subarray(0, maxBytes - length))
    length += piece.length
    if (cut && length >= maxBytes) break
  }
  return Buffer.concat(pieces)
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined)
      flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  // Some servers write UTF-8 into Location, against the standard, and browsers accept it. undici
  // gives us each byte as a character.
  const location = Buffer.from(flat.location ?? '', 'latin1')
  return isUtf8(location) && 'location' in flat
    ? { ...flat, location: location.toString('utf8') }
    : flat
}

/**
 * The validators of an answer (RFC 9110 §13.1). The next request sends them back, so that the
 * server need not send an unchanged document again.
 */
export interface Validators {
  etag: string | null
  lastModified: string | null
}

export const NO_VALIDATORS: Validators = { etag: null, lastModified: null }

/**
 * Long headers are cut. A cut header never matches, so the server only sends the document again.
 */
export const validatorsOf = ({ headers }: Pick<FetchedResponse, 'headers'>): Validators => ({
  etag: headers.etag?.slice(0, 1_000) ?? null,
  lastModified: headers['last-modified']?.slice(0, 100) ?? null,
})

/** The headers of a conditional request. */
export const conditions = ({ etag, lastModified }: Validators): Record<string, string> => ({
  ...(etag === null ? {} : { 'if-none-match': etag }),
  ...(lastModified === null ? {} : { 'if-modified-since': lastModified }),
})
