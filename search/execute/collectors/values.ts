import { grown } from '../../segment/arrays.ts'
import { type DocIdSet, docsOf } from '../../segment/doc-id-set.ts'
import { countCommon } from '../../segment/postings-builder.ts'
import type { Collector, DocReader } from './collector.ts'

/** Counts matches by outlet. */
export function createOutletCollector() {
  let counts = new Int32Array(1 << 10)
  const add = (no: number, count: number) => {
    if (no >= counts.length) counts = grown(counts, new Int32Array(2 ** Math.ceil(Math.log2(no + 1))))
    counts[no]! += count
  }
  return {
    aggregation: { kind: 'outlets', take: add },
    isComplete: () => false,
    /** Matches by the number of their outlet; only those with matches. */
    counts(): Map<number, number> {
      const found = new Map<number, number>()
      counts.forEach((count, publisherNo) => {
        if (count > 0) found.set(publisherNo, count)
      })
      return found
    },
    collect(matches: DocIdSet, { values }: DocReader) {
      const docs = docsOf(matches)
      for (let at = 0; at < docs.length; at++) add(values.publisherNo(docs[at]!), 1)
    },
  } satisfies Collector & Record<string, unknown>
}

/** Counts the matches that have each of some terms, by the posting lists. */
export function createTermCollector(terms: readonly string[]) {
  const counts = new Float64Array(terms.length)
  return {
    terms,
    /** By term. */
    counts,
    aggregation: {
      kind: 'terms',
      terms,
      take(found) {
        found.forEach((count, index) => {
          counts[index]! += count
        })
      },
    },
    isComplete: () => false,
    collect(matches: DocIdSet, segment: DocReader) {
      terms.forEach((term, index) => {
        counts[index]! += countCommon(matches, segment.list(term))
      })
    },
  } satisfies Collector & Record<string, unknown>
}
