import { setTimeout as pause } from 'node:timers/promises'
import { type Queryable, readColumn } from '#shared/postgres/pool'
import { UsageError } from '#shared/process/command'

/** Codes of the errors for a lock that was not granted in time, and for a deadlock. */
const LOCKED: unknown[] = ['55P03', '40P01']
/** Tries, and ms between them: an import may write for a minute. */
const TRIES = 60
const PAUSE = 1_000

const WRITER =
  'A process that writes articles does not end its transaction (pg_stat_activity); end it and repeat the command.'

/**
 * Repeats a transaction whose locks others hold. A transaction that waits long would stop them.
 *
 * @param held says who still holds them after all tries
 */
export async function repeatLocked<T>(work: () => Promise<T>, held: string = WRITER): Promise<T> {
  for (let left = TRIES - 1; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && LOCKED.includes(error.code))) throw error
      if (left === 0) throw new Error(held, { cause: error })
      await pause(PAUSE)
    }
  }
}

/**
 * @param schema the migration that the writers must know
 * @throws UsageError while others run
 */
export async function refuseOlderWriters(db: Queryable, schema: number): Promise<void> {
  const older = await readColumn<string>(db, OLDER, [schema])
  if (older.length > 0)
    throw new UsageError(
      `Writers of an earlier version run (${older.join(', ')}), and may bring articles back; end the upgrade first.`,
    )
}

// Names of connections end with the number of their schema. $1 schema
const OLDER = `
  select distinct substring(application_name from '^perscope (\\w+)') from pg_stat_activity
   where datname = current_database() and application_name ~ '^perscope (crawler|normaliser|import) #'
     and coalesce(substring(application_name from ' m(\\d+)$')::int, 0) < $1::int order by 1`
