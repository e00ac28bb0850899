import type { Country } from '../../../shared/articles/article.ts'
import type { Queryable } from '../../../shared/postgres/pool.ts'

/** What of an article is embedded, and what plans limit. */
export interface EmbeddableArticle {
  seq: bigint
  title: string
  /** Its beginning; null: it has none. */
  body: string | null
  country: Country
  /** `published_at`, else `ingested_at`, in ms since 1970 (decision 26). */
  coveredAt: number | null
  /** ms since 1970 */
  dueAt: number
}

/** More of a body is never embedded; reading all of it would cost memory for nothing. */
const BODY = 4_000

/** Reads articles by number, in that order; those that are gone are left out. */
export async function readEmbeddable(db: Queryable, seqs: bigint[]): Promise<EmbeddableArticle[]> {
  const { rows } = await db.query<Stored>({ name: 'embed-articles', text: READ, values: [seqs, BODY] })
  return rows.map(({ seq, title, body, country, covered_at, due_at }) => ({
    seq,
    title,
    body,
    country,
    coveredAt: covered_at === null ? null : covered_at.getTime(),
    dueAt: due_at.getTime(),
  }))
}

interface Stored {
  seq: bigint
  title: string
  body: string | null
  country: Country
  covered_at: Date | null
  due_at: Date
}

// $1 seqs, $2 characters of body. Indexes: the primary keys.
const READ = `
  select a.seq, t.title, left(t.body, $2) as body, a.country, coalesce(a.published_at, a.ingested_at) as covered_at,
    e.due_at
  from embeddings e join articles a on a.seq = e.seq join article_texts t on t.seq = e.seq
  where e.seq = any ($1::bigint[])
  order by e.seq`

/** Articles that are gone need no embedding. */
export async function forgetGone(db: Queryable, seqs: bigint[], there: EmbeddableArticle[]): Promise<void> {
  if (seqs.length === there.length) return
  await db.query(
    `delete from embeddings e where e.seq = any ($1::bigint[]) and not exists (select from articles a where a.seq = e.seq)`,
    [seqs],
  )
}
