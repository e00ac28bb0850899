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
export interface Slow {
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
