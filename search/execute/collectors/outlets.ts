import { type DocIdSet, docsOf } from '../../segment/doc-id-set.ts'
import type { Collector, DocReader } from './collector.ts'

export interface OutletCollector extends Collector {
  collect(matches: DocIdSet, values: DocReader): void
  /** Matches by the number of their outlet; only those with matches. */
  counts(): Map<number, number>
}

/** Numbers from here on are counted in a map. Few systems come so far. */
const MOST_IN_ARRAY = 1 << 20

/** Counts matches by outlet. */
export function createOutletCollector(): OutletCollector {
  let counts = new Uint32Array(1 << 10)
  const others = new Map<number, number>()

  const add = (publisherNo: number) => {
    if (publisherNo >= MOST_IN_ARRAY) others.set(publisherNo, (others.get(publisherNo) ?? 0) + 1)
    else {
      while (publisherNo >= counts.length) {
        const wider = new Uint32Array(counts.length * 2)
        wider.set(counts)
        counts = wider
      }
      counts[publisherNo]! += 1
    }
  }
  return {
    isComplete: () => false,
    counts() {
      const found = new Map(others)
      counts.forEach((count, publisherNo) => {
        if (count > 0) found.set(publisherNo, count)
      })
      return found
    },
    collect(matches: DocIdSet, { values }) {
      const docs = docsOf(matches)
      for (let at = 0; at < docs.length; at++) {
        const publisherNo = values.publisherNo(docs[at]!)
        if (publisherNo < counts.length) counts[publisherNo]! += 1
        else add(publisherNo)
      }
    },
  }
}
