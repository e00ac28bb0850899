import { placeOf } from '../analysis/hashes.ts'
import { type DocIdSet, lastingArray } from '../segment/doc-id-set.ts'
import type { SegmentMeta, SegmentRange } from '../store/segment-store.ts'

/** The articles that were taken out, at one version of the segments. */
export interface RemovedArticles {
  /** The number of the last removal; 0: there is none. */
  last: bigint
  has(seq: bigint): boolean
  /** Whether an article of a segment was taken out. */
  isOf(segment: SegmentRange): boolean
  /**
   * The documents of a segment that were taken out; null: there are none. Searches leave them out
   * (Lucene: live documents).
   *
   * @param offsets of the segment's columns
   */
  docsOf(segment: SegmentMeta, offsets: Uint16Array): DocIdSet | null
}

export const NONE_REMOVED: RemovedArticles = removedArticles(0n, [])

/** @param seqs numbers of the articles, in any order */
export function removedArticles(last: bigint, seqs: readonly number[]): RemovedArticles {
  const sorted = Float64Array.from(seqs).sort()
  // After a failover the number of a segment may be given again, to other articles.
  const docs = new Map<number, { first: bigint; removed: DocIdSet | null }>()
  const placeIn = (seq: bigint) => placeOf(sorted, Number(seq))
  return {
    last,
    has: seq => sorted[placeIn(seq)] === Number(seq),
    isOf: ({ first, last }) => placeIn(first) < placeIn(last + 1n),
    docsOf({ no, first, last }, offsets) {
      const known = docs.get(no)
      if (known?.first === first) return known.removed
      const own = sorted.subarray(placeIn(first), placeIn(last + 1n))
      const removed = own.length === 0 ? null : documentsOf(own, Number(first), offsets)
      docs.set(no, { first, removed })
      return removed
    },
  }
}

function documentsOf(seqs: Float64Array, base: number, offsets: Uint16Array): DocIdSet {
  const isRemoved = new Uint8Array(1 << 16)
  for (const seq of seqs) isRemoved[seq - base] = 1
  const docs = new Uint16Array(seqs.length)
  let count = 0
  for (let doc = 0; doc < offsets.length; doc++)
    if (isRemoved[offsets[doc]!] === 1) docs[count++] = doc
  return lastingArray(docs.subarray(0, count), offsets.length)
}
