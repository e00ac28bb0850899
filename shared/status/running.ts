import type { Pool } from '../postgres/pool.ts'

/** The fleet at this moment, as Postgres sees it. */
export interface Running {
  /**
   * Connections to the database by service: none means that no process of the service runs, or that
   * none reaches the database.
   */
  connections: { crawler: number; normaliser: number; embedder: number; api: number }
  /** Hosts being visited. */
  visits: number
  /** Requests with keys in the present minute of each key, and the number of these keys. */
  requests: number
  keys: number
}

const READ = `
  select count(*) filter (where application_name = 'perscope crawler')::int as crawler,
         count(*) filter (where application_name = 'perscope normaliser')::int as normaliser,
         count(*) filter (where application_name = 'perscope embedder')::int as embedder,
         count(*) filter (where application_name = 'perscope api')::int as api,
         (select count(*) from hosts where leased_until > now())::int as visits,
         (select coalesce(sum(used), 0) from rate_windows where started_at > now() - interval '1 minute')::int as requests,
         (select count(*) from rate_windows where started_at > now() - interval '1 minute')::int as keys
    from pg_stat_activity where datname = current_database()`

export async function readRunning(db: Pick<Pool, 'query'>): Promise<Running> {
  const { rows } = await db.query<Running['connections'] & Omit<Running, 'connections'>>({
    name: 'status-running',
    text: READ,
  })
  const { crawler, normaliser, embedder, api, visits, requests, keys } = rows[0]!
  return { connections: { crawler, normaliser, embedder, api }, visits, requests, keys }
}
