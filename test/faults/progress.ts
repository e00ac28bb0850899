import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from '#shared/postgres/pool'
import type { LimitedPoller } from './readers/readers.ts'

export type Progress = Record<'articles' | 'embedded' | 'open', number>

/** How far the system has come, with what is still open; null while Postgres is away. */
export async function readProgress(pool: Pool): Promise<Progress | null> {
  try {
    const { rows } = await pool.query<Progress>(
      `select (select count(*)::int from articles) as articles,
              (select count(*)::int from embeddings where embedded_at is not null) as embedded,
              (select count(*)::int from pages where state in ('waiting', 'stored'))
              + (select count(*)::int from embeddings
                  where embedded_at is null and failed_at is null and due_at < now() + interval '1 hour') as open`,
    )
    return rows[0] ?? null
  } catch {
    return null
  }
}

/**
 * Without any progress for so long, what is still open is taken for lost. Longer than every lease,
 * lock and retry.
 */
const STANDSTILL_MS = 75_000
/** For the readers, once everything is there. */
const CATCH_UP_MS = 15_000

/**
 * Waits until everything published is indexed and embedded and nothing is open, or until nothing
 * moves any more.
 * @returns whether it got there
 */
export async function drain(
  pool: Pool,
  published: number,
  imported: number,
  signal: AbortSignal,
): Promise<boolean> {
  let best = 0
  let since = Date.now()
  while (!signal.aborted) {
    const progress = await readProgress(pool)
    if (progress) {
      const { articles, embedded, open } = progress
      if (articles >= published + imported && embedded >= articles - imported && open === 0)
        return true
      const moved = articles + embedded - open
      if (moved !== best) since = Date.now()
      best = moved
    }
    if (Date.now() - since > STANDSTILL_MS) return false
    await sleep(500)
  }
  return false
}

/** Waits until every poller has what there is, at most a few polls long. */
export async function catchUp(pollers: readonly LimitedPoller[], pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ country: string; n: number }>(
    'select country, count(*)::int as n from articles group by country',
  )
  const expected = (limit: string | null) =>
    rows.reduce((sum, { country, n }) => (limit === null || limit === country ? sum + n : sum), 0)
  const end = Date.now() + CATCH_UP_MS
  while (pollers.some(({ seen, country }) => seen.size < expected(country)) && Date.now() < end)
    await sleep(200)
}
