import type { Columns } from '../segment/columns.ts'
import { type SegmentMeta, type SegmentStore, sizeOf } from '../store/segment-store.ts'
import type { ReadSegment } from './prefetched.ts'
import { readLists } from './read-lists.ts'

/** Lists of a large segment that are read ahead. A list of 65,536 articles takes at most 8 kB. */
const LISTS_AHEAD = 4_096

/**
 * Reads a segment that is stored and not used yet: columns, and the dictionary of a small one or
 * the lists of a large one that searches are likely to ask for.
 *
 * @param small articles of a segment whose dictionary is read whole
 * @param latestTerms the terms that were used most recently
 * @returns without columns where these are not final. null: it was used, or it is gone, before all was read
 */
export async function readSegmentAhead(
  store: SegmentStore,
  segment: SegmentMeta,
  small: number,
  latestTerms: (most: number) => string[],
): Promise<(ReadSegment & { columns: Columns | null; bytes: number }) | null> {
  const columns = segment.imported ? { columns: null, bytes: 0 } : await store.readColumnsAhead(segment.no)
  if (columns === null) return null
  const read: ReadSegment =
    sizeOf(segment) <= small
      ? { dictionary: await store.readDictionary(segment, null), lists: null }
      : { dictionary: null, lists: await listsOf(store, segment, latestTerms(LISTS_AHEAD)) }
  // A segment that is gone by now may have been gone before it was read, and a search would take
  // an empty list for the truth.
  return (await store.isStored(segment.no)) ? { ...columns, ...read } : null
}

async function listsOf(store: SegmentStore, segment: SegmentMeta, terms: string[]) {
  const wanted = terms.map(term => ({ segment, term }))
  const lists = await readLists(store, wanted, null)
  return new Map(terms.map((term, at) => [term, lists[at]!]))
}
