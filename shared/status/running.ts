import type { Pool } from '../postgres/pool.ts'

/** The fleet at this moment, as Postgres sees it. */
export interface Running {
  /**
   * Processes by service that are connected to the database: none means that no process of the
   * service runs, or that none reaches the database.
   */
  processes: { crawler: number; normaliser: number; embedder: number; api: number }
  /** Hosts being visited. */
  visits: number
  /** Requests with keys in the present minute of each key, and the number of these keys. */
  requests: number
  keys: number
}

/** All connections of a process have the same name, and no other process has it (`createPool`). */
function countOf(service: string): string {
  return `count(distinct application_name) filter (where application_name like 'perscope ${service} #%')::int as ${service}`
}

const READ = `
  select ${countOf('crawler')}, ${countOf('normaliser')}, ${countOf('embedder')}, ${countOf('api')},
         (select count(*) from hosts where leased_until > now())::int as visits,
         (select coalesce(sum(used), 0) from rate_windows where started_at > now() - interval '1 minute')::int as requests,
         (select count(*) from rate_windows where started_at > now() - interval '1 minute')::int as keys
    from pg_stat_activity where datname = current_database()`

export async function readRunning(db: Pick<Pool, 'query'>): Promise<Running> {
  const { rows } = await db.query<Running['processes'] & Omit<Running, 'processes'>>({
    name: 'status-running',
    text: READ,
  })
  const { crawler, normaliser, embedder, api, visits, requests, keys } = rows[0]!
  return { processes: { crawler, normaliser, embedder, api }, visits, requests, keys }
}
