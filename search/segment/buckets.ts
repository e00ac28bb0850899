import type { Brake } from '../pace.ts'
import { release } from './arrays.ts'
import { bodyBytes, bucketOfHash, entryBytes, type ListedDocs, writeEntry } from './postings.ts'
import type { TermLists } from './postings-builder.ts'

/*
 * Encodes a segment's term dictionary. The dictionary has two parts, which two threads may encode
 * at the same time. A bucket has the entries of the first part, then those of the second.
 */

/**
 * The encoded entries of a part. Bucket n has the bytes from `starts[n]` to before `starts[n + 1]`.
 */
export interface EncodedPart {
  bytes: Uint8Array<ArrayBuffer>
  starts: Uint32Array<ArrayBuffer>
}

/** How many posting lists are encoded between two calls of the brake. */
const LISTS_PER_BRAKE = 256

/**
 * A segment has about as many buckets as documents. A document adds about a kilobyte to the
 * dictionary, so a bucket holds about a kilobyte.
 */
export const bucketBitsOf = (documents: number): number =>
  Math.ceil(Math.log2(Math.max(documents, 1)))

/**
 * Encodes a part of a term dictionary. No other part may have the same terms.
 *
 * @param size documents of the segment
 */
export function encodePart(size: number, brake: Brake, lists: TermLists[]): EncodedPart {
  const bits = bucketBitsOf(size)
  /** By list: the bytes of its documents. */
  const bodies = lists.map(({ names }) => new Uint32Array(names.length))
  const starts = new Uint32Array((1 << bits) + 1)
  eachEntry(lists, brake, (at, term, name, list) => {
    const body = bodyBytes(list, size)
    bodies[at]![term] = body
    starts[bucketOfHash(lists[at]!.hashes[term]!, bits) + 1]! += entryBytes(name, body)
  })
  for (let bucket = 1; bucket < starts.length; bucket++) starts[bucket]! += starts[bucket - 1]!
  const bytes = new Uint8Array(starts.at(-1)!)
  const ends = starts.slice()
  const buffer = Buffer.from(bytes.buffer)
  eachEntry(lists, brake, (at, term, name, list) => {
    const bucket = bucketOfHash(lists[at]!.hashes[term]!, bits)
    ends[bucket] = writeEntry(buffer, ends[bucket]!, name, list, bodies[at]![term]!, size)
  })
  for (const { docs } of lists) release(docs)
  return { bytes, starts }
}

/** Joins the buckets of two parts. Leaves out empty buckets. */
export function bucketsOf(
  first: EncodedPart,
  second: EncodedPart,
): { bucket: number; block: Buffer }[] {
  const buckets: { bucket: number; block: Buffer }[] = []
  const of = ({ bytes, starts }: EncodedPart, bucket: number) =>
    bytes.subarray(starts[bucket], starts[bucket + 1])
  for (let bucket = 0; bucket + 1 < first.starts.length; bucket++) {
    const block = Buffer.concat([of(first, bucket), of(second, bucket)])
    if (block.length > 0) buckets.push({ bucket, block })
  }
  return buckets
}

function eachEntry(
  all: TermLists[],
  brake: Brake,
  visit: (at: number, term: number, name: string, list: ListedDocs) => void,
) {
  for (const [at, { names, docs, starts, ends }] of all.entries()) {
    const list = { docs, from: 0, to: 0 }
    for (let term = 0; term < names.length; term++) {
      if (term % LISTS_PER_BRAKE === 0) brake()
      list.from = starts[term]!
      list.to = ends[term]!
      visit(at, term, names[term]!, list)
    }
  }
}
