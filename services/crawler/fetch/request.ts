import { isUtf8 } from 'node:buffer'
import { type buildConnector, Client } from 'undici'
import { codingsOf, decompress, decompressing, tooLarge } from './compression.ts'
import { asFailure, RequestFailure } from './request-failure.ts'

/** A whole answer. */
export interface FetchedResponse {
  status: number
  /** Lower-case names; repeated headers joined by a comma. */
  headers: Record<string, string>
  /** Decompressed. Read of a success only: of all else the status and the headers say enough. */
  body: Buffer
  /**
   * False: only the end of the connection ended the body, so that a cut cannot be seen from HTTP
   * alone.
   */
  framed: boolean
}

export interface RequestLimits {
  /** ms, all in all. */
  timeout: number
  /** Bytes, before and after decompression. */
  maxBytes: number
  /** What is longer is cut at `maxBytes` instead of refused. */
  cut?: boolean
  /** Ends the request early. */
  signal: AbortSignal
  /**
   * Asked once more between the connection and the request: whether this request is still wanted.
   */
  wanted: () => boolean
}

/**
 * One GET on a connection of its own (at one request a second, keeping it would only bring the
 * trouble of connections that the other side has closed). Never follows redirects, never sends
 * cookies.
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
  const signal = AbortSignal.any([limits.signal, AbortSignal.timeout(limits.timeout), tooMuch.signal])
  let received = () => 0
  // Interim answers and extensions of chunks are no part of the body, and may go on for ever.
  const watch = setInterval(() => {
    if (received() > 2 * limits.maxBytes + FRAMING) tooMuch.abort()
  }, 50)
  const guarded: buildConnector.connector = (options, callback) => {
    connect(options, (...result) => {
      const [error, socket] = result
      if (error === null) received = () => socket.bytesRead
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
  try {
    const response = await client.request({
      method: 'GET',
      path: url.pathname + url.search,
      headers: { ...headers, 'accept-encoding': 'gzip, deflate, br, zstd' },
      signal,
    })
    const answer = {
      status: response.statusCode,
      headers: flatten(response.headers),
      body: Buffer.alloc(0),
      framed: 'content-length' in response.headers || 'transfer-encoding' in response.headers,
    }
    if (answer.status < 200 || answer.status > 299) return answer
    const codings = codingsOf(answer.headers['content-encoding'] ?? '')
    if (limits.cut)
      return { ...answer, body: await readBeginning(decompressing(response.body, codings), limits.maxBytes) }
    const sent = await readBody(response.body, limits.maxBytes)
    return { ...answer, body: await decompress(sent, codings, limits.maxBytes) }
  } catch (error) {
    if (limits.signal.aborted) throw new RequestFailure('aborted', 'the request was given up', error)
    if (tooMuch.signal.aborted) throw tooLarge(limits.maxBytes)
    if (signal.aborted) throw new RequestFailure('time-out', 'no whole answer in time', error)
    throw asFailure(error)
  } finally {
    clearInterval(watch)
    // Whatever is still under way (the body of an error) ends with its connection.
    await client.destroy().catch(() => {})
  }
}

/**
 * Bytes of one answer that are neither body nor counted with it: headers, TLS, the sizes of chunks.
 */
const FRAMING = 1_000_000

async function readBody(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}

/** What comes behind the first `maxBytes` is never waited for. */
async function readBeginning(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    chunks.push(chunk)
    if (length >= maxBytes) break
  }
  return Buffer.concat(chunks, Math.min(length, maxBytes))
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  // Servers write UTF-8 into it, against the standard, and browsers read it so; headers arrive byte
  // for byte.
  const location = Buffer.from(flat.location ?? '', 'latin1')
  return isUtf8(location) && 'location' in flat ? { ...flat, location: location.toString('utf8') } : flat
}
