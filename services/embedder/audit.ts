import type { Logger } from '#shared/log/logger'
import { COVERED_TIME } from '#shared/plans/reach'
import { type Pool, readColumn, readValue, whileLocked } from '#shared/postgres/pool'
import type { Collection } from '#shared/vectors/registry'
import type { VectorStore } from '#shared/vectors/store'
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
    for await (const { wrong, fault, since } of compareVectors(
      pool,
      vectors,
      collection.name,
      signal,
    )) {
      if (fault === 'stray') {
        stray += wrong.length
        await vectors.remove(collection.name, wrong)
      } else lost += (await pool.query(MARK_LOST, [wrong, since])).rowCount ?? 0
    }
    if (lost + stray > 0)
      log.warn(
        { lost, stray },
        'the vector store lacked vectors, or held vectors of removed articles',
      )
  })
}

// They are promised anew, so that they count as late from now on, and not from their first promise.
// $1 seqs, $2 embedded before. Index: the primary key.
const MARK_LOST = `
  update embeddings set embedded_at = null, claimed_until = null, attempts = 0, due_at = clock_timestamp()
  where seq = any ($1::bigint[]) and embedded_at < $2`

/** Articles whose vectors do not agree with Postgres. */
export interface WrongVectors {
  wrong: bigint[]
  fault: 'lost' | 'stray' | 'covered'
  since: Date
}

/**
 * Compares a collection with Postgres, some thousand articles at a time, and changes nothing.
 * Yields numbers of articles by fault. It skips articles that were embedded after `since`.
 * - `lost`: an embedded article without a vector.
 * - `stray`: a vector that is not that of such an article. After a failover, another article may
 *   have the number.
 * - `covered`: a vector with another country or time than its article, so plans bound it wrongly.
 */
export async function* compareVectors(
  pool: Pool,
  vectors: VectorStore,
  name: string,
  signal?: AbortSignal,
): AsyncGenerator<WrongVectors> {
  const since = (await readValue<Date>(pool, 'select clock_timestamp()'))!
  for (let from: bigint | null = 0n; from !== null && !signal?.aborted; ) {
    const page: Awaited<ReturnType<VectorStore['list']>> = await vectors.list(name, from, PAGE)
    const seqs = page.points.map(({ seq }) => seq)
    const ids = page.points.map(({ id }) => id)
    const stray = new Set(await strayAmong(pool, seqs, ids))
    if (stray.size > 0) yield { wrong: [...stray], fault: 'stray', since }
    const covered = await readColumn<bigint>(pool, COVERED, [
      seqs,
      ids,
      page.points.map(({ country }) => country),
      page.points.map(({ coveredAt }) => coveredAt),
    ])
    if (covered.length > 0) yield { wrong: covered, fault: 'covered', since }
    const own = seqs.filter(seq => !stray.has(seq))
    for (let after: bigint | undefined = from - 1n; after !== undefined; ) {
      const lost: bigint[] = await readColumn<bigint>(pool, LOST, [
        after,
        page.next,
        since,
        own,
        PAGE,
      ])
      if (lost.length > 0) yield { wrong: lost, fault: 'lost', since }
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

// $1 seqs, $2 ids, $3 countries, $4 covered times in ms. Index: the primary key.
const COVERED = `
  select v.seq from unnest($1::bigint[], $2::text[], $3::text[], $4::float8[]) as v (seq, id, country, covered)
    join articles a using (seq)
   where v.id in ('', a.id) and (v.country <> a.country or v.covered is distinct from
           floor(extract(epoch from ${COVERED_TIME}) * 1000)::float8)`

// $1 after, $2 to before (null: to the last), $3 embedded before, $4 seqs that have a vector, $5
// limit. Index: the primary key.
const LOST = `
  select e.seq from embeddings e
  where e.seq > $1 and ($2::bigint is null or e.seq < $2) and e.embedded_at < $3
    and not exists (select from unnest($4::bigint[]) as v (seq) where v.seq = e.seq)
  order by e.seq limit $5`
