import { type SegmentEvents, serveSegments } from '../../search/indexer.ts'
import type { Logger } from '../log/logger.ts'
import { counter } from '../metrics.ts'
import { createPool } from './pool.ts'

/** This module is the thread in which the engine makes segments, on pools of ours. */
export const SEGMENT_THREAD = import.meta.url

serveSegments(url => createPool(url, 'indexer', () => {}, { max: 2, statementTimeout: 0 }))

const failures = counter('index_segment_failures_total', 'Segments of the index that could not be made.')

/** Logs the segments that are made, and counts those that are not. */
export const segmentEvents = (log: Pick<Logger, 'info' | 'warn'>): SegmentEvents => ({
  made({ kind, articles, ms }) {
    log.info({ kind, articles, ms: Math.round(ms) }, 'made a segment of the index')
  },
  failed(kinds, failure) {
    failures.inc()
    log.warn({ kinds, err: failure }, 'could not make a segment of the index; it is tried again')
  },
})
