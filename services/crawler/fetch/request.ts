import { isUtf8 } from 'node:buffer'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib'
import { type buildConnector, Client } from 'undici'
import { asFailure, RequestFailure } from './failure.ts'

/** A whole answer. */
export interface Answer {
  status: number
  /** Lower-case names; repeated headers joined by a comma. */
  headers: Record<string, string>
  /** Decompressed. Read of a success only: of all else the status and the headers say enough. */
  body: Buffer
  /** False: only the end of the connection ended the body, so that a cut cannot be seen from HTTP alone. */
  framed: boolean
}

export interface RequestLimits {
  /** ms, all in all. */
  timeout: number
  /** Bytes, before and after decompression. */
  maxBytes: number
  /** Ends the request early. */
  signal: AbortSignal
  /** Asked once more between the connection and the request: whether this request is still wanted. */
  wanted: () => boolean
}

/**
 * One GET on a connection of its own (at one request a second, keeping it would only bring the trouble of connections
 * that the other side has closed). Never follows redirects, never sends cookies.
 *
 * @throws RequestFailure
 */
export async function request(
  url: URL,
  headers: Record<string, string>,
  connect: buildConnector.connector,
  limits: RequestLimits,
): Promise<Answer> {
  const signal = AbortSignal.any([limits.signal, AbortSignal.timeout(limits.timeout)])
  const guarded: buildConnector.connector = (options, callback) => {
    connect(options, (...result) => {
      if (result[0] !== null || limits.wanted()) return callback(...result)
      result[1].destroy()
      callback(new RequestFailure('aborted', 'another has the turn now'), null)
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
    const sent = await readBody(response.body, limits.maxBytes)
    return { ...answer, body: await decompress(sent, answer.headers['content-encoding'] ?? '', limits.maxBytes) }
  } catch (error) {
    if (limits.signal.aborted) throw new RequestFailure('aborted', 'the request was given up', error)
    if (signal.aborted) throw new RequestFailure('time-out', 'no whole answer in time', error)
    throw asFailure(error)
  } finally {
    // Whatever is still under way (the body of an error) ends with its connection.
    await client.destroy().catch(() => {})
  }
}

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

const unzip = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  rawDeflate: promisify(inflateRaw),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
}

/** Undoes Content-Encoding (RFC 9110 §8.4), at most two layers. A body that was never compressed is taken as it is. */
async function decompress(body: Buffer, contentEncoding: string, maxBytes: number): Promise<Buffer> {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map(coding => coding.trim().replace(/^x-/, ''))
    .filter(coding => ['gzip', 'deflate', 'br', 'zstd'].includes(coding))
  if (codings.length > 2) throw new RequestFailure('protocol', `compressed too often: ${contentEncoding.slice(0, 60)}`)
  let bytes = body
  for (const coding of codings.reverse()) bytes = await undo(coding, bytes, maxBytes)
  return bytes
}

async function undo(coding: string, bytes: Buffer, maxBytes: number): Promise<Buffer> {
  const limit = { maxOutputLength: maxBytes }
  try {
    if (bytes.length === 0) return bytes
    if (coding === 'gzip') return isGzip(bytes) ? await unzip.gzip(bytes, limit) : bytes
    if (coding === 'br') return await unzip.br(bytes, limit)
    if (coding === 'zstd') return bytes.readUInt32LE(0) === ZSTD_MAGIC ? await unzip.zstd(bytes, limit) : bytes
    // "deflate" is zlib by the standard and raw deflate by some servers.
    const zlib = ((bytes[0] ?? 0) & 0x0f) === ZLIB && ((bytes[0] ?? 0) * 256 + (bytes[1] ?? 0)) % 31 === 0
    return await (zlib ? unzip.deflate(bytes, limit) : unzip.rawDeflate(bytes, limit))
  } catch (error) {
    if (error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(maxBytes)
    throw new RequestFailure('cut', `the ${coding} body is damaged or cut short`, error)
  }
}

/** The compression method in the first byte of a zlib stream (RFC 1950 §2.2). */
const ZLIB = 8
const ZSTD_MAGIC = 0xfd2fb528
const isGzip = (bytes: Buffer) => bytes[0] === 0x1f && bytes[1] === 0x8b

/** A file that is itself compressed (`sitemap.xml.gz`), whatever its headers say. */
export async function gunzipFile(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  return isGzip(bytes) ? undo('gzip', bytes, maxBytes) : bytes
}

const tooLarge = (maxBytes: number) =>
  new RequestFailure('too-large', `more than ${maxBytes} bytes; see CRAWL_MAX_BYTES`)

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  // Servers write UTF-8 into it, against the standard, and browsers read it so; headers arrive byte for byte.
  const location = Buffer.from(flat.location ?? '', 'latin1')
  return isUtf8(location) && 'location' in flat ? { ...flat, location: location.toString('utf8') } : flat
}
