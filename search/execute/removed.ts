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
  const firstAfter = (seq: number) => {
    let low = 0
    for (let high = sorted.length; low < high; ) {
      const middle = (low + high) >>> 1
      if (sorted[middle]! <= seq) low = middle + 1
      else high = middle
    }
    return low
  }
  return {
    last,
    has: seq => sorted[firstAfter(Number(seq)) - 1] === Number(seq),
    isOf: ({ first, last }) => firstAfter(Number(first) - 1) < firstAfter(Number(last)),
    docsOf({ no, first, last }, offsets) {
      const known = docs.get(no)
      if (known?.first === first) return known.removed
      const base = Number(first)
      const own = sorted.subarray(firstAfter(base - 1), firstAfter(Number(last)))
      const removed = own.length === 0 ? null : documentsOf(own, base, offsets)
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
