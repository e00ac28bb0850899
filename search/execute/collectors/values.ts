import { grown } from '../../segment/arrays.ts'
import { lowestBit } from '../../segment/bitmap.ts'
import type { OutletCounts } from '../../segment/columns.ts'
import { type DocIdSet, docsOf, inverse } from '../../segment/doc-id-set.ts'
import { countCommon } from '../../segment/postings-builder.ts'
import type { Collector, DocReader } from './collector.ts'

interface OutletCollector extends Collector {
  collect(matches: DocIdSet, values: DocReader): void
  /** Matches by the number of their outlet; only those with matches. */
  counts(): Map<number, number>
}

/** Outlets with a number from here on are counted in a map. Few systems come so far. */
const MOST_IN_ARRAY = 1 << 20

/** Counts matches by outlet. */
export function createOutletCollector(): OutletCollector {
  let counts = new Int32Array(1 << 10)
  const others = new Map<number, number>()

  const makeRoom = (highest: number) => {
    if (highest < counts.length) return
    counts = grown(counts, new Int32Array(2 ** Math.ceil(Math.log2(highest + 1))))
  }
  const addTo = (no: number, count: number) => {
    if (no >= MOST_IN_ARRAY) others.set(no, (others.get(no) ?? 0) + count)
    else {
      makeRoom(no)
      counts[no]! += count
    }
  }
  const addOneByOne = (docs: Uint16Array, publisherNo: (doc: number) => number) => {
    for (const doc of docs) addTo(publisherNo(doc), 1)
  }
  const addWhole = ({ nos, counts: own }: OutletCounts) => {
    for (let at = 0; at < nos.length; at++) counts[nos[at]!]! += own[at]!
  }
  return {
    aggregation: { kind: 'outlets', take: addTo },
    isComplete: () => false,
    counts() {
      const found = new Map(others)
      counts.forEach((count, publisherNo) => {
        if (count > 0) found.set(publisherNo, count)
      })
      return found
    },
    collect(matches, { values, outlets }) {
      if (matches.count === 0) return
      if (outlets === null || outlets.highest >= MOST_IN_ARRAY) {
        addOneByOne(docsOf(matches), values.publisherNo)
        return
      }
      makeRoom(outlets.highest)
      if (matches.count * 2 <= matches.size) add(counts, matches, outlets.publishers, 1)
      else {
        // The documents that do not match are fewer.
        addWhole(outlets)
        add(counts, inverse(matches), outlets.publishers, -1)
      }
    },
  }
}

/** Adds to the count of the outlet of each document. */
function add(counts: Int32Array, set: DocIdSet, publishers: Int32Array, step: number): void {
  if (set.kind === 'array') {
    const { docs } = set
    for (let at = 0; at < docs.length; at++) counts[publishers[docs[at]!]!]! += step
    return
  }
  const { bits } = set
  for (let at = 0; at < bits.length; at++) {
    for (let word = bits[at]!; word !== 0; word &= word - 1) {
      counts[publishers[(at << 5) + lowestBit(word)]!]! += step
    }
  }
}

interface TermCollector extends Collector {
  collect(matches: DocIdSet, values: DocReader): void
  /** By term. */
  readonly counts: Float64Array
}

/** Counts the matches that have each of some terms, by the posting lists. */
export function createTermCollector(terms: readonly string[]): TermCollector {
  const counts = new Float64Array(terms.length)
  return {
    terms,
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
    collect(matches, segment) {
      if (matches.count === 0) return
      terms.forEach((term, index) => {
        counts[index]! += countCommon(matches, segment.list(term))
      })
    },
  }
}
