import { createNumberCollector, INDEX_STATE, type IndexState, openIndex } from '#search/index'
import { ApiError } from '#services/api/contract/errors'
import { newOf } from '#services/api/desk/place'
import { withSets } from '#shared/desk/outlet-sets'
import { foundKey, PLAN_COLUMNS, type PlanRow } from '#shared/plans/keys'
import { type Pool, readRow } from '#shared/postgres/pool'

interface Row extends PlanRow {
  search: string
}

// Index: the primary keys.
const FEEDS = `
  select f.search, p.* from search_feeds f
    join (select ${PLAN_COLUMNS} from api_keys where revoked_at is null) p on p.id = f.key_id
   where f.revoked_at is null`

/** Where in the order of ingestion all begins. */
const BEGINNING = { seq: 0n, at: new Date(0) }

/**
 * Counts the feeds whose search finds one of the articles. Each searches once, however many
 * articles there are. Feeds by meaning are left out: their articles depend on the model.
 *
 * @param wanted numbers of articles
 */
export async function countFeedsWith(pool: Pool, wanted: ReadonlySet<bigint>): Promise<number> {
  if (wanted.size === 0) return 0
  const least = [...wanted].reduce((one, other) => (one < other ? one : other))
  const index = openIndex(pool)
  let count = 0
  try {
    const { rows } = await pool.query<Row>(FEEDS)
    for (const { search, ...plan } of rows) {
      const { key } = foundKey({ ...plan, used: 0, period: '', reset: 0, left: 0 })
      const state = (await readRow<IndexState>(
        pool,
        `select ${INDEX_STATE.columns} from ${INDEX_STATE.tables}`,
      ))!
      try {
        const query = newOf(await withSets(pool, key.id, search), BEGINNING, key.plan)
        const create = () => createNumberCollector(Number.MAX_SAFE_INTEGER)
        const found = await index.collect(query, create, { above: least - 1n, state })
        if (found.seqs().some(seq => wanted.has(seq))) count += 1
      } catch (error) {
        // The plan covers the search no more, or it is one by meaning: it shows nothing, or rests.
        if (!(error instanceof ApiError)) throw error
      }
    }
  } finally {
    await index.close()
  }
  return count
}
