import type { Country } from '#shared/articles/article'
import { COVERED_TIME } from '#shared/plans/reach'
import type { Queryable } from '#shared/postgres/pool'

/** The parts of an article that are embedded, and the fields that plans limit. */
export interface EmbeddableArticle {
  seq: bigint
  id: string
  /** The number of the article's page; null: the article was imported. */
  pageNo: bigint | null
  title: string
  /** The beginning of the article's body; null: the article has no body. */
  body: string | null
  country: Country
  /** `published_at`, else `ingested_at`, in ms since 1970 (decision 26). */
  coveredAt: number | null
  /** ms since 1970; null: the import gave no time. */
  ingestedAt: number | null
  /** ms since 1970 */
  dueAt: number
  /** The number of processes that ended by an exception while they worked on this article. */
  ends: number
}

export interface NamesInLogs {
  page?: string
  article: string
}

/** The names of an article in the logs of all services. */
export const namesOf = ({ id, pageNo }: EmbeddableArticle): NamesInLogs => ({
  article: id,
  ...(pageNo === null ? {} : { page: String(pageNo) }),
})

/** Characters of a body that are read, because no model embeds more. */
const BODY = 4_000

/** Reads articles by their numbers, in that order. Those that were taken out are left out. */
export const readEmbeddable = async (db: Queryable, seqs: bigint[]): Promise<EmbeddableArticle[]> =>
  (await db.query<EmbeddableArticle>({ name: 'embed-articles', text: READ, values: [seqs, BODY] }))
    .rows

const ms = (time: string) => `floor(extract(epoch from ${time}) * 1000)::float8`

// $1 seqs, $2 characters of body. Indexes: the primary keys.
const READ = `
  select a.seq, a.id, e.page_no as "pageNo", t.title, left(t.body, $2) as body, a.country,
    ${ms(COVERED_TIME)} as "coveredAt", ${ms('a.ingested_at')} as "ingestedAt", ${ms('e.due_at')} as "dueAt",
    e.ends
  from embeddings e join articles a on a.seq = e.seq join article_texts t on t.seq = e.seq
  where e.seq = any ($1::bigint[])
  order by e.seq`
