import { randomBytes } from 'node:crypto'
import type { Queryable } from '../../../shared/postgres/pool.ts'

/**
 * The key that all API processes sign cursors with: made by the first, kept in Postgres, so that a
 * cursor outlives restarts and is good in every process.
 */
export async function loadCursorSecret(db: Queryable): Promise<Buffer> {
  await db.query("insert into secrets (name, value) values ('cursor', $1) on conflict do nothing", [randomBytes(32)])
  const { rows } = await db.query<{ value: Buffer }>("select value from secrets where name = 'cursor'")
  return rows[0]!.value
}
