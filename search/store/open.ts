import type { Pool } from '../../shared/postgres/pool.ts'
import { postgresSegmentWriter } from './postgres-segment-writer.ts'
import { postgresSegments } from './postgres-segments.ts'
import type { IndexReads, SegmentStore, SegmentWriter } from './segment-store.ts'

/*
 * Searches, the threads that make segments, and `reindex` all open their stores here. So another
 * place for segments is chosen in this file alone. It is no option of the entries, because a thread
 * opens its own store and cannot be handed one.
 */

export const openSegmentStore = (reads: IndexReads): SegmentStore => postgresSegments(reads)

export const openSegmentWriter = (pool: Pool): SegmentWriter => postgresSegmentWriter(pool)
