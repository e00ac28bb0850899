import type { Logger } from '../../shared/log/logger.ts'
import { type Pool, readColumn, readValue, whileLocked } from '../../shared/postgres/pool.ts'
import type { Collection } from '../../shared/vectors/registry.ts'
import type { VectorStore } from '../../shared/vectors/store.ts'
import type { EmbeddableArticle } from './articles.ts'

// The key of an advisory lock; any number would do. Only one process audits at a time.
const AUDIT_LOCK = 7_211_004_232n
const PAGE = 10_000

/**
 * Compares the serving collection with Postgres, article by article. Embedded articles without a
 * vector are marked to be embedded again. Vectors of articles that are deleted, or must not have
 * one, are removed. The audit skips articles that are embedded while it runs.
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
    let lost = 0
    let stray = 0
    for await (const { wrong, isLost, since } of compareVectors(
      pool,
      vectors,
      collection.name,
      signal,
    )) {
      if (isLost) lost += (await pool.query(MARK_LOST, [wrong, since])).rowCount ?? 0
      else stray += wrong.length
      if (!isLost) await vectors.remove(collection.name, wrong)
    }
    if (lost + stray > 0)
      log.warn(
        { lost, stray },
        'the vector store lacked vectors, or held vectors of removed articles',
      )
  })
}

// $1 seqs, $2 embedded before. Index: the primary key.
const MARK_LOST = `
  update embeddings set embedded_at = null, claimed_until = null, attempts = 0
  where seq = any ($1::bigint[]) and embedded_at < $2`

/**
 * Compares a collection with Postgres, some thousand articles at a time, and changes nothing.
 * Yields numbers of embedded articles without a vector (`isLost`), or of vectors that are not those
 * of such an article: after a failover, another article may have the number. It skips articles that
 * were embedded after `since`.
 */
export async function* compareVectors(
  pool: Pool,
  vectors: VectorStore,
  name: string,
  signal?: AbortSignal,
) {
  const since = (await readValue<Date>(pool, 'select clock_timestamp()'))!
  for (let from: bigint | null = 0n; from !== null && !signal?.aborted; ) {
    const page: Awaited<ReturnType<VectorStore['seqs']>> = await vectors.seqs(name, from, PAGE)
    const stray = new Set(await strayAmong(pool, page.seqs, page.ids))
    if (stray.size > 0) yield { wrong: [...stray], isLost: false, since }
    const own = page.seqs.filter(seq => !stray.has(seq))
    for (let after: bigint | undefined = from - 1n; after !== undefined; ) {
      const lost: bigint[] = await readColumn<bigint>(pool, LOST, [
        after,
        page.next,
        since,
        own,
        PAGE,
      ])
      if (lost.length > 0) yield { wrong: lost, isLost: true, since }
      // Lost articles are read in batches, because a lost collection may have millions.
      after = lost.length < PAGE ? undefined : lost.at(-1)
    }
    from = page.next
  }
}

/**
 * Removes vectors of articles that were deleted, removed from search by meaning, or undone by a
 * failover, while they were embedded.
 */
export async function removeStray(
  pool: Pool,
  vectors: VectorStore,
  collection: string,
  articles: EmbeddableArticle[],
): Promise<void> {
  const seqs = articles.map(({ seq }) => seq)
  const ids = articles.map(({ id }) => id)
  await vectors.remove(collection, await strayAmong(pool, seqs, ids))
}

/** @param ids of the articles of which the vectors were made; '': not known */
const strayAmong = (pool: Pool, seqs: bigint[], ids: string[]): Promise<bigint[]> =>
  readColumn<bigint>(
    pool,
    `select v.seq from unnest($1::bigint[], $2::text[]) as v (seq, id)
      where not exists (select from articles a join embeddings using (seq) where a.seq = v.seq and v.id in ('', a.id))`,
    [seqs, ids],
  )

// $1 after, $2 to before (null: to the last), $3 embedded before, $4 seqs that have a vector, $5
// limit. Index: the primary key.
const LOST = `
  select e.seq from embeddings e
  where e.seq > $1 and ($2::bigint is null or e.seq < $2) and e.embedded_at < $3
    and not exists (select from unnest($4::bigint[]) as v (seq) where v.seq = e.seq)
  order by e.seq limit $5`
