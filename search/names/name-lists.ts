import type { CacheStats } from '../cache/cache.ts'
import type { MemoryDocument, MemorySegment } from '../memory/memory-segment.ts'
import { createPace, SHORT_SLICE } from '../pace.ts'
import { hasBit } from '../segment/bitmap.ts'
import type { Columns } from '../segment/columns.ts'
import { bitmapSet, type DocIdSet, docsOf, emptySet, lastingArray, passing, rangeSet } from '../segment/doc-id-set.ts'
import type { ArticleSource } from '../store/article-source.ts'
import { type NameField, parseNameTerm } from '../terms.ts'
import { createNameIndex, type NameIndex } from './name-index.ts'

/**
 * Posting lists of parts of names. They are not stored: the columns of a segment have the numbers
 * of its outlets and authors, and `NameIndex` knows the numbers whose names contain a part. A
 * search takes these lists like all others, and they are cached like all others.
 */
export interface NameLists {
  /** The names that parts are looked up in. */
  names: Record<NameField, NameIndex>
  /** Reads all names. Searches that come before wait for it. */
  readAll(): Promise<void>
  /** Lists of stored segments, in the given order. */
  ofStored(wanted: { term: string; columns: Columns }[]): Promise<DocIdSet[]>
  /**
   * Lists of in-memory segments.
   *
   * @param terms those that stand for parts of names
   */
  ofMemory(terms: readonly string[], segments: readonly MemorySegment[]): Promise<MemoryLists>
  stats(): NameStats
}

interface NameStats {
  names: number
  bytes: number
  /** Parts that were searched for, with the numbers found. */
  parts: CacheStats
}

/** @returns null: the term was not asked for */
type MemoryLists = (segment: MemorySegment, term: string) => DocIdSet | null

/** @param limit bytes of the parts that are kept */
export function createNameLists(source: ArticleSource, limit: number): NameLists {
  // Outlets are few, and so are the parts of their names that are worth keeping.
  const fields: Record<NameField, NamedField> = {
    outlet: createField(source, 'outlet', limit / 5),
    author: createField(source, 'author', (limit * 4) / 5),
  }
  const named = (term: string) => {
    const { field, part } = parseNameTerm(term)!
    return { field: fields[field], part }
  }
  return {
    names: { outlet: fields.outlet.index, author: fields.author.index },
    async readAll() {
      await Promise.all(Object.values(fields).map(field => field.index.readAll()))
    },

    async ofStored(wanted) {
      const lists: DocIdSet[] = []
      for (const [term, own] of Map.groupBy(wanted.entries(), ([, one]) => one.term)) {
        const { field, part } = named(term)
        const found = await field.ofStored(
          part,
          own.map(([, one]) => one.columns),
        )
        own.forEach(([at], index) => {
          lists[at] = found[index]!
        })
      }
      return lists
    },

    async ofMemory(terms, segments) {
      const tests = new Map<string, (document: MemoryDocument) => boolean>()
      for (const term of terms) {
        const { field, part } = named(term)
        tests.set(term, await field.ofMemory(part, segments))
      }
      return (segment, term) => {
        const test = tests.get(term)
        if (test === undefined) return null
        const { documents } = segment
        return passing(rangeSet(0, documents.length, documents.length), doc => test(documents[doc]!))
      }
    },

    stats() {
      const [a, b] = [fields.outlet.index.stats(), fields.author.index.stats()]
      return {
        names: a.names + b.names,
        bytes: a.bytes + b.bytes,
        parts: { limit: a.parts.limit + b.parts.limit, used: a.parts.used + b.parts.used },
      }
    },
  }
}

interface NamedField {
  index: NameIndex
  ofStored(part: string, columns: Columns[]): Promise<DocIdSet[]>
  ofMemory(part: string, segments: readonly MemorySegment[]): Promise<(document: MemoryDocument) => boolean>
}

function createField(source: ArticleSource, field: NameField, limit: number): NamedField {
  const numbers = NUMBER_FIELDS[field]
  const index = createNameIndex(wanted => source.readNames(field, wanted), limit)
  /** Columns whose names are all in the index, and how many documents of an in-memory segment. */
  const knownColumns = new WeakSet<Columns>()
  const knownDocuments = new WeakMap<MemorySegment, number>()

  async function knowStored(columns: Columns[]): Promise<void> {
    const missing = new Set<number>()
    const pace = createPace(SHORT_SLICE)
    const unknown = columns.filter(one => !knownColumns.has(one))
    for (const one of unknown) {
      for (const no of numbers.ofStored(one)) if (!index.has(no)) missing.add(no)
      if (pace.isDue()) await pace.rest()
    }
    await index.read([...missing])
    for (const one of unknown) knownColumns.add(one)
  }
  async function knowMemory(segments: readonly MemorySegment[]): Promise<void> {
    const missing = new Set<number>()
    const grown = segments.map(segment => ({ segment, size: segment.documents.length }))
    for (const { segment, size } of grown) {
      for (let doc = knownDocuments.get(segment) ?? 0; doc < size; doc++) {
        for (const no of numbers.ofMemory(segment.documents[doc]!)) if (!index.has(no)) missing.add(no)
      }
    }
    await index.read([...missing])
    for (const { segment, size } of grown) knownDocuments.set(segment, size)
  }
  return {
    index,

    async ofStored(part, columns) {
      await index.readAll()
      await knowStored(columns)
      const found = await index.containing(part)
      const lists: DocIdSet[] = []
      const pace = createPace(SHORT_SLICE)
      for (const one of columns) {
        lists.push(found.count === 0 ? emptySet(one.size) : numbers.listStored(one, found.bitmap(index.highest())))
        if (pace.isDue()) await pace.rest()
      }
      return lists
    },

    async ofMemory(part, segments) {
      await index.readAll()
      await knowMemory(segments)
      const found = await index.containing(part)
      const bits = found.bitmap(index.highest())
      // A document that comes later is not part of the search, and its number may have no bit.
      return document => numbers.testMemory(document, bits)
    },
  }
}

/** Where articles have the numbers of a field. */
interface NumberField {
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
