import type { Pool } from '../../shared/postgres/pool.ts'
import { numberIn } from '../../test/faults/site/article.ts'

/**
 * Counts the articles that did not arrive by how far they came: those that no poll saw in a feed,
 * and those whose pages wait. The pages of all others were refused, or failed.
 *
 * @param published the number of articles, which count from 1
 * @param arrived the numbers of those that can be found
 */
export async function readMissed(
  pool: Pool,
  published: number,
  arrived: ReadonlySet<number>,
): Promise<{ missed_unseen: number; missed_waiting: number; gaps: number }> {
  const { rows: pages } = await pool.query<{ title: string | null; waits: boolean }>(
    "select entry->>'title' as title, state in ('waiting', 'stored') as waits from pages",
  )
  const waits = new Map(pages.map(page => [numberIn(page.title ?? ''), page.waits]))
  const missed = Array.from({ length: published }, (_, index) => index + 1).filter(number => !arrived.has(number))
  const { rows } = await pool.query<{ gaps: number }>('select coalesce(sum(gaps), 0)::int as gaps from feeds')
  return {
    missed_unseen: missed.filter(number => !waits.has(number)).length,
    missed_waiting: missed.filter(number => waits.get(number) === true).length,
    gaps: rows[0]?.gaps ?? 0,
  }
}
