import { type SegmentEvents, serveSegments } from '#search/indexer'
import type { Logger } from '#shared/log/logger'
import { counter } from '#shared/metrics'
import { createPool } from './pool.ts'

/** The address of this module. The engine runs it in a thread to make segments, with our pools. */
export const SEGMENT_THREAD: string = import.meta.url

serveSegments(url => createPool(url, 'indexer', () => {}, { max: 2, statementTimeout: 0 }))

const failures = counter(
  'index_segment_failures_total',
  'Segments of the index that could not be made.',
)

/** Logs each segment that was made. Logs and counts failures. */
export const segmentEvents = (log: Pick<Logger, 'info' | 'warn'>): SegmentEvents => ({
  made({ kind, articles, ms }) {
    log.info({ kind, articles, ms: Math.round(ms) }, 'made a segment of the index')
  },
  failed(kinds, failure) {
    failures.inc()
    log.warn({ kinds, err: failure }, 'could not make a segment of the index; it is tried again')
  },
})
