import { type CacheStats, together } from '../cache/cache.ts'
import { createPace, eachIn, SHORT_TURN } from '../pace.ts'
import { hasBit } from '../segment/arrays.ts'
import type { Columns } from '../segment/columns.ts'
import {
  bitmapSet,
  type DocIdSet,
  docsOf,
  lastingArray,
  passing,
  rangeSet,
} from '../segment/doc-id-set.ts'
import type { ArticleSource } from '../store/article-source.ts'
import { type NameField, parseNameTerm } from '../terms.ts'
import type { MemoryDocument, MemorySegment } from './memory-segment.ts'
import { createNameIndex, type NameIndex } from './name-index.ts'

export interface NameLists {
  /** The indexes that find names by a part of the name. */
  names: { outlet: NameIndex; author: NameIndex }
  /** Reads all names. Searches that come before the end wait for it. */
  readAll(): Promise<void>
  /** Posting lists of parts of names in stored segments, in the order of `wanted`. */
  ofStored(wanted: { term: string; columns: Columns }[]): Promise<DocIdSet[]>
  /**
   * Posting lists of parts of names in in-memory segments.
   *
   * @param terms the terms that stand for parts of names
   * @returns a function of segment and term. It gives null for a term that `terms` does not have.
   */
  ofMemory(
    terms: readonly string[],
    segments: readonly MemorySegment[],
  ): Promise<(segment: MemorySegment, term: string) => DocIdSet | null>
  stats(): { names: number; bytes: number; parts: CacheStats }
}

/**
 * Posting lists of parts of names. They are computed and not stored. The columns of a segment have
 * the numbers of its outlets and authors, and `NameIndex` finds the numbers whose names contain a
 * part. A search uses these lists like stored ones, and a cache keeps them.
 *
 * @param limit bytes of the kept results
 */
export function createNameLists(source: ArticleSource, limit: number): NameLists {
  // Outlets are few, so the results for parts of their names need less memory.
  const fields = {
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
      return (segment: MemorySegment, term: string): DocIdSet | null => {
        const test = tests.get(term)
        if (test === undefined) return null
        const { documents } = segment
        return passing(rangeSet(0, documents.length, documents.length), doc =>
          test(documents[doc]!),
        )
      }
    },

    stats() {
      const a = fields.outlet.index.stats()
      const b = fields.author.index.stats()
      return {
        names: a.names + b.names,
        bytes: a.bytes + b.bytes,
        parts: together([a.parts, b.parts]),
      }
    },
  }
}

function createField(source: ArticleSource, field: NameField, limit: number) {
  const isOutlet = field === 'outlet'
  const numbersOf = isOutlet
    ? ({ publisherNo }: MemoryDocument) => [publisherNo]
    : ({ authorNos }: MemoryDocument) => authorNos
  const index = createNameIndex(wanted => source.readNames(field, wanted), limit)
  /**
   * Columns whose names are all in `index`. For an in-memory segment: how many of its first
   * documents have their names there.
   */
  const knownColumns = new WeakSet<Columns>()
  const knownDocuments = new WeakMap<MemorySegment, number>()

  async function knowStored(columns: Columns[]): Promise<void> {
    const missing = new Set<number>()
    const unknown = columns.filter(one => !knownColumns.has(one))
    await eachIn(createPace(SHORT_TURN), unknown, ({ publishers, authors }) => {
      for (const no of isOutlet ? publishers : authors) if (!index.has(no)) missing.add(no)
    })
    await index.read([...missing])
    for (const one of unknown) knownColumns.add(one)
  }
  async function knowMemory(segments: readonly MemorySegment[]): Promise<void> {
    const missing = new Set<number>()
    const grown = segments.map(segment => ({ segment, size: segment.documents.length }))
    for (const { segment, size } of grown) {
      for (let doc = knownDocuments.get(segment) ?? 0; doc < size; doc++) {
        for (const no of numbersOf(segment.documents[doc]!)) if (!index.has(no)) missing.add(no)
      }
    }
    await index.read([...missing])
    for (const { segment, size } of grown) knownDocuments.set(segment, size)
  }
  return {
    index,

    async ofStored(part: string, columns: Columns[]): Promise<DocIdSet[]> {
      await index.readAll()
      await knowStored(columns)
      const bits = await index.containing(part)
      const listIn = isOutlet ? listByOutlet : listByAuthor
      return eachIn(createPace(SHORT_TURN), columns, one => listIn(one, bits))
    },

    async ofMemory(part: string, segments: readonly MemorySegment[]) {
      await index.readAll()
      await knowMemory(segments)
      const bits = await index.containing(part)
      // A document that was added later may have an outlet or author that `bits` lacks. That does
      // no harm, because the search does not include this document.
      return isOutlet
        ? ({ publisherNo }: MemoryDocument): boolean => hasBit(bits, publisherNo)
        : ({ authorNos }: MemoryDocument): boolean => authorNos.some(no => hasBit(bits, no))
    },
  }
}

/** The documents of a stored segment whose outlet has a bit in `bits`. */
function listByOutlet({ publishers, size }: Columns, bits: Uint32Array): DocIdSet {
  const found = new Uint32Array((size + 31) >>> 5)
  for (let doc = 0; doc < size; doc++) {
    const no = publishers[doc]!
    found[doc >>> 5]! |= ((bits[no >>> 5]! >>> (no & 31)) & 1) << (doc & 31)
  }
  return listOf(found, size)
}

/**
 * The documents of a stored segment with an author who has a bit in `bits`. Few authors have one,
 * so only their documents are looked up.
 */
function listByAuthor(
  { authors, authorStarts, size }: Pick<Columns, 'authors' | 'authorStarts' | 'size'>,
  bits: Uint32Array,
): DocIdSet {
  const found = new Uint32Array((size + 31) >>> 5)
  for (let at = 0, doc = 0; at < authors.length; at++) {
    if (!hasBit(bits, authors[at]!)) continue
    while (authorStarts[doc + 1]! <= at) doc++
    found[doc >>> 5]! |= 1 << (doc & 31)
  }
  return listOf(found, size)
}

/** Makes a set of the same form as a stored posting list of this length: an array, or a bitmap. */
function listOf(bits: Uint32Array, size: number): DocIdSet {
  const set = bitmapSet(bits, size)
  return set.count * 10 > size ? set : lastingArray(docsOf(set), size)
}
