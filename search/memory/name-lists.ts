import { together } from '../cache/cache.ts'
import { createPace, SHORT_TURN } from '../pace.ts'
import { hasBit } from '../segment/arrays.ts'
import type { Columns } from '../segment/columns.ts'
import { bitmapSet, type DocIdSet, docsOf, lastingArray, passing, rangeSet } from '../segment/doc-id-set.ts'
import type { ArticleSource } from '../store/article-source.ts'
import { type NameField, parseNameTerm } from '../terms.ts'
import type { MemoryDocument, MemorySegment } from './memory-segment.ts'
import { createNameIndex } from './name-index.ts'

export type NameLists = ReturnType<typeof createNameLists>

/**
 * Posting lists of parts of names. They are not stored: the columns of a segment have the numbers
 * of its outlets and authors, and `NameIndex` knows the numbers whose names contain a part. A
 * search takes these lists like all others, and they are cached like all others.
 *
 * @param limit bytes of the parts that are kept
 */
export function createNameLists(source: ArticleSource, limit: number) {
  // Outlets are few, and so are the parts of their names that are worth keeping.
  const fields = {
    outlet: createField(source, 'outlet', limit / 5),
    author: createField(source, 'author', (limit * 4) / 5),
  }
  const named = (term: string) => {
    const { field, part } = parseNameTerm(term)!
    return { field: fields[field], part }
  }
  return {
    /** The names that parts are looked up in. */
    names: { outlet: fields.outlet.index, author: fields.author.index },
    /** Reads all names. Searches that come before wait for it. */
    async readAll(): Promise<void> {
      await Promise.all(Object.values(fields).map(field => field.index.readAll()))
    },

    /** Lists of stored segments, in the given order. */
    async ofStored(wanted: { term: string; columns: Columns }[]): Promise<DocIdSet[]> {
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

    /**
     * Lists of in-memory segments.
     *
     * @param terms those that stand for parts of names
     * @returns gives null for a term that was not asked for
     */
    async ofMemory(terms: readonly string[], segments: readonly MemorySegment[]) {
      const tests = new Map<string, (document: MemoryDocument) => boolean>()
      for (const term of terms) {
        const { field, part } = named(term)
        tests.set(term, await field.ofMemory(part, segments))
      }
      return (segment: MemorySegment, term: string): DocIdSet | null => {
        const test = tests.get(term)
        if (test === undefined) return null
        const { documents } = segment
        return passing(rangeSet(0, documents.length, documents.length), doc => test(documents[doc]!))
      }
    },

    stats() {
      const [a, b] = [fields.outlet.index.stats(), fields.author.index.stats()]
      return { names: a.names + b.names, bytes: a.bytes + b.bytes, parts: together([a.parts, b.parts]) }
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
   * Columns whose names are all in the index. For an in-memory segment: how many of its documents,
   * from the first on, have their names there.
   */
  const knownColumns = new WeakSet<Columns>()
  const knownDocuments = new WeakMap<MemorySegment, number>()

  async function knowStored(columns: Columns[]): Promise<void> {
    const missing = new Set<number>()
    const pace = createPace(SHORT_TURN)
    const unknown = columns.filter(one => !knownColumns.has(one))
    for (const one of unknown) {
      for (const no of isOutlet ? one.publishers : one.authors) if (!index.has(no)) missing.add(no)
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
      const lists: DocIdSet[] = []
      const pace = createPace(SHORT_TURN)
      for (const one of columns) {
        lists.push(isOutlet ? listByOutlet(one, bits) : listByAuthor(one, bits))
        if (pace.isDue()) await pace.rest()
      }
      return lists
    },

    async ofMemory(part: string, segments: readonly MemorySegment[]) {
      await index.readAll()
      await knowMemory(segments)
      const bits = await index.containing(part)
      // A later document may name an outlet or author that has no bit yet. That does no harm: the
      // search does not include this document.
      return (document: MemoryDocument): boolean => numbersOf(document).some(no => hasBit(bits, no))
    },
  }
}

/** The documents of a stored segment whose outlet has its bit. */
function listByOutlet({ publishers, size }: Columns, bits: Uint32Array): DocIdSet {
  const found = new Uint32Array((size + 31) >>> 5)
  for (let doc = 0; doc < size; doc++) {
    const no = publishers[doc]!
    found[doc >>> 5]! |= ((bits[no >>> 5]! >>> (no & 31)) & 1) << (doc & 31)
  }
  return listOf(found, size)
}

/**
 * The documents of which an author has his bit. Few authors have one, so only their documents are
 * looked up.
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

/** A bitmap becomes an array where a stored list of as many documents would be one. */
function listOf(bits: Uint32Array, size: number): DocIdSet {
  const set = bitmapSet(bits, size)
  return set.count * 10 > size ? set : lastingArray(docsOf(set), size)
}
