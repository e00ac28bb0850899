import { pipeline, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { RequestFailure } from './request-failure.ts'

/*
 * undici's own `decompress` interceptor takes zstd windows of any size, and refuses raw deflate and
 * bodies that were never compressed (`docs/experiments/README.md`).
 */

/**
 * The compression of a body. "deflate" is zlib by the standard; some servers send raw deflate.
 */
type Form = 'gzip' | 'deflate' | 'raw deflate' | 'br' | 'zstd'

/** Limits the window to 8 MB (RFC 9659 §3). The library's own limit is 128 MB. */
const ZSTD = { params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } }

const DECOMPRESSORS: Record<Form, () => Transform> = {
  gzip: () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  'raw deflate': () => zlib.createInflateRaw(),
  br: () => zlib.createBrotliDecompress(),
  zstd: () => zlib.createZstdDecompress(ZSTD),
}

/**
 * The codings of a Content-Encoding (RFC 9110 §8.4) that we can undo, at most two. The one to undo
 * first comes first.
 */
export function codingsOf(contentEncoding: string): string[] {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map(coding => coding.trim().replace(/^x-/, ''))
    .filter(coding => ['gzip', 'deflate', 'br', 'zstd'].includes(coding))
  if (codings.length > 2) throw new RequestFailure('protocol', `compressed too often: ${contentEncoding.slice(0, 60)}`)
  return codings.reverse()
}

/** Decompresses a body piece by piece. A body that was never compressed stays as it is. */
export function decompressing(body: AsyncIterable<Buffer>, codings: string[]): AsyncIterable<Buffer> {
  return codings.reduce(undoing, body)
}

const gunzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip)

/** Decompresses a file that is itself compressed (`sitemap.xml.gz`). Headers do not count. */
export async function gunzipFile(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  if (!isGzip(bytes)) return bytes
  try {
    return await gunzip(bytes, { maxOutputLength: maxBytes })
  } catch (error) {
    if (error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(maxBytes)
    throw new RequestFailure('cut', 'the gzip body is damaged or cut short', error)
  }
}

export const tooLarge = (maxBytes: number) =>
  new RequestFailure('too-large', `more than ${maxBytes} bytes; see CRAWL_MAX_BYTES`)

async function* undoing(body: AsyncIterable<Buffer>, coding: string): AsyncIterable<Buffer> {
  const pieces = body[Symbol.asyncIterator]()
  let start = Buffer.alloc(0)
  while (start.length < MAGIC_LENGTH) {
    const { done, value } = await pieces.next()
    if (done) break
    start = Buffer.concat([start, value])
  }
  async function* whole() {
    yield start
    yield* { [Symbol.asyncIterator]: () => pieces }
  }
  const form = formOf(coding, start)
  if (form === null) return yield* whole()
  // The pipeline's errors also reach the reader of the stream, so the callback ignores them.
  yield* pipeline(whole, DECOMPRESSORS[form](), () => {})
}

/** The form of a body, told from its beginning. Null: it was never compressed. */
function formOf(coding: string, start: Buffer): Form | null {
  if (start.length === 0) return null
  if (coding === 'gzip') return isGzip(start) ? 'gzip' : null
  if (coding === 'zstd') return start.length >= MAGIC_LENGTH && start.readUInt32LE(0) === ZSTD_MAGIC ? 'zstd' : null
  if (coding === 'br') return 'br'
  const isZlib = ((start[0] ?? 0) & 0x0f) === ZLIB && ((start[0] ?? 0) * 256 + (start[1] ?? 0)) % 31 === 0
  return isZlib ? 'deflate' : 'raw deflate'
}

/** The compression method in the first byte of a zlib stream (RFC 1950 §2.2). */
const ZLIB = 8
const ZSTD_MAGIC = 0xfd2fb528
const MAGIC_LENGTH = 4
const isGzip = (bytes: Buffer) => bytes[0] === 0x1f && bytes[1] === 0x8b
