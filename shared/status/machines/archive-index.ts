import type { Config } from '../../config/config.ts'
import type { Pool } from '../../postgres/pool.ts'

/** The archive index in OpenSearch, as Postgres knows it. */
export interface ArchiveIndexState {
  /** Indices that searches use. */
  indices: number
  /** Articles that are searched there. */
  articles: number
  /** Articles that are old enough for it and not in it. */
  backlog: number
}

/** @returns null: no search uses an archive index, and none is set */
export async function readArchiveIndex(
  db: Pick<Pool, 'query'>,
  { OPENSEARCH_URL, OPENSEARCH_RECENT }: Pick<Config, 'OPENSEARCH_URL' | 'OPENSEARCH_RECENT'>,
): Promise<ArchiveIndexState | null> {
  const { rows } = await db.query<ArchiveIndexState>(READ, [OPENSEARCH_RECENT])
  const state = rows[0]!
  return state.indices === 0 && OPENSEARCH_URL.length === 0 ? null : state
}

// Articles without a stored segment are not due: the archive is filled with those that have one.
const READ = `
  with archive as (
    select count(*)::int as indices, coalesce(max(filled_to), 0) as covered from archive_indices where state = 'serving'
  ), stored as (
    select coalesce(max(last_seq), 0) as last from segments
  )
  select indices, covered::float8 as articles,
         greatest(0, least(stored.last, ingest_clock.last_seq - $1::bigint) - covered)::float8 as backlog
    from archive, stored, ingest_clock`
