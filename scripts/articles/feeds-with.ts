import { openArchive } from '#search/archive/archive'
import {
  createNumberCollector,
  INDEX_STATE,
  type IndexState,
  openIndex,
  TooFrequent,
} from '#search/index'
import { ApiError } from '#services/api/contract/errors'
import { newOf } from '#services/api/desk/place'
import { archiveSettingsOf } from '#shared/config/archive'
import type { Config } from '#shared/config/config'
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

/** The most numbers that a search looks at: the archive index gives as many documents at once. */
const RANGE = 10_000n

/** Numbers in ranges, ascending. */
function rangesOf(seqs: Iterable<bigint>): bigint[][] {
  const ranges: bigint[][] = []
  for (const seq of [...seqs].sort((a, b) => (a < b ? -1 : 1))) {
    const range = ranges.at(-1)
    if (range !== undefined && seq - range[0]! < RANGE) range.push(seq)
    else ranges.push([seq])
  }
  return ranges
}

/**
 * Counts the feeds whose search finds one of the articles. Feeds by meaning are left out: their
 * articles depend on the model.
 *
 * @param wanted numbers of articles
 */
export async function countFeedsWith(
  pool: Pool,
  config: Config,
  wanted: ReadonlySet<bigint>,
): Promise<number> {
  const ranges = rangesOf(wanted)
  const index = openIndex(pool, { elsewhere: openArchive(pool, archiveSettingsOf(config)) })
  const finds = async ({ search, ...plan }: Row) => {
    const { key } = foundKey({ ...plan, used: 0, period: '', reset: 0, left: 0 })
    const query = newOf(await withSets(pool, key.id, search), BEGINNING, key.plan)
    const create = () => createNumberCollector(Number(RANGE))
    for (const seqs of ranges) {
      const now = (await readRow<IndexState>(
        pool,
        `select ${INDEX_STATE.columns} from ${INDEX_STATE.tables}`,
      ))!
      const state = { ...now, lastSeq: seqs.at(-1)! }
      const found = await index.collect(query, create, { above: seqs[0]! - 1n, state })
      if (found.seqs().some(seq => wanted.has(seq))) return true
    }
    return false
  }
  let count = 0
  try {
    const { rows } = await pool.query<Row>(FEEDS)
    for (const row of rows) {
      try {
        if (await finds(row)) count += 1
      } catch (error) {
        // The plan covers the search no more, it is one by meaning, or its words are too frequent:
        // it shows nothing, or rests.
        if (!(error instanceof ApiError || error instanceof TooFrequent)) throw error
      }
    }
  } finally {
    await index.close()
  }
  return count
}
