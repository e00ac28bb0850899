import type { Pool } from '../../shared/postgres/pool.ts'
import type { ProgressBar } from '../terminal/progress-bar.ts'

const LOOK_MS = 500

/** Follows pg_dump or pg_restore by its messages and by Postgres' view of running COPYs. */
export interface TableProgress {
  /** A line that the tool wrote to standard error. */
  line(text: string): void
  stop(): void
}

/**
 * Moves a bar over the bytes of tables.
 *
 * @param tables bytes of each table, by `schema.name`
 */
export function followTables(pool: Pool, tables: Record<string, number>, bar: ProgressBar): TableProgress {
  let done = 0
  let current = ''
  const timer = setInterval(async () => {
    const copied = await copiedBytes(pool).catch(() => 0)
    bar.update(done + Math.min(copied, tables[current] ?? 0), { now: current })
  }, LOOK_MS)
  return {
    line(text) {
      const [, table] = /(?:dumping contents of|processing data for) table "([^"]+)"/.exec(text) ?? []
      const [, index] = /creating (?:INDEX|CONSTRAINT) "([^"]+)"/.exec(text) ?? []
      if (table === undefined && index === undefined) return
      done += tables[current] ?? 0
      current = table ?? `index ${index}`
      bar.update(done, { now: current })
    },
    stop: () => clearInterval(timer),
  }
}

async function copiedBytes(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    'select coalesce(max(bytes_processed), 0)::float8 as bytes from pg_stat_progress_copy where datname = current_database()',
  )
  return rows[0]?.bytes ?? 0
}
