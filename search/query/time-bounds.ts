import type { Prelude } from '../store/snapshot.ts'
import type { ArticleQuery } from './article-query.ts'

/** A half-open stretch of time, in ms since 1970. */
export interface Span {
  from: number
  to: number
}

export const NEVER: Span = { from: 0, to: 0 }

export const isEmpty = ({ from, to }: Span) => from >= to

/** The times that the request and the plan allow (decisions 12–14). */
export interface Bounds {
  published: Span
  /** Articles without a date of publication belong to the set when they were ingested since then; null: none does. */
  undatedSince: number | null
  /** null: whenever, and also if that is not known. */
  ingested: Span | null
}

/**
 * The bounds of a search, cut to the days there are articles of, so that no span is without end. Null when no article can
 * lie within.
 */
export function boundsOf({ coverage, ingestedAfter, sort }: ArticleQuery, { days }: Prelude): Bounds | null {
  const { historyStart, publishedAfter, publishedBefore } = coverage
  const from = Math.max(historyStart.getTime(), publishedAfter?.getTime() ?? -Infinity)
  // Times have milliseconds, so "up to and including" is "before the next".
  const to = publishedBefore === null ? Infinity : publishedBefore.at.getTime() + (publishedBefore.exclusive ? 0 : 1)
  const published = cut({ from, to }, days.published_at)
  const undatedSince = publishedAfter === null && publishedBefore === null ? historyStart.getTime() : null
  const needsIngested = ingestedAfter !== null || sort === 'ingested_at'
  const ingested = cut({ from: ingestedAfter?.getTime() ?? -Infinity, to: Infinity }, days.ingested_at)
  if (isEmpty(published) && undatedSince === null) return null
  if (needsIngested && isEmpty(ingested)) return null
  return { published, undatedSince, ingested: needsIngested ? ingested : null }
}

function cut(span: Span, days: Span | null): Span {
  return days === null ? NEVER : { from: Math.max(span.from, days.from), to: Math.min(span.to, days.to) }
}
