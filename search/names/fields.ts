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
      for (let doc = 0, at = 0; doc < size; doc++) {
        const end = authorStarts[doc + 1]!
        let any = 0
        for (; at < end; at++) any |= bits[authors[at]! >>> 5]! >>> (authors[at]! & 31)
        found[doc >>> 5]! |= (any & 1) << (doc & 31)
      }
      return listOf(found, size)
    },
    testMemory: ({ authorNos }, bits) => authorNos.some(no => hasBit(bits, no)),
  },
}

/** In the container that a stored list with so many documents has. */
function listOf(bits: Uint32Array, size: number): DocIdSet {
  const set = bitmapSet(bits, size)
  return set.count * 10 > size ? set : lastingArray(docsOf(set), size)
}
