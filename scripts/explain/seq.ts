import type { Pool } from '../../shared/postgres/pool.ts'

/** An article by its id, or by the number of the page that it was made of. */
export type Wanted = { id: string } | { pageNo: bigint }

/**
 * Articles that are looked at first. Pages are stored for a week (PAGES_KEEP), in which 400 outlets
 * publish half as many.
 */
const RECENT = 262_144n

// No index has ids or numbers of pages. $1 and $2 bound `seq`, which has one.
const BY_ID = 'select seq from articles where seq > $1 and seq <= $2 and id = $3'
const BY_PAGE = 'select seq from embeddings where seq > $1 and seq <= $2 and page_no = $3 order by seq limit 1'

/** The number of an article; null: there is none. All articles are read when it is an old one. */
export async function seqOf(pool: Pool, wanted: Wanted): Promise<bigint | null> {
  if ('id' in wanted && !(await isTaken(pool, wanted.id))) return null
  const [statement, value] = 'id' in wanted ? [BY_ID, wanted.id] : [BY_PAGE, wanted.pageNo]
  const { rows: clock } = await pool.query<{ last_seq: bigint }>('select last_seq from ingest_clock')
  const last = clock[0]!.last_seq
  for (const [after, to] of [
    [last - RECENT, last],
    [0n, last - RECENT],
  ]) {
    const { rows } = await pool.query<{ seq: bigint }>(statement, [after, to, value])
    if (rows[0] !== undefined) return rows[0].seq
  }
  return null
}

/** Whether an article has this id. Index: the primary key. */
async function isTaken(pool: Pool, id: string): Promise<boolean> {
  return (await pool.query('select from article_ids where id = $1', [id])).rowCount === 1
}
