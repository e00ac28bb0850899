import type { Pool } from '../../postgres/pool.ts'

/** Articles that may wait to be merged: searches read them one by one, some 5 µs each. */
const WAITING = 250

const waiting = new WeakMap<Pool, number>()

/**
 * Merges the entries of new articles into the index of words, when enough of them wait or `now`. Many at a time cost a
 * quarter of what one by one does, and here no other writer waits for it. What a killed writer leaves is merged by the next.
 *
 * @param added articles since the last call
 */
export async function mergeEntries(pool: Pool, added: number, now: boolean): Promise<void> {
  const count = (waiting.get(pool) ?? 0) + added
  waiting.set(pool, count)
  if (count === 0 || (count < WAITING && !now)) return
  waiting.set(pool, 0)
  await pool.query(MERGE)
}

// Without the index, while an archive is being put in for a benchmark, there is nothing to merge.
const MERGE = `
  select gin_clean_pending_list(merged) from to_regclass('fresh_articles_terms') as merged where merged is not null`
