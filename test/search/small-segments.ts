import { SEGMENT_SIZES, serveSegments } from '#search/indexer'
import { createPool } from '#shared/postgres/pool'

/**
 * The thread of indexers that flush and merge some articles by themselves, as they do thousands.
 */
export const SMALL_SEGMENTS_THREAD: string = import.meta.url

/** Of this process, and of the threads that it starts. */
export function setSegmentSizes(flushed: number, merged: number): void {
  Object.assign(SEGMENT_SIZES, { flushed: BigInt(flushed), merged: BigInt(merged) })
  process.env.TEST_SEGMENT_SIZES = `${flushed} ${merged}`
}

const [flushed, merged] = (process.env.TEST_SEGMENT_SIZES ?? '').split(' ')
if (merged !== undefined) setSegmentSizes(Number(flushed), Number(merged))
serveSegments(url => createPool(url, 'indexer', () => {}, { max: 2, statementTimeout: 0 }))
