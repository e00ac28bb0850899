import type { Country } from '#shared/articles/article'
import { columnsOf, type Queryable, readColumn } from '#shared/postgres/pool'

/** An article's vector, and the values of the article by which plans limit searches. */
export interface ArticleVector {
  seq: bigint
  /** The article's id. After a failover, another article may get its `seq`. */
  id?: string
  vector: number[]
  country: Country
  /**
   * `published_at`, or else `ingested_at`, in ms since 1970. An article with neither time is never
   * found.
   */
  coveredAt: number | null
}

/** The articles that a plan covers (decision 26). */
export interface Reach {
  countries: Country[]
  /** First time, included; ms since 1970. */
  since: number
  /** Last time, included; ms since 1970; absent: no limit. */
  until?: number
}

/** The collections of vectors. All methods throw `VectorFailure`. */
export interface VectorStore {
  /**
   * Makes the collection and its indexes if they do not exist. Several processes may call this at
   * once.
   *
   * @returns whether the collection did not exist
   */
  ensure(collection: string, dimensions: number): Promise<boolean>
  /**
   * A sentence about a collection that has other shards or copies than the settings; otherwise
   * null. A collection keeps the shards and copies with which it was made.
   */
  layoutWarning(collection: string): Promise<string | null>
  /** The fields by which plans filter, and for which the collection has no index. */
  unindexed(collection: string): Promise<string[]>
  /** Stores vectors, and waits until searches find them. Replaces an article's earlier vector. */
  upsert(collection: string, vectors: ArticleVector[]): Promise<void>
  /**
   * The articles nearest to a vector, the best first. If at most `limit` articles are within the
   * reach, returns all of them.
   */
  search(collection: string, vector: number[], reach: Reach, limit: number): Promise<NearArticle[]>
  /**
   * The articles nearest to another article of the collection, the best first. Leaves out that
   * article.
   *
   * @param least articles with a lower cosine are left out
   * @returns null: the collection has no vector of that article. A vector under its number may be
   *   that of another article
   */
  around(
    collection: string,
    article: Pick<NearArticle, 'seq' | 'id'>,
    reach: Reach,
    limit: number,
    least: number | null,
  ): Promise<NearArticle[] | null>
  /** The exact number of vectors; null: the collection does not exist. */
  count(collection: string): Promise<number | null>
  /**
   * The articles that have a vector, from `from` on, ascending.
   *
   * @returns `next`: where the next call begins; null at the end
   */
  list(
    collection: string,
    from: bigint,
    limit: number,
  ): Promise<{ points: StoredPoint[]; next: bigint | null }>
  /** The vectors of some articles, in any order. Leaves out articles without one. */
  read(
    collection: string,
    seqs: bigint[],
  ): Promise<(Pick<NearArticle, 'seq' | 'id'> & { vector: number[] })[]>
  /** Whether a search with this vector can find this article. */
  finds(collection: string, seq: bigint, vector: number[]): Promise<boolean>
  /** Removes vectors of articles. A collection that does not exist has none. */
  remove(collection: string, seqs: bigint[]): Promise<void>
  /** Makes an alias stand for a collection, in one step. */
  point(alias: string, collection: string): Promise<void>
  drop(collection: string): Promise<void>
  /** Throws when the store does not answer. */
  ping(): Promise<void>
  /** Why no request goes to the store at present; null: requests may go. */
  obstacle(): string | null
}

/** What the store holds of an article, beside its vector. */
export interface StoredPoint extends Pick<ArticleVector, 'seq' | 'coveredAt'> {
  /** The id of the article of which the vector was made; '': an earlier version stored it. */
  id: string
  /** '': there is none. */
  country: string
}

export interface NearArticle extends Pick<StoredPoint, 'seq' | 'id'> {
  /** Cosine similarity. */
  score: number
}

/**
 * Leaves out vectors of articles that are not there. After a failover, a vector of an article that
 * was undone stays until the next audit, and another article may get its number.
 */
export async function ofTheirArticles(db: Queryable, near: NearArticle[]): Promise<NearArticle[]> {
  const text = `select seq from unnest($1::bigint[], $2::text[]) as near (seq, id) join articles a using (seq)
                 where near.id in ('', a.id)`
  const values = columnsOf(near, 'seq', 'id')
  const own = new Set(await readColumn<bigint>(db, { name: 'near-articles', text }, values))
  return near.filter(({ seq }) => own.has(seq))
}

/**
 * The reason why a request to the vector store failed.
 * - `unavailable`: the store does not answer, or asks to try again later.
 * - `refused`: it refused the request. One of the points may be the cause.
 * - `missing`: the collection does not exist.
 */
export class VectorFailure extends Error {
  override name = 'VectorFailure'
  readonly kind: 'unavailable' | 'refused' | 'missing'

  constructor(
    kind: 'unavailable' | 'refused' | 'missing',
    message: string,
    options: { cause?: unknown } = {},
  ) {
    super(message, options)
    this.kind = kind
  }
}
