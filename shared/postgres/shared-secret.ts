import { randomBytes } from 'node:crypto'
import type { Queryable } from './pool.ts'

/**
 * A secret of 256 bits that all processes share: made by the first that asks, kept in Postgres, so
 * that it outlives restarts. `cursor` authenticates cursors, `feeds` makes the tokens of feeds. The
 * secret of a history tells servers that hold the history from others (services/api/reading).
 */
export async function loadSharedSecret(db: Queryable, name: 'cursor' | 'feeds' | `history ${string}`): Promise<Buffer> {
  await db.query('insert into secrets (name, value) values ($1, $2) on conflict do nothing', [name, randomBytes(32)])
  const { rows } = await db.query<{ value: Buffer }>('select value from secrets where name = $1', [name])
  const value = rows[0]?.value
  if (!value) throw new Error(`The secret "${name}" was removed a moment ago; try again.`)
  return value
}
