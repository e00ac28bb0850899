import { hashOf } from '../analysis/hashes.ts'
import { nameBytes, type Reader, readVarint, varintBytes, writeName, writeVarint } from './arrays.ts'
import { bitmapSet, type DocIdSet, lastingArray } from './doc-id-set.ts'

/*
 * A segment's term dictionary with its posting lists. Terms are spread over buckets by their hash,
 * and one row of Postgres is one bucket: a lookup reads a kilobyte or two, and a million rare words
 * do not take a million rows.
 */

/** Which of 2^bits buckets has a term. */
export const bucketOf = (term: string, bits: number) => bucketOfHash(hashOf(term), bits)

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

/** Bytes of the entry of a term: term and documents, each after its length in bytes. */
export function entryBytes(term: string, list: ListedDocs, size: number): number {
  const body = bodyBytes(list, size)
  return nameBytes(term) + varintBytes(body) + body
}

/**
 * Writes an entry at a place of a buffer. Creates no objects, because a segment has half a million
 * entries.
 *
 * @returns where it ends
 */
export function writeEntry(buffer: Buffer, at: number, term: string, list: ListedDocs, size: number): number {
  const start = writeVarint(buffer, writeName(buffer, at, term), bodyBytes(list, size))
  return isDense(list, size) ? writeBitmap(buffer, start, list, size) : writeGaps(buffer, start, list)
}

/** The bytes that the entry of a term begins with. */
export function entryStart(term: string): Buffer {
  const start = Buffer.allocUnsafe(nameBytes(term))
  writeName(start, 0, term)
  return start
}

/** Whether a bitmap is smaller than a list of gaps, each of which takes a byte or two. */
const isDense = ({ from, to }: ListedDocs, size: number) => (to - from) * 10 > size

const bitmapBytes = (size: number) => ((size + 31) >>> 5) * 4

function bodyBytes(list: ListedDocs, size: number): number {
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

function writeBitmap(buffer: Buffer, start: number, { docs, from, to }: ListedDocs, size: number): number {
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

/** All lists of a bucket by their terms; null: the bytes are no bucket. */
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
 * Whether `start` stands at a place. It compares from the end, because many entries begin with the
 * same letters.
 */
function isAt(bucket: Buffer, at: number, start: Buffer): boolean {
  for (let index = start.length - 1; index >= 0; index--) if (bucket[at + index] !== start[index]) return false
  return true
}

function decode(body: Buffer, size: number): DocIdSet {
  if (body[0] === BITMAP) {
    // The bitmap is little-endian, as every machine that runs Node is. It is copied, so that it is
    // aligned.
    const bytes = new Uint8Array(body.subarray(1))
    return bitmapSet(new Uint32Array(bytes.buffer, 0, bytes.length >>> 2), size)
  }
  const reader: Reader = { at: 1, bytes: body }
  // Damaged bytes may state a huge number, so it is bounded.
  const docs = new Uint16Array(Math.min(readVarint(reader), size))
  let doc = -1
  for (let at = 0; at < docs.length; at++) {
    doc += readVarint(reader) + 1
    docs[at] = doc
  }
  return lastingArray(docs, size)
}
