import type { Pool } from '../../shared/postgres/pool.ts'

/** How far the system has come; null while Postgres is away. */
export interface Progress {
  articles: number
  embedded: number
  /** Pages and embeddings that are still to do. */
  open: number
}

export async function readProgress(pool: Pool): Promise<Progress | null> {
  try {
    const { rows } = await pool.query<Progress>(
      `select (select count(*)::int from articles) as articles,
              (select count(*)::int from embeddings where embedded_at is not null) as embedded,
              (select count(*)::int from pages where state in ('waiting', 'stored'))
              + (select count(*)::int from embeddings
                  where embedded_at is null and failed_at is null and due_at < now() + interval '1 hour') as open`,
    )
    return rows[0] ?? null
  } catch {
    return null
  }
}
