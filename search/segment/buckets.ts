import { hashOf } from './hashing.ts'
import { release } from './large.ts'
import type { Pace } from './pace.ts'
import { bucketOfHash, entryBytes, writeEntry } from './postings.ts'
import { createPostings, type PostingLists } from './postings-builder.ts'
import type { DictionaryBuilder } from './segment-texts.ts'
import { createTermFilterBuilder, type TermFilter } from './term-filter.ts'

/** All entries of a segment, by bucket. */
export interface Buckets {
  /** There are 2^bits buckets. */
  bits: number
  /**
   * Adds terms that no other part adds. A segment is built in parts, so that not all of it is in
   * memory in its widest form.
   */
  fill(add: (dictionary: DictionaryBuilder) => void): void
  terms(): TermFilter
  /** The buckets that are not empty. */
  blocks(): { bucket: number; block: Buffer }[]
}

/** Bucket n has the bytes from `starts[n]` to before `starts[n + 1]`. */
interface Stored {
  bytes: Buffer
  starts: Uint32Array
}

/** Posting lists between two calls of the pace. */
const LISTS_PER_PACE = 256

/** @param size documents of the segment */
export function createBuckets(size: number, pace: Pace): Buckets {
  // A document adds about a kilobyte. As many buckets as documents make a bucket about as large.
  const bits = Math.ceil(Math.log2(Math.max(size, 1)))
  const count = 1 << bits
  const filter = createTermFilterBuilder()
  let stored: Stored = { bytes: Buffer.alloc(0), starts: new Uint32Array(count + 1) }

  /** Calls back with each list, and with the bucket where it goes. */
  const eachEntry = (
    { names, lists: { count, docs, starts } }: Part,
    visit: (term: number, name: string, list: { docs: Uint16Array; from: number; to: number }) => void,
  ) => {
    const list = { docs, from: 0, to: 0 }
    for (let term = 0; term < count; term++) {
      if (term % LISTS_PER_PACE === 0) pace()
      list.from = starts[term]!
      list.to = starts[term + 1]!
      if (list.from < list.to) visit(term, names[term]!, list)
    }
  }
  return {
    bits,
    fill(add) {
      const part = readPart(add)
      const bucketOf = new Uint16Array(part.names.length)
      const added = new Uint32Array(count)
      eachEntry(part, (term, name, list) => {
        const hash = hashOf(name)
        filter.add(name, hash)
        const bucket = bucketOfHash(hash, bits)
        bucketOf[term] = bucket
        added[bucket]! += entryBytes(name, list, size)
      })
      const { room, ends } = makeRoom(stored, added)
      eachEntry(part, (term, name, list) => {
        const bucket = bucketOf[term]!
        ends[bucket] = writeEntry(room.bytes, ends[bucket]!, name, list, size)
      })
      release(part.lists.docs)
      stored = room
    },
    terms: () => filter.build(),
    blocks: () => nonEmpty(stored),
  }
}

/** Some terms with their lists, by id. */
interface Part {
  names: string[]
  lists: PostingLists
}

function readPart(add: (dictionary: DictionaryBuilder) => void): Part {
  const names: string[] = []
  const postings = createPostings()
  add({
    term(text) {
      names.push(text)
      return postings.list()
    },
    add: postings.add,
  })
  return { names, lists: postings.lists() }
}

/**
 * Copies all buckets to where each has room for its new bytes behind the old ones.
 *
 * @returns ends the bytes so far of each bucket
 */
function makeRoom({ bytes, starts }: Stored, added: Uint32Array): { room: Stored; ends: Uint32Array } {
  const count = added.length
  const roomStarts = new Uint32Array(count + 1)
  const ends = new Uint32Array(count)
  for (let bucket = 0; bucket < count; bucket++) {
    const before = starts[bucket + 1]! - starts[bucket]!
    ends[bucket] = roomStarts[bucket]! + before
    roomStarts[bucket + 1] = ends[bucket]! + added[bucket]!
  }
  // Buffers of the pool share their memory with others; this one is never of the pool.
  const room = Buffer.from(new ArrayBuffer(roomStarts[count]!))
  for (let bucket = 0; bucket < count; bucket++) {
    room.set(bytes.subarray(starts[bucket], starts[bucket + 1]), roomStarts[bucket])
  }
  if (bytes.length > 0) release(bytes)
  return { room: { bytes: room, starts: roomStarts }, ends }
}

function nonEmpty({ bytes, starts }: Stored): { bucket: number; block: Buffer }[] {
  const blocks: { bucket: number; block: Buffer }[] = []
  for (let bucket = 0; bucket + 1 < starts.length; bucket++) {
    const [from, to] = [starts[bucket]!, starts[bucket + 1]!]
    if (from < to) blocks.push({ bucket, block: bytes.subarray(from, to) })
  }
  return blocks
}
