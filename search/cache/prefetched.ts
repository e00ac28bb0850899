import { bytesOf, type DocIdSet, emptySet } from '../segment/doc-id-set.ts'
import { bucketOf, entryStart, readEntry } from '../segment/postings.ts'
import { type IndexMeta, type SegmentMeta, sizeOf, type TermDictionary } from '../store/segment-store.ts'

/** The parts of a segment that were read: its whole dictionary, or some lists by their terms. */
export type ReadSegment =
  | { dictionary: TermDictionary; lists: null }
  | { dictionary: null; lists: ReadonlyMap<string, DocIdSet> }

/**
 * Parts of segments that were read before a search asked for them. A dictionary stays as long as
 * its segment is among the newest. Lists stay for the first version that has their segment: by the
 * next one, searches have taken those that they need into the cache.
 */
export interface PrefetchedParts {
  /** The documents with a term; undefined: they were not prefetched. */
  list(segment: SegmentMeta, term: string): DocIdSet | undefined
  /** Whether a segment was prefetched. */
  has(segment: SegmentMeta): boolean
  hasDictionary(segment: SegmentMeta): boolean
  add(segment: SegmentMeta, read: ReadSegment): void
  /** All segments that are stored and not used yet. Their parts stay. */
  announce(ahead: SegmentMeta[]): void
  /**
   * Drops what no search will ask for.
   *
   * @param newest those whose dictionaries stay
   */
  prune(meta: IndexMeta, newest: SegmentMeta[]): void
  largestDictionary(): TermDictionary | undefined
  bytes(): number
}

export function createPrefetchedParts(): PrefetchedParts {
  const dictionaries = new Map<number, TermDictionary>()
  const lists = new Map<number, { byTerm: ReadonlyMap<string, DocIdSet>; used: boolean }>()
  let announced = new Set<number>()
  return {
    list(segment, term) {
      const dictionary = dictionaries.get(segment.no)
      if (dictionary === undefined) return lists.get(segment.no)?.byTerm.get(term)
      const { blocks, starts } = dictionary
      const bucket = bucketOf(term, segment.bucketBits)
      const size = sizeOf(segment)
      const block = blocks.subarray(starts[bucket], starts[bucket + 1])
      return readEntry(block, entryStart(term), size) ?? emptySet(size)
    },

    has: ({ no }) => dictionaries.has(no) || lists.has(no),
    hasDictionary: ({ no }) => dictionaries.has(no),

    add({ no }, read) {
      if (read.dictionary === null) lists.set(no, { byTerm: read.lists, used: false })
      else dictionaries.set(no, read.dictionary)
    },

    announce(ahead) {
      announced = new Set(ahead.map(segment => segment.no))
    },

    prune({ segments }, newest) {
      const wanted = new Set([...announced, ...newest.map(segment => segment.no)])
      for (const no of dictionaries.keys()) if (!wanted.has(no)) dictionaries.delete(no)
      const present = new Set(segments.map(segment => segment.no))
      for (const [no, one] of lists) {
        if (present.has(no) ? one.used : !announced.has(no)) lists.delete(no)
        else one.used = present.has(no)
      }
    },

    largestDictionary: () => [...dictionaries.values()].sort((a, b) => b.blocks.length - a.blocks.length)[0],

    bytes() {
      let sum = 0
      for (const { blocks, starts } of dictionaries.values()) sum += blocks.length + starts.byteLength
      for (const { byTerm } of lists.values()) for (const list of byTerm.values()) sum += bytesOf(list)
      return sum
    },
  }
}
