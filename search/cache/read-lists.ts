import { createPace } from '../pace.ts'
import { type DocIdSet, emptySet } from '../segment/doc-id-set.ts'
import { entryStart, readEntry } from '../segment/postings.ts'
import { type ListKey, type SegmentStore, sizeOf } from '../store/segment-store.ts'

/**
 * Reads posting lists; the result has the order of `wanted`.
 *
 * @param version null: the segments are read ahead
 */
export async function readLists(store: SegmentStore, wanted: ListKey[], version: bigint | null): Promise<DocIdSet[]> {
  const blocks = await store.readBuckets(wanted, version)
  const pace = createPace()
  const lists: DocIdSet[] = []
  for (const [index, { segment, term }] of wanted.entries()) {
    const block = blocks[index]
    const size = sizeOf(segment)
    lists.push((block && readEntry(block, entryStart(term), size)) ?? emptySet(size))
    if (pace.isDue()) await pace.rest()
  }
  return lists
}
