import type { Country } from '#shared/articles/article'
import type { HistoryStart, Plan } from './keys.ts'

/*
 * The reach of a plan: the articles that its key may see. They are those of its countries whose
 * time (`published_at`, or else `ingested_at`) is not before its history. An article with neither
 * time is in no reach. No other file says what a plan covers, but for the engine's filters
 * (`search/query/filters.ts`) and the vector store's, which are handed these values.
 */

export interface Reach {
  countries: Country[]
  since: Date
}

const DAY = 86_400_000

/**
 * The instant at which a plan's history starts (decision 13). It is fixed, or it is 00:00 UTC of
 * the day that lies `days` days before `now`.
 */
export function historyStart(history: HistoryStart, now: Date): Date {
  if (history.kind === 'fixed') return history.at
  return new Date(Math.floor(now.getTime() / DAY) * DAY - history.days * DAY)
}

/** The part of the articles that a plan covers now. */
export const coveredBy = ({ countries, history }: Plan): Reach => ({
  countries,
  since: historyStart(history, new Date()),
})

/** The fields of the article object (docs/contract.md) that say whether a plan covers it. */
interface Placed {
  country: Country
  published_at: string | null
  ingested_at: string | null
}

/** Whether an article is in the reach. */
export function covers({ countries, since }: Reach, article: Placed): boolean {
  const time = article.published_at ?? article.ingested_at
  return time !== null && new Date(time) >= since && countries.includes(article.country)
}

/** SQL: the time of an article of `articles a` that is compared with a plan's history. */
export const COVERED_TIME = 'coalesce(a.published_at, a.ingested_at)'

/**
 * The SQL condition that an article of `articles a` is in a reach. $2 countries, $3 history start.
 */
export const COVERED: string = `a.country = any ($2) and ${COVERED_TIME} >= $3`
