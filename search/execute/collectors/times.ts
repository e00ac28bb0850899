import type { Axis } from '../../query/time-bounds.ts'
import { firstAtLeast } from '../../segment/columns.ts'
import { type DocIdSet, docsOf } from '../../segment/doc-id-set.ts'
import { countBetween } from '../../segment/postings-builder.ts'
import type { Collector, DocReader } from './collector.ts'

export interface TimeCollector extends Collector {
  collect(matches: DocIdSet, values: DocReader): void
  /** By bucket. */
  readonly counts: Float64Array
  /** Matches that have no such time. */
  undated(): number
}

/**
 * Counts matches by buckets of time.
 *
 * @param starts bucket n lasts from `starts[n]` to before `starts[n + 1]`; every match that has a
 *   time lies within
 */
export function createTimeCollector(axis: Axis, starts: Float64Array): TimeCollector {
  const counts = new Float64Array(starts.length - 1)
  let undated = 0
  return {
    counts,
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
    collect(matches, segment) {
      if (matches.count === 0) return
      const { dated } = segment
      if (axis === 'published_at' && dated !== null) {
        undated += countBetween(matches, dated, matches.size)
        countInOrder(matches, segment, dated, { starts, counts })
      } else {
        const values = axis === 'published_at' ? segment.published : segment.ingested
        undated += countByValue(docsOf(matches), values, { starts, counts })
      }
    },
  }
}

interface Buckets {
  starts: Float64Array
  counts: Float64Array
}

/** Below this many matches a bucket, a look at each match is cheaper than a search for borders. */
const FEW_PER_BUCKET = 4

/** Documents stand in order of time, so a bucket is a range of documents. */
function countInOrder(matches: DocIdSet, { published }: DocReader, dated: number, buckets: Buckets): void {
  if (dated === 0) return
  const { starts, counts } = buckets
  const first = bucketOf(starts, published[0]!)
  const last = bucketOf(starts, published[dated - 1]!)
  if (matches.kind === 'array' && matches.count < (last - first) * FEW_PER_BUCKET) {
    countByValue(matches.docs, published, buckets)
    return
  }
  let from = first < 0 ? firstAtLeast(published, dated, starts[0]!) : 0
  for (let bucket = Math.max(0, first); bucket <= last && bucket < counts.length; bucket++) {
    const to = bucket === last ? dated : firstFrom(published, from, dated, starts[bucket + 1]!)
    counts[bucket]! += countBetween(matches, from, to)
    from = to
  }
}

/** The first document from `from` on with a time or a later one: mostly a near one. */
function firstFrom(values: Float64Array, from: number, end: number, time: number): number {
  let step = 16
  let low = from
  while (low + step < end && values[low + step]! < time) {
    low += step
    step *= 2
  }
  let high = Math.min(end, low + step)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (values[middle]! < time) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Documents near each other were mostly ingested near each other, so the bucket of the one before
 * is tried first.
 *
 * @returns how many have no time
 */
function countByValue(docs: Uint16Array, values: Float64Array, { starts, counts }: Buckets): number {
  const last = counts.length - 1
  const [first, end] = [starts[0]!, starts[counts.length]!]
  const perMs = counts.length / (end - first)
  let undated = 0
  let bucket = 0
  let [from, to] = [first, starts[1]!]
  let inBucket = 0
  for (let at = 0; at < docs.length; at++) {
    const time = values[docs[at]!]!
    // A comparison with NaN, the missing time, is false.
    if (time >= from && time < to) inBucket++
    else if (time >= first && time < end) {
      counts[bucket]! += inBucket
      // Buckets last nearly equally long, so the guess is the bucket or its neighbour.
      bucket = Math.min(last, Math.floor((time - first) * perMs))
      while (starts[bucket]! > time) bucket--
      while (starts[bucket + 1]! <= time) bucket++
      from = starts[bucket]!
      to = starts[bucket + 1]!
      inBucket = 1
    } else undated++
  }
  if (inBucket > 0) counts[bucket]! += inBucket
  return undated
}

/** The bucket of a time; −1: it lies before the first one. */
function bucketOf(starts: Float64Array, time: number): number {
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (starts[middle]! <= time) low = middle + 1
    else high = middle
  }
  return low - 1
}
