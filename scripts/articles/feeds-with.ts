import {
  createNumberCollector,
  INDEX_STATE,
  type IndexState,
  openIndex,
} from '../../search/index.ts'
import type { Doomed } from '../../search/types.ts'
import { ApiError } from '../../services/api/contract/errors.ts'
import { newOf } from '../../services/api/desk/place.ts'
import { withSets } from '../../shared/desk/outlet-sets.ts'
import { foundKey, PLAN_COLUMNS, type PlanRow } from '../../shared/plans/keys.ts'
import { type Pool, readRow } from '../../shared/postgres/pool.ts'

interface Row extends PlanRow {
  feedId: string
  search: string
}

// Index: the primary keys.
const FEEDS = `
  select f.feed_id as "feedId", f.search, p.* from search_feeds f
    join (select ${PLAN_COLUMNS} from api_keys where revoked_at is null) p on p.id = f.key_id
   where f.revoked_at is null order by 1`

/** Where in the order of ingestion all begins. */
const BEGINNING = { seq: 0n, at: new Date(0) }

/**
 * Finds the feeds whose search finds one of the articles. Feeds by meaning are left out: their
 * articles depend on the model.
 */
export async function feedsWith(pool: Pool, articles: Doomed[]): Promise<string[]> {
  const wanted = new Set(articles.map(({ seq }) => seq))
  const above = articles.reduce((least, { seq }) => (seq < least ? seq : least), articles[0]!.seq)
  const index = openIndex(pool)
  const ids: string[] = []
  try {
    const { rows } = await pool.query<Row>(FEEDS)
    for (const { feedId, search, ...plan } of rows) {
      const { key } = foundKey({ ...plan, used: 0, period: '', reset: 0, left: 0 })
      const state = (await readRow<IndexState>(
        pool,
        `select ${INDEX_STATE.columns} from ${INDEX_STATE.tables}`,
      ))!
      try {
        const query = newOf(await withSets(pool, key.id, search), BEGINNING, key.plan)
        const create = () => createNumberCollector(Number.MAX_SAFE_INTEGER)
        const found = await index.collect(query, create, { above: above - 1n, state })
        if (found.seqs().some(seq => wanted.has(seq))) ids.push(feedId)
      } catch (error) {
        // The plan covers the search no more, or it is one by meaning: it shows nothing, or rests.
        if (!(error instanceof ApiError)) throw error
      }
    }
  } finally {
    await index.close()
  }
  return ids
}
