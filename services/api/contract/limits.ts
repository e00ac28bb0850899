/** Every limit of the contract ("Limits"), once. Lengths in Unicode code points. */
export const LIMITS = {
  q: 191,
  /** Shortest `q` with `search=semantic`. */
  semanticQ: 2,
  outlet: 191,
  author: 191,
  cursor: 255,
  perPage: { minimum: 1, maximum: 100, default: 25 },
  /** Counting stops here for keyword and boolean search (decision 25). */
  totalResults: 10_000,
  /** Closest matches that a semantic search looks at. */
  candidates: 500,
  years: { minimum: 1900, maximum: 2100 },
} as const

/** `Retry-After` of a 503, in seconds (decision 7). */
export const RETRY_SEMANTIC = 30
