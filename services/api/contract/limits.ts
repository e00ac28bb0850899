/*
 * A file of its own, because pages for browsers need nothing else of the contract.
 */

/** Every limit of the contract ("Limits"), once. Lengths in Unicode code points. */
export const LIMITS = {
  q: 191,
  /** Shortest `q` with `search=semantic`. */
  semanticQ: 2,
  outlet: 191,
  author: 191,
  section: 100,
  outlets: 50,
  /** Longest `q` with `search=expression`. */
  expression: 1_000,
  cursor: 255,
  perPage: { minimum: 1, maximum: 100, default: 25 },
  /** Counting stops here for keyword and boolean search (decision 25). */
  totalResults: 10_000,
  /** Closest matches that a semantic search looks at. */
  candidates: 500,
  years: { minimum: 1900, maximum: 2100 },
} as const
