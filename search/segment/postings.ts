import { hashOf } from '../analysis/hashes.ts'
import {
  nameBytes,
  type Reader,
  readVarint,
  varintBytes,
  writeName,
  writeVarint,
} from './arrays.ts'
import { bitmapSet, type DocIdSet, lastingArray } from './doc-id-set.ts'

/*
 * Reads and writes the entries of a segment's term dictionary: terms with their posting lists.
 * Terms are spread over buckets by their hash, and each bucket is one row in Postgres. So a lookup
 * reads a kilobyte or two, and a million rare words do not need a million rows.
 */

/** The number of the bucket that has a term, of 2^bits buckets. */
export const bucketOf = (term: string, bits: number): number => bucketOfHash(hashOf(term), bits)

/** @param hash `hashOf` the term */
export function bucketOfHash(hash: number, bits: number): number {
  return bits === 0 ? 0 : hash >>> (32 - bits)
}

const GAPS = 0
const BITMAP = 1

/** Ascending documents: those of `docs` from `from` to before `to`. */
export interface ListedDocs {
  docs: Uint16Array
  from: number
  to: number
}

/**
 * Bytes of the entry of a term: the term and its documents, each after its length in bytes.
 *
 * @param body `bodyBytes` of its documents
 */
export const entryBytes = (term: string, body: number): number =>
  nameBytes(term) + varintBytes(body) + body

/**
 * Writes an entry into a buffer. Creates no objects, because a segment has half a million entries.
 *
 * @param body `bodyBytes` of its documents
 * @returns the place after the entry
 */
export function writeEntry(
  buffer: Buffer,
  at: number,
  term: string,
  list: ListedDocs,
  body: number,
  size: number,
): number {
  const start = writeVarint(buffer, writeName(buffer, at, term), body)
  return isDense(list, size)
    ? writeBitmap(buffer, start, list, size)
    : writeGaps(buffer, start, list)
}

/** The first bytes of the entry of a term. */
export function entryStart(term: string): Buffer {
  const start = Buffer.allocUnsafe(nameBytes(term))
  writeName(start, 0, term)
  return start
}

/** Whether a bitmap is smaller than gaps. Each gap takes a byte or two. */
const isDense = ({ from, to }: ListedDocs, size: number) => (to - from) * 10 > size

const bitmapBytes = (size: number) => ((size + 31) >>> 5) * 4

/** @param size documents of the segment */
export function bodyBytes(list: ListedDocs, size: number): number {
  if (isDense(list, size)) return 1 + bitmapBytes(size)
  const { docs, from, to } = list
  let bytes = 1 + varintBytes(to - from)
  let before = -1
  for (let at = from; at < to; at++) {
    bytes += varintBytes(docs[at]! - before - 1)
    before = docs[at]!
  }
  return bytes
}

function writeBitmap(
  buffer: Buffer,
  start: number,
  { docs, from, to }: ListedDocs,
  size: number,
): number {
  buffer[start] = BITMAP
  const bits = start + 1
  const end = bits + bitmapBytes(size)
  buffer.fill(0, bits, end)
  for (let at = from; at < to; at++) buffer[bits + (docs[at]! >>> 3)]! |= 1 << (docs[at]! & 7)
  return end
}

function writeGaps(buffer: Buffer, start: number, { docs, from, to }: ListedDocs): number {
  buffer[start] = GAPS
  let end = writeVarint(buffer, start + 1, to - from)
  let before = -1
  for (let at = from; at < to; at++) {
    end = writeVarint(buffer, end, docs[at]! - before - 1)
    before = docs[at]!
  }
  return end
}

/**
 * The posting list of a term; undefined: the bucket does not have it.
 *
 * @param start `entryStart` of the term
 * @param size documents of the segment
 */
export function readEntry(bucket: Buffer, start: Buffer, size: number): DocIdSet | undefined {
  const reader: Reader = { at: 0, bytes: bucket }
  while (reader.at < bucket.length) {
    const entry = reader.at
    const length = readVarint(reader)
    reader.at += length
    const isWanted = reader.at - entry === start.length && isAt(bucket, entry, start)
    const bytes = readVarint(reader)
    if (isWanted) return decode(bucket.subarray(reader.at, reader.at + bytes), size)
    reader.at += bytes
  }
  return undefined
}

/** All posting lists of a bucket by their terms; null: the bytes are damaged. */
export function readBucket(bucket: Buffer, size: number): Map<string, DocIdSet> | null {
  const lists = new Map<string, DocIdSet>()
  const reader: Reader = { at: 0, bytes: bucket }
  const next = () => {
    const bytes = readVarint(reader)
    reader.at += bytes
    return bucket.subarray(reader.at - bytes, reader.at)
  }
  while (reader.at < bucket.length) {
    const term = next().toString()
    lists.set(term, decode(next(), size))
  }
  return reader.at === bucket.length ? lists : null
}

/**
 * Whether the bytes of `start` stand at a place. Compares from the end, because many entries begin
 * with the same letters.
 */
function isAt(bucket: Buffer, at: number, start: Buffer): boolean {
  for (let index = start.length - 1; index >= 0; index--)
    if (bucket[at + index] !== start[index]) return false
  return true
}

function decode(body: Buffer, size: number): DocIdSet {
  if (body[0] === BITMAP) {
    // The bitmap is little-endian, like x64 and ARM processors. The copy aligns it.
    const bytes = new Uint8Array(body.subarray(1))
    return bitmapSet(new Uint32Array(bytes.buffer, 0, bytes.length >>> 2), size)
  }
  const reader: Reader = { at: 1, bytes: body }
  // Damaged bytes may give a huge number, so `size` bounds it.
  const docs = new Uint16Array(Math.min(readVarint(reader), size))
  let doc = -1
  for (let at = 0; at < docs.length; at++) {
    doc += readVarint(reader) + 1
    docs[at] = doc
  }
  return lastingArray(docs, size)
}
