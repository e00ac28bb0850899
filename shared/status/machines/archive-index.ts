import {
  type ArchiveConfig,
  type ArchiveHealth,
  archiveSettingsOf,
  readArchiveHealth,
  readIndexState,
} from '../../../search/indexer.ts'
import type { Config } from '../../config/config.ts'
import type { Pool } from '../../postgres/pool.ts'

/** The archive index in OpenSearch: its articles as Postgres knows them, and its health. */
export interface ArchiveIndexState {
  /** Indices that searches use. */
  indices: number
  /** Articles that are searched there. */
  articles: number
  /** Articles that are old enough for it and not in it. */
  backlog: number
  /** null: this process has no OPENSEARCH_URL, or no node answers. */
  health: ArchiveHealth | null
}

/** The settings that lead to the archive index. */
export type ArchiveIndexSettings = ArchiveConfig & Pick<Config, 'OPENSEARCH_RECENT'>

/** @returns null: no search uses an archive index, and none is set */
export async function readArchiveIndex(
  db: Pick<Pool, 'query'>,
  config: ArchiveIndexSettings,
): Promise<ArchiveIndexState | null> {
  const health = readHealth(config).catch(() => null)
  const { rows } = await db.query<{ indices: number; articles: number; known: number }>(READ)
  const { indices, articles, known } = rows[0]!
  if (indices === 0 && config.OPENSEARCH_URL.length === 0) return null
  // Articles without a stored segment are not due: the archive is filled with those that have one.
  const waiting = (await readIndexState(db)).backlog
  const due = known - Math.max(waiting, config.OPENSEARCH_RECENT)
  return { indices, articles, backlog: Math.max(0, due - articles), health: await health }
}

/**
 * @returns null without an archive index
 * @throws when no node answers
 */
export async function readHealth(config: ArchiveConfig): Promise<ArchiveHealth | null> {
  const settings = archiveSettingsOf(config)
  return settings === null ? null : readArchiveHealth(settings)
}

const READ = `
  select count(name)::int as indices, coalesce(max(filled_to), 0)::float8 as articles,
         ingest_clock.last_seq::float8 as known
    from ingest_clock left join archive_indices on state = 'serving'
   group by ingest_clock.last_seq`
