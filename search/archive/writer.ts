import type { Pool } from '../../shared/postgres/pool.ts'
import { SEGMENT_SIZES } from '../indexing/policy.ts'
import { openReads } from '../store/index-reads.ts'
import { openSegmentWriter } from '../store/open.ts'
import { postgresArchive } from '../store/postgres-archive.ts'
import { postgresArticles } from '../store/postgres-articles.ts'
import { type ArchiveSettings, openArchiveClient } from './client.ts'
import { countDue, deleteRetired, fillArchive } from './fill.ts'
import type { IndexShape } from './mapping.ts'
import { restoreSegments } from './restore.ts'

/** Articles after which searches find the new ones in the archive. */
const STEP = 65_536n

export interface ArchiveWriterOptions extends IndexShape {
  /** Articles in one index. */
  size: bigint
  /** The newest articles that stay out of the archive. */
  recent: bigint
  /** Tests make it small. */
  step?: bigint
  /** Size of segments that are made anew. */
  segment?: bigint
}

/** Told of articles that are done; the work goes on when it resolves. */
export type Worked = (articles: number) => Promise<void>

/** Fills and empties the archive. */
export interface ArchiveWriter {
  /** Articles that `fill` would put in. */
  countDue(): Promise<number>
  /** @returns whether it is complete */
  fill(worked: Worked, signal: AbortSignal): Promise<boolean>
  /** Marks every index, so that `fill` builds it anew. */
  markStale(): Promise<void>
  /** Drops the segments of the articles that the archive has. @returns whether it is complete */
  release(worked: Worked, signal: AbortSignal): Promise<boolean>
  /** Makes released segments anew, then deletes every index. @returns whether it is complete */
  empty(worked: Worked, signal: AbortSignal): Promise<boolean>
  /** Articles whose segments a task would drop or make. */
  countReleased(task: 'release' | 'empty'): Promise<number>
  /** Runs work while no other process changes the archive. @returns null: another one does */
  exclusively<T>(work: () => Promise<T>): Promise<T | null>
  close(): Promise<void>
}

export function openArchiveWriter(pool: Pool, settings: ArchiveSettings, options: ArchiveWriterOptions): ArchiveWriter {
  const client = openArchiveClient(settings)
  const store = postgresArchive(pool)
  const { size, recent, shards, replicas, step = STEP, segment = SEGMENT_SIZES.merged } = options
  /** Articles that have no segment yet, and the newest ones, stay out. */
  const until = async () => {
    const segments = openSegmentWriter(pool)
    const covered = (await segments.readRanges()).at(-1)?.last ?? 0n
    const newest = (await segments.readLastSeq()) - recent
    return newest < covered ? newest : covered
  }
  return {
    countDue: async () => countDue({ client, store, until: await until() }),
    async fill(worked, signal) {
      return fillArchive({
        ...{
          client,
          store,
          source: postgresArticles(openReads(pool)),
          until: await until(),
          shape: { shards, replicas },
        },
        ...{ size, step, prefix: settings.prefix, worked, signal },
      })
    },
    async markStale() {
      const serving = (await store.readIndices()).filter(one => one.state === 'serving')
      await store.markStale(serving.map(one => one.name))
    },
    async release(worked, signal) {
      while (!signal.aborted) {
        const articles = await store.releaseNext()
        if (articles === 0) return true
        await worked(articles)
      }
      return false
    },
    async empty(worked, signal) {
      if (!(await restoreSegments(pool, store, segment, worked, signal))) return false
      await store.retireAll()
      await deleteRetired({ client, store })
      return true
    },
    async countReleased(task) {
      const released = Number(await store.readReleasedTo())
      if (task === 'empty') return released
      const all = await store.readIndices()
      return all.reduce((most, one) => Math.max(most, one.state === 'serving' ? Number(one.filledTo) - released : 0), 0)
    },
    exclusively: store.exclusively,
    close: client.close,
  }
}
