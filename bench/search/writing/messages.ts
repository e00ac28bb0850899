/** A job for the writer: its articles a second, and for how many seconds. */
export interface Job {
  /** null: as fast as it can. */
  perSecond: number | null
  seconds: number
  /** Number of the first article in the generator. */
  from: number
}

/** The result of a job. */
export interface Written {
  articles: number
  /** ms of writing. At full speed this excludes the generation of articles. */
  ms: number
  /** ms of each transaction, from its begin to its commit. */
  transactions: number[]
  /** ms of each batch, from the call to the return. */
  batches: number[]
}

/**
 * Articles to generate before they are written. That takes a tenth of the time of writing them.
 */
export interface Making {
  from: number
  articles: number
}
