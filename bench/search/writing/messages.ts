/** What the writer is told: so many articles a second for so long. */
export interface Job {
  /** null: as fast as it can. */
  perSecond: number | null
  seconds: number
  /** Number of the first article in the generator. */
  from: number
}

/** What the writer tells when it is done. */
export interface Written {
  articles: number
  /** ms of writing: without the making of articles, when as fast as it can. */
  ms: number
  /** ms of each transaction, from its begin to its commit. */
  transactions: number[]
  /** ms of each batch, from the call to the return. */
  batches: number[]
}
