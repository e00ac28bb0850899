import { readIndexState } from '../../../search/indexer.ts'
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
  const { rows } = await db.query<{ indices: number; articles: number; known: number }>(READ)
  const { indices, articles, known } = rows[0]!
  if (indices === 0 && OPENSEARCH_URL.length === 0) return null
  // Articles without a stored segment are not due: the archive is filled with those that have one.
  const waiting = (await readIndexState(db)).backlog
  const due = known - Math.max(waiting, OPENSEARCH_RECENT)
  return { indices, articles, backlog: Math.max(0, due - articles) }
}

const READ = `
  select count(name)::int as indices, coalesce(max(filled_to), 0)::float8 as articles,
         ingest_clock.last_seq::float8 as known
    from ingest_clock left join archive_indices on state = 'serving'
   group by ingest_clock.last_seq`
