/** Kinds of requests, by their share of all. */
export const SHARES = { search: 0.6, poll: 0.25, feed: 0.1, semantic: 0.05 } as const

export type Kind = keyof typeof SHARES

export const KINDS = Object.keys(SHARES) as Kind[]

/** An order for the process that asks. */
export interface Asking {
  base: string
  key: string
  /** First pages of lists and searches by words. */
  searches: string[]
  /** The same as RSS. */
  feeds: string[]
  /** Words that questions are made of. */
  words: string[]
  /** ISO 8601; polls begin here. */
  newest: string
  /** Requests a second, whether or not earlier ones are answered; null: one after the other. */
  perSecond: number | null
  connections: number
  seconds: number
  /** Of the choice of requests. With the same one, every question would have been asked before. */
  seed: number
}

/** A request that took long. */
interface Slow {
  kind: Kind
  ms: number
  /** ISO 8601, when it was due. */
  at: string
}

/** The results of a minute of asking, or of the rest of one. */
export interface Minute {
  /** From 0. */
  minute: number
  requests: number
  /** Answers other than 200 and 304, and broken connections. */
  failures: number
  /** ms of each answer from the moment at which its request was due, by kind. */
  times: Record<Kind, number[]>
  /** The longest few. */
  slowest: Slow[]
}

/** The process sends minutes, then this. */
export interface Asked {
  seconds: number
}

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
