import { COUNTRIES } from '../../../shared/articles/article.ts'
import { createKey } from '../../../shared/plans/keys.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'

/** A key of all countries and times. @param quota null: none */
export async function benchKey(pool: Pool, quota: number | null): Promise<{ id: string; secret: string }> {
  const { key, secret } = await createKey(pool, 'bench', {
    countries: [...COUNTRIES],
    history: { kind: 'fixed', at: new Date('2000-01-01T00:00:00Z') },
    rate: 1_000_000,
    quota,
  })
  return { id: key.id, secret }
}

/** Keys are revoked, never deleted: only a bench leaves nothing behind. */
export async function deleteKeys(pool: Pool, ids: string[]): Promise<void> {
  for (const [table, column] of [
    ['quota_months', 'key_id'],
    ['rate_windows', 'key_id'],
    ['api_keys', 'id'],
  ]) {
    await pool.query(`delete from ${table} where ${column} = any ($1)`, [ids]).catch(() => {})
  }
}
