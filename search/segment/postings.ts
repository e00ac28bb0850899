import { type Reader, readVarint, varintBytes, type Writer } from './bytes.ts'
import { bitSet, type DocSet, lastingList } from './doc-id-set.ts'
import { hashOf } from './hashing.ts'

/*
 * A segment's dictionary: each lexeme with the documents that hold it, spread over buckets by the lexeme's hash. One row of
 * Postgres is one bucket, so that a lookup reads a kilobyte or two, and a million rare words do not take a million rows.
 */

/** Which bucket of 2^bits holds a lexeme. */
export function bucketOf(lexeme: string, bits: number): number {
  return bits === 0 ? 0 : hashOf(lexeme) >>> (32 - bits)
}

const GAPS = 0
const BITS = 1

/** Ascending documents: those of `docs` from `from` to before `to`. */
export interface ListedDocs {
  docs: Uint16Array
  from: number
  to: number
}

/** Appends an entry to a bucket: name and documents, each with its length in bytes before it. Makes nothing: there are half a million. */
export function writeEntry(bucket: Writer, lexeme: string, list: ListedDocs, size: number): void {
  bucket.varint(Buffer.byteLength(lexeme))
  bucket.text(lexeme)
  // A gap takes a byte or two: from here on the bits are smaller.
  if ((list.to - list.from) * 10 > size) writeBits(bucket, list, size)
  else writeGaps(bucket, list)
}

function writeBits(bucket: Writer, { docs, from, to }: ListedDocs, size: number): void {
  const bits = new Uint8Array(((size + 31) >>> 5) * 4)
  for (let at = from; at < to; at++) bits[docs[at]! >>> 3]! |= 1 << (docs[at]! & 7)
  bucket.varint(1 + bits.length)
  bucket.byte(BITS)
  bucket.bytes(bits)
}

function writeGaps(bucket: Writer, { docs, from, to }: ListedDocs): void {
  let bytes = 1 + varintBytes(to - from)
  let before = -1
  for (let at = from; at < to; at++) {
    bytes += varintBytes(docs[at]! - before - 1)
    before = docs[at]!
  }
  bucket.varint(bytes)
  bucket.byte(GAPS)
  bucket.varint(to - from)
  before = -1
  for (let at = from; at < to; at++) {
    bucket.varint(docs[at]! - before - 1)
    before = docs[at]!
  }
}

/** The documents of those lexemes that the bucket holds. @param size documents of the segment */
export function readEntries(bucket: Buffer, lexemes: string[], size: number): Map<string, DocSet> {
  const wanted = lexemes.map(lexeme => ({ lexeme, name: Buffer.from(lexeme) }))
  const found = new Map<string, DocSet>()
  const reader: Reader = { at: 0, bytes: bucket }
  while (reader.at < bucket.length && found.size < wanted.length) {
    const length = readVarint(reader)
    const start = reader.at
    reader.at += length
    const bytes = readVarint(reader)
    const body = reader.at
    reader.at += bytes
    for (const { lexeme, name } of wanted) {
      if (name.length === length && name.compare(bucket, start, start + length) === 0) {
        found.set(lexeme, decode(bucket.subarray(body, body + bytes), size))
      }
    }
  }
  return found
}

function decode(body: Buffer, size: number): DocSet {
  if (body[0] === BITS) {
    // Little-endian, as every machine that runs Node is; copied to be aligned.
    const bytes = new Uint8Array(body.subarray(1))
    return bitSet(new Uint32Array(bytes.buffer, 0, bytes.length / 4), size)
  }
  const reader: Reader = { at: 1, bytes: body }
  const docs = new Uint16Array(readVarint(reader))
  let doc = -1
  for (let at = 0; at < docs.length; at++) {
    doc += readVarint(reader) + 1
    docs[at] = doc
  }
  return lastingList(docs, size)
}
