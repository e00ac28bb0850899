import type { Axis } from '../../query/time-bounds.ts'
import { firstAtLeast } from '../../segment/columns.ts'
import { type DocIdSet, docsOf } from '../../segment/doc-id-set.ts'
import { countBetween } from '../../segment/postings-builder.ts'
import type { Collector, DocReader } from './collector.ts'

/**
 * Counts matches by buckets of time.
 *
 * @param starts bucket n lasts from `starts[n]` to before `starts[n + 1]`; every match that has a
 *   time lies within
 */
export function createTimeCollector(axis: Axis, starts: Float64Array) {
  const counts = new Float64Array(starts.length - 1)
  let undated = 0
  return {
    /** By bucket. */
    counts,
    /** Matches that have no such time. */
    undated: () => undated,
    aggregation: {
      kind: 'times',
      axis,
      starts,
      take(found, without) {
        undated += without
        found.forEach((count, bucket) => {
          counts[bucket]! += count
        })
      },
    },
    isComplete: () => false,
    collect(matches: DocIdSet, { published, ingested, dated }: DocReader) {
      if (axis === 'published_at' && dated !== null && matches.kind === 'bitmap') {
        undated += countBetween(matches, dated, matches.size)
        countInOrder(matches, published, dated, starts, counts)
      } else undated += countByValue(docsOf(matches), axis === 'published_at' ? published : ingested, starts, counts)
    },
  } satisfies Collector & Record<string, unknown>
}

/** Documents stand in order of time, so a bucket is a range of documents. */
function countInOrder(
  matches: DocIdSet,
  published: Float64Array,
  dated: number,
  starts: Float64Array,
  counts: Float64Array,
): void {
  for (let from = firstAtLeast(published, dated, starts[0]!); from < dated; ) {
    // Times are whole ms.
    const bucket = firstAtLeast(starts, starts.length, published[from]! + 1) - 1
    if (bucket >= counts.length) return
    const to = firstAtLeast(published, dated, starts[bucket + 1]!)
    counts[bucket]! += countBetween(matches, from, to)
    from = to
  }
}

/** @returns how many have no time */
function countByValue(docs: Uint16Array, values: Float64Array, starts: Float64Array, counts: Float64Array): number {
  const last = counts.length - 1
  const [first, end] = [starts[0]!, starts[counts.length]!]
  const perMs = counts.length / (end - first)
  let undated = 0
  for (let at = 0; at < docs.length; at++) {
    const time = values[docs[at]!]!
    // Comparisons with NaN, the missing time, are false.
    if (time >= first && time < end) {
      // Buckets last nearly equally long, so the guess is the bucket or its neighbour.
      let bucket = Math.min(last, Math.floor((time - first) * perMs))
      while (starts[bucket]! > time) bucket--
      while (starts[bucket + 1]! <= time) bucket++
      counts[bucket]!++
    } else undated++
  }
  return undated
}
