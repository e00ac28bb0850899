import type { Queryable } from '../../shared/postgres/pool.ts'

/** For operators: the size of the index, and the articles that wait for a flush. */
export interface IndexState {
  segments: number
  /** Articles that have no stored segment yet. */
  backlog: number
}

export async function readIndexState(db: Queryable): Promise<IndexState> {
  const { rows } = await db.query<IndexState>({ name: 'index-state', text: READ })
  return rows[0]!
}

const READ = `
  select count(s.segment_no)::int as segments, (ingest_clock.last_seq - coalesce(max(s.last_seq), 0))::int as backlog
  from ingest_clock left join segments s on true
  group by ingest_clock.last_seq`
