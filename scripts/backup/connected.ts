import type { Queryable } from '../../shared/postgres/pool.ts'
import { UsageError } from '../../shared/process/command.ts'

/**
 * Checks that nothing of Perscope is connected to the database.
 *
 * @param command the one that asks: its own connections do not count
 * @throws UsageError that names what runs
 */
export async function checkNobodyConnected(db: Queryable, command: string): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    // Without the mark of the process.
    `select distinct regexp_replace(substr(application_name, 10), ' #.*', '') as name from pg_stat_activity
     where datname = current_database() and application_name like 'perscope %'
       and application_name not like 'perscope ' || $1 || '%'
     order by name`,
    [command],
  )
  if (rows.length === 0) return
  const names = rows.map(({ name }) => name).join(', ')
  throw new UsageError(`Perscope runs on this database (${names}); end npm start, or all services, first.`)
}
