import type { Logger } from '../shared/log/logger.ts'
import { counter, histogram } from '../shared/log/registry.ts'
import type { Pool } from '../shared/postgres/pool.ts'
import { type RebuildWork, rebuildSegment, rebuildWords, type Tokeniser } from './indexing/rebuild.ts'
import { createScheduler, type Finish, type ImportedArticles } from './indexing/scheduler.ts'
import { openSegmentWriter } from './store/postgres-segment-writer.ts'
import type { SegmentRange } from './store/segment-store.ts'

/*
 * The entry for those who write articles: the normaliser, import, reindex, benchmarks and tests.
 * Those who search use `index.ts`.
 */

export { type ArchiveConfig, archiveSettingsOf } from './archive/client.ts'
export {
  type ArchiveHealth,
  type ArchiveWriter,
  type ArchiveWriterOptions,
  openArchiveWriter,
  readArchiveHealth,
} from './archive/writer.ts'
export { authorId } from './indexing/identity.ts'
export { SEGMENT_SIZES, type SegmentSizes } from './indexing/policy.ts'
export type { RebuildWork, Tokeniser } from './indexing/rebuild.ts'
export { lowerPriority } from './indexing/scheduler.ts'
export { createKnownWords, KINDS, type KnownWords, type MakeOptions, makeSegments } from './indexing/segments.ts'
export { type IndexSize, readIndexSize } from './store/postgres-segments.ts'
export type { SegmentRange } from './store/segment-store.ts'

/** Makes segments of the articles that are written. */
export interface Indexer {
  /**
   * Called after every batch of articles; cheap. Starts the flushes and merges that are due, in
   * threads and on connections of their own. Resolves when it is decided what to start.
   *
   * @param last `seq` of the newest article
   */
  notify(last: bigint): Promise<void>
  /**
   * Makes segments of what was written. Resolves when that is done, or failed.
   *
   * @param how absent: all segments that are due
   */
  finish(how?: Finish): Promise<void>
  /** For an import: its segments, before its articles are visible. */
  imported: {
    /** Builds a segment and stores it ahead. @returns its number */
    build(articles: ImportedArticles): Promise<number>
    /** Makes the merges that are due. */
    merge(): Promise<void>
  }
  /** For `reindex`: segments and words anew, from the texts. */
  rebuild: {
    /** Ranges of the stored segments, ascending. */
    ranges(): Promise<SegmentRange[]>
    /** Runs work while no process stores segments. */
    exclusively<T>(work: () => Promise<T>): Promise<T>
    /** @returns false: it was interrupted, and nothing changed */
    segment(range: SegmentRange, work: RebuildWork): Promise<boolean>
    /** The words of articles that have no segment yet. */
    words(seqs: bigint[], tokeniser: Tokeniser): Promise<void>
  }
  stats(): { backlog: number }
  /** Ends the threads. The pool is the caller's to end. */
  close(): Promise<void>
}

const made = histogram(
  'index_segment_seconds',
  'Time to make a segment of the index, by kind of work (flush, merge, import).',
  [0.5, 1, 2, 5, 10, 20, 60, 120],
  ['kind'],
)
const failures = counter('index_segment_failures_total', 'Segments of the index that could not be made.')

/**
 * Opens the index for writing. All state belongs to what is returned.
 *
 * @param log absent: failures become process warnings
 */
export function openIndexer(pool: Pool, log?: Pick<Logger, 'info' | 'warn'>): Indexer {
  const writer = openSegmentWriter(pool)
  const scheduler = createScheduler(pool, {
    made({ kind, articles, ms }) {
      made.observe({ kind }, ms / 1_000)
      log?.info({ kind, articles, ms: Math.round(ms) }, 'made a segment of the index')
    },
    failed(kinds, failure) {
      failures.inc()
      if (log) log.warn({ kinds, err: failure }, 'could not make a segment of the index; it is tried again')
      else process.emitWarning(`could not make a segment of the index: ${failure}`)
    },
  })
  return {
    notify: scheduler.notify,
    finish: scheduler.finish,
    imported: { build: scheduler.buildImported, merge: scheduler.mergeImported },
    rebuild: {
      ranges: () => writer.readRanges(),
      exclusively: work => writer.withoutWriters(work),
      segment: (range, work) => rebuildSegment(pool, range, work),
      words: (seqs, tokeniser) => rebuildWords(pool, seqs, tokeniser),
    },
    stats: () => ({ backlog: scheduler.backlog() }),
    close: scheduler.close,
  }
}
