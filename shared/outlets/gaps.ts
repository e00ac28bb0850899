import type { Queryable } from '../postgres/pool.ts'

/** SQL: gaps are shown for so long, and a feed's count begins anew after so long without one. */
export const GAPS_SHOWN = "interval '7 days'"

/**
 * Feeds of the catalogue that rolled on between two polls in the last seven days: none of their
 * entries was known, so articles may have come and gone unseen.
 */
export interface Gaps {
  feeds: number
  outlets: number
  /** How often, all feeds together. */
  count: number
  /** When the latest one was noticed. */
  latest: Date | null
}

export async function readGaps(db: Queryable): Promise<Gaps> {
  const { rows } = await db.query<Gaps>(
    `select count(*)::int as feeds, count(distinct outlet_no)::int as outlets, coalesce(sum(gaps), 0)::int as count,
            max(gap_to) as latest
       from feeds where active and gap_to > now() - ${GAPS_SHOWN}`,
  )
  return rows[0] ?? { feeds: 0, outlets: 0, count: 0, latest: null }
}
