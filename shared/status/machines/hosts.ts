import type { Pool } from '../../postgres/pool.ts'

/** Processes of one host, by service. */
export interface HostProcesses {
  /** Address from which they reach the database. A proxy between them has its own. */
  host: string
  crawler: number
  normaliser: number
  embedder: number
  api: number
}

/** All connections of a process have the same name, and no other process has it (`createPool`). */
function countOf(service: string): string {
  return `count(distinct application_name) filter (where application_name like 'perscope ${service} #%')::int as ${service}`
}

const READ = `
  select coalesce(host(client_addr), 'local socket') as host,
         ${countOf('crawler')}, ${countOf('normaliser')}, ${countOf('embedder')}, ${countOf('api')}
    from pg_stat_activity
   where datname = current_database() and application_name ~ '^perscope (crawler|normaliser|embedder|api) #'
   group by 1 order by 1`

/** The hosts that processes run on, as the database sees them. */
export async function readHosts(db: Pick<Pool, 'query'>): Promise<HostProcesses[]> {
  return (await db.query<HostProcesses>({ name: 'status-hosts', text: READ })).rows
}
