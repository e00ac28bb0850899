import type { MemoryDocument } from '../memory/memory-segment.ts'
import { hasBit } from '../segment/bitmap.ts'
import type { Columns } from '../segment/columns.ts'
import { bitmapSet, type DocIdSet, docsOf, lastingArray } from '../segment/doc-id-set.ts'
import type { NameField } from '../terms.ts'

/** Where articles have the numbers of a field. */
export interface NumberField {
  ofStored(columns: Columns): Int32Array
  ofMemory(document: MemoryDocument): readonly number[]
  /** The documents of a stored segment that have a number of a bitmap. */
  listStored(columns: Columns, bits: Uint32Array): DocIdSet
  /** Whether a document of an in-memory segment has one. */
  testMemory(document: MemoryDocument, bits: Uint32Array): boolean
}

/** Bitmaps have a bit for every number of the documents. */
export const NUMBER_FIELDS: Record<NameField, NumberField> = {
  outlet: {
    ofStored: columns => columns.outlets.nos,
    ofMemory: ({ publisherNo }) => [publisherNo],
    listStored: ({ publishers, size }, bits) => {
      const found = new Uint32Array((size + 31) >>> 5)
      for (let doc = 0; doc < size; doc++) {
        const no = publishers[doc]!
        found[doc >>> 5]! |= ((bits[no >>> 5]! >>> (no & 31)) & 1) << (doc & 31)
      }
      return listOf(found, size)
    },
    testMemory: ({ publisherNo }, bits) => hasBit(bits, publisherNo),
  },
  author: {
    ofStored: columns => columns.authors,
    ofMemory: ({ authorNos }) => authorNos,
    listStored: ({ authors, authorStarts, size }, bits) => {
      const found = new Uint32Array((size + 31) >>> 5)
      const places = placesIn(authors, bits)
      const next = places.length * FEW < size ? searched : stepped
      for (let at = 0, doc = 0; at < places.length; at++) {
        doc = next(authorStarts, places[at]!, doc, size)
        found[doc >>> 5]! |= 1 << (doc & 31)
      }
      return listOf(found, size)
    },
    testMemory: ({ authorNos }, bits) => authorNos.some(no => hasBit(bits, no)),
  },
}

/** Where numbers stand that are in a bitmap; the content does not matter between two lists. */
let work = new Int32Array(1 << 17)

/**
 * The places of the numbers that are in a bitmap. Without a branch, and without the documents: most
 * parts are rare.
 */
function placesIn(numbers: Int32Array, bits: Uint32Array): Int32Array {
  if (work.length < numbers.length) work = new Int32Array(numbers.length)
  let count = 0
  for (let at = 0; at < numbers.length; at++) {
    const no = numbers[at]!
    work[count] = at
    count += (bits[no >>> 5]! >>> (no & 31)) & 1
  }
  return work.subarray(0, count)
}

/** A search of a document takes as long as so many steps to the next one. */
const FEW = 32

/** The document, `from` or a later one, whose numbers stand at a place. */
function stepped(starts: Uint32Array, place: number, from: number): number {
  let doc = from
  while (starts[doc + 1]! <= place) doc++
  return doc
}

function searched(starts: Uint32Array, place: number, from: number, size: number): number {
  let low = from
  let high = size
  while (low < high) {
    const middle = (low + high) >>> 1
    if (starts[middle + 1]! <= place) low = middle + 1
    else high = middle
  }
  return low
}

/** In the container that a stored list with so many documents has. */
function listOf(bits: Uint32Array, size: number): DocIdSet {
  const set = bitmapSet(bits, size)
  return set.count * 10 > size ? set : lastingArray(docsOf(set), size)
}
