import type { Country } from '../articles/article.ts'
import type { Obstacle } from '../resilience/circuit.ts'

/** An article's vector, and the values of the article that plans limit. */
export interface ArticleVector {
  seq: bigint
  vector: number[]
  country: Country
  /**
   * `published_at`, else `ingested_at`, in ms since 1970. An article without either is never
   * served.
   */
  coveredAt: number | null
}

/** The articles that a plan covers (decision 26). */
export interface Reach {
  countries: Country[]
  /** Inclusive, ms since 1970. */
  since: number
  /** Inclusive, ms since 1970; absent: no upper bound. */
  until?: number
}

/** Collections of vectors. Everything throws `VectorFailure`. */
export interface VectorStore {
  /**
   * Makes the collection and its indexes if it does not exist. Safe to call from several processes
   * at once.
   * @returns whether it did not exist
   */
  ensure(collection: string, dimensions: number): Promise<boolean>
  /**
   * A sentence on a collection that has other shards or copies than the settings say; else null. A
   * collection keeps those with which it was made.
   */
  layoutWarning(collection: string): Promise<string | null>
  /** Stores vectors, waiting until they are searchable; an article's earlier vector is replaced. */
  upsert(collection: string, vectors: ArticleVector[]): Promise<void>
  /**
   * The articles nearest to a vector, best first. All of them when the reach holds no more than
   * `limit`.
   */
  search(collection: string, vector: number[], reach: Reach, limit: number): Promise<NearArticle[]>
  /**
   * The articles nearest to another article of the collection, best first. That article is left
   * out.
   *
   * @param least the least cosine; articles below it are left out
   * @returns null: the collection has no vector of that article
   */
  around(
    collection: string,
    seq: bigint,
    reach: Reach,
    limit: number,
    least: number | null,
  ): Promise<NearArticle[] | null>
  /** The exact number of vectors; null: no such collection. */
  count(collection: string): Promise<number | null>
  /**
   * Numbers of articles that have a vector, ascending, at least `from`.
   * @returns `next`: the number to go on from; null at the end
   */
  seqs(collection: string, from: bigint, limit: number): Promise<{ seqs: bigint[]; next: bigint | null }>
  remove(collection: string, seqs: bigint[]): Promise<void>
  /** Points an alias at a collection, in one step. */
  point(alias: string, collection: string): Promise<void>
  drop(collection: string): Promise<void>
  /** Throws when the store does not answer. */
  ping(): Promise<void>
  /** Why the store is not asked at present; null: it is asked. */
  obstacle(): Obstacle | null
}

export interface NearArticle {
  seq: bigint
  /** Cosine similarity. */
  score: number
}

/**
 * The reason why a request to the vector store failed.
 * - `unavailable`: it does not answer, or not now.
 * - `refused`: it refused the request; one of the points may be the cause.
 * - `missing`: there is no such collection.
 */
export class VectorFailure extends Error {
  override name = 'VectorFailure'
  readonly kind: 'unavailable' | 'refused' | 'missing'

  constructor(kind: 'unavailable' | 'refused' | 'missing', message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.kind = kind
  }
}
