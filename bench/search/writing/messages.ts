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

/**
 * Articles that are to be made before they are written: that takes a tenth of what writing them
 * does.
 */
export interface Making {
  from: number
  articles: number
}
