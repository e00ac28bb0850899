import type { Logger } from '../../shared/log/logger.ts'
import { type Pool, whileLocked } from '../../shared/postgres/pool.ts'
import type { Collection } from '../../shared/vectors/registry.ts'
import type { VectorStore } from '../../shared/vectors/store.ts'

// The key of an advisory lock; any number serves. One process audits at a time.
const AUDIT_LOCK = 7_211_004_232n
const PAGE = 10_000

/**
 * Compares the serving collection with Postgres, article by article. Embedded articles without a
 * vector are marked to be embedded again. Vectors of articles that are gone, or are to have none,
 * are removed. Articles that are embedded during the audit are left alone.
 */
export async function auditCollection(
  pool: Pool,
  vectors: VectorStore,
  collection: Collection,
  log: Logger,
  signal?: AbortSignal,
): Promise<void> {
  if (collection.state !== 'serving') return
  await whileLocked(pool, AUDIT_LOCK, async () => {
    const { lost, stray } = await compare(pool, vectors, collection.name, signal)
    if (lost + stray > 0)
      log.warn({ lost, stray }, 'the vector store lacked vectors, or held vectors of removed articles')
  })
}

async function compare(
  pool: Pool,
  vectors: VectorStore,
  name: string,
  signal?: AbortSignal,
): Promise<{ lost: number; stray: number }> {
  const started = await pool.query<{ now: Date }>('select clock_timestamp() as now')
  let [lost, stray] = [0, 0]
  for (let from: bigint | null = 0n; from !== null && !signal?.aborted; ) {
    const page: { seqs: bigint[]; next: bigint | null } = await vectors.seqs(name, from, PAGE)
    stray += await removeStray(pool, vectors, name, page.seqs)
    lost += await markLost(pool, page.seqs, from, page.next, started.rows[0]!.now)
    from = page.next
  }
  return { lost, stray }
}

/**
 * Removes vectors of articles that are gone, or that lost the promise of one while they were
 * embedded. Returns their number.
 */
export async function removeStray(
  pool: Pool,
  vectors: VectorStore,
  collection: string,
  seqs: bigint[],
): Promise<number> {
  const { rows } = await pool.query<{ seq: bigint }>(
    `select v.seq from unnest($1::bigint[]) as v (seq)
      where not exists (select from articles a join embeddings using (seq) where a.seq = v.seq)`,
    [seqs],
  )
  const stray = rows.map(({ seq }) => seq)
  await vectors.remove(collection, stray)
  return stray.length
}

/**
 * Marks embedded articles without a vector to be embedded again, among the articles numbered from
 * `from` to before `to` (null: to the last).
 *
 * @returns the number of marked articles
 */
async function markLost(pool: Pool, present: bigint[], from: bigint, to: bigint | null, since: Date): Promise<number> {
  for (let lost = 0; ; ) {
    const { rowCount } = await pool.query(MARK_LOST, [from, to, since, present, PAGE])
    lost += rowCount ?? 0
    // In batches: when the whole collection is lost there are millions.
    if ((rowCount ?? 0) < PAGE) return lost
  }
}

// $1 from, $2 to, $3 embedded before, $4 seqs that have a vector, $5 limit. Index: the primary key.
const MARK_LOST = `
  update embeddings set embedded_at = null, claimed_until = null, attempts = 0
  where seq in (
    select e.seq from embeddings e
    where e.seq >= $1 and ($2::bigint is null or e.seq < $2) and e.embedded_at < $3
      and not exists (select from unnest($4::bigint[]) as v (seq) where v.seq = e.seq)
    limit $5)`
