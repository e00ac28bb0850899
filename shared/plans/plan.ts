import type { Country } from '../articles/article.ts'

/**
 * Start of the history that a plan may see: an instant, or midnight UTC so many days ago (decision
 * 13).
 */
export type HistoryStart = { kind: 'fixed'; at: Date } | { kind: 'rolling'; days: number }

/** The rights of a key. */
export interface Plan {
  countries: Country[]
  history: HistoryStart
  /** Requests per minute. */
  rate: number
  /** Requests per calendar month (UTC); null: no quota. */
  quota: number | null
}
