import { pipeline, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { RequestFailure } from './request-failure.ts'

/*
 * We do not use undici's `decompress` interceptor. It accepts zstd windows of any size, and refuses
 * raw deflate and uncompressed bodies (`docs/experiments/README.md`).
 */

/** The compression of a body. By the standard, "deflate" is zlib; some servers send raw deflate. */
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
 * The codings of a Content-Encoding (RFC 9110 §8.4) that we can undo, at most two, in the order in
 * which they are undone.
 */
export function codingsOf(contentEncoding: string): string[] {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map(coding => coding.trim().replace(/^x-/, ''))
    .filter(coding => ['gzip', 'deflate', 'br', 'zstd'].includes(coding))
  if (codings.length > 2)
    throw new RequestFailure('protocol', `compressed too often: ${contentEncoding.slice(0, 60)}`)
  return codings.reverse()
}

/**
 * Decompresses a body piece by piece. A body that was never compressed stays as it is.
 *
 * @param maxBytes most bytes of the decompressed text. A compressed form of more than about twice
 * as many bytes is refused.
 */
export const decompressing = (
  body: AsyncIterable<Buffer>,
  codings: string[],
  maxBytes: number,
): AsyncIterable<Buffer<ArrayBufferLike>> =>
  codings.reduce((coded, coding) => undoing(coded, coding, maxBytes), body)

const gunzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip)

/** Decompresses a file that is itself compressed (`sitemap.xml.gz`), whatever the headers say. */
export async function gunzipFile(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  if (!isGzip(bytes)) return bytes
  try {
    return await gunzip(bytes, { maxOutputLength: maxBytes })
  } catch (error) {
    if (hasBytesBehind(error)) return await membersOf(bytes, maxBytes)
    if (error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(maxBytes)
    throw new RequestFailure('cut', 'the gzip body is damaged or cut short', error)
  }
}

export const tooLarge = (maxBytes: number): RequestFailure =>
  new RequestFailure('too-large', `more than ${maxBytes} bytes; see CRAWL_MAX_BYTES`)

/**
 * Bytes that a compressed body may have beyond twice the limit of its text, because the stream
 * reads ahead.
 */
const READ_AHEAD = 262_144

async function* undoing(
  body: AsyncIterable<Buffer>,
  coding: string,
  maxBytes: number,
): AsyncIterable<Buffer> {
  const pieces = body[Symbol.asyncIterator]()
  let taken = 0
  // A compressed body can be endless and hold no text, only empty blocks. So its own bytes are
  // limited, too.
  const take = async (): Promise<Buffer | undefined> => {
    const { done, value } = await pieces.next()
    if (done) return undefined
    taken += value.length
    if (taken > 2 * maxBytes + READ_AHEAD) throw tooLarge(maxBytes)
    return value
  }
  let start = Buffer.alloc(0)
  while (start.length < BEGINNING) {
    const piece = await take()
    if (piece === undefined) break
    start = Buffer.concat([start, piece])
  }
  const read: Buffer[] = []
  async function* whole() {
    for (let piece: Buffer | undefined = start; piece !== undefined; piece = await take()) {
      read.push(piece)
      yield piece
    }
  }
  const form = formOf(coding, start)
  if (form === null) return yield* whole()
  let told = 0
  try {
    // The pipeline's errors also reach the reader of the stream, so the callback ignores them.
    for await (const piece of pipeline(whole, DECOMPRESSORS[form](), () => {})) {
      told += piece.length
      yield piece
    }
  } catch (error) {
    if (form !== 'gzip' || !hasBytesBehind(error)) throw error
    // With the error, the stream has lost its last output: less than one buffer of 64 kB. So this
    // part is decompressed again.
    yield (await membersOf(Buffer.concat(read), told + 65_536)).subarray(told)
    while ((await take()) !== undefined);
  }
}

/**
 * Whether the error says that a gzip stream is followed by bytes that are not gzip. Browsers and
 * curl ignore such bytes.
 */
const hasBytesBehind = (error: unknown) =>
  error instanceof Error && error.message === 'incorrect header check'

/** The text of the gzip members (RFC 1952 §2.2) at the beginning of a body. */
async function membersOf(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  let members = 0
  for (let rest = bytes; isGzip(rest); ) {
    members += 1
    if (members > MOST_MEMBERS)
      throw new RequestFailure('protocol', `more than ${MOST_MEMBERS} gzip members`)
    const data = rest.subarray(headerLength(rest))
    const inflate = zlib.createInflateRaw()
    inflate.end(data)
    for await (const piece of inflate) {
      pieces.push(piece)
      length += piece.length
      if (length > maxBytes) throw tooLarge(maxBytes)
    }
    rest = data.subarray(inflate.bytesWritten + TRAILER)
  }
  return Buffer.concat(pieces)
}

/** The most gzip members in a body. Each member needs a stream of its own, even if it is short. */
const MOST_MEMBERS = 1_000
/** Bytes after the data of a member: its checksum and length. */
const TRAILER = 8

/** The length of a member's header: ten bytes, and the fields that its flags announce. */
function headerLength(member: Buffer): number {
  const flags = member[3] ?? 0
  let at = 10
  if (flags & 4) at += 2 + member.readUInt16LE(at)
  for (const text of [8, 16]) if (flags & text) at = member.indexOf(0, at) + 1
  return flags & 2 ? at + 2 : at
}

/** The form of a body, by its first bytes. Null: it is not compressed. */
function formOf(coding: string, start: Buffer): Form | null {
  if (start.length === 0) return null
  if (coding === 'gzip') return isGzip(start) ? 'gzip' : null
  if (coding === 'zstd')
    return start.length >= MAGIC_LENGTH && start.readUInt32LE(0) === ZSTD_MAGIC ? 'zstd' : null
  if (start.length >= SHORTEST_TEXT && ASCII.test(start.toString('latin1', 0, BEGINNING)))
    return null
  if (coding === 'br') return 'br'
  // No raw deflate begins with these bytes.
  if (isGzip(start)) return 'gzip'
  const isZlib =
    ((start[0] ?? 0) & 0x0f) === ZLIB && ((start[0] ?? 0) * 256 + (start[1] ?? 0)) % 31 === 0
  return isZlib ? 'deflate' : 'raw deflate'
}

/** The compression method in the first byte of a zlib stream (RFC 1950 §2.2). */
const ZLIB = 8
const ZSTD_MAGIC = 0xfd2fb528
const MAGIC_LENGTH = 4
/** The number of first bytes that show the form of a body. */
const BEGINNING = 64
/**
 * A body that begins with this many ASCII characters counts as plain text. In brotli or deflate,
 * this happens once in millions of bodies.
 */
const SHORTEST_TEXT = 16
const ASCII = /^(?:\u00ef\u00bb\u00bf)?[\t\n\r -~]*$/
const isGzip = (bytes: Buffer) => bytes[0] === 0x1f && bytes[1] === 0x8b
