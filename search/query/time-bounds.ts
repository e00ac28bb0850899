/** The times that lists are sorted by. */
export type Axis = 'published_at' | 'ingested_at'

/** Semantic search sorts by relevance too. */
export type Sort = Axis | 'relevance'

/** The parts of a query that bound its times. */
export interface TimeFilter {
  coverage: Coverage
  ingestedAfter: Date | null
  sort: Sort
}

/** The times of publication that the plan and the request allow. */
export interface Coverage {
  historyStart: Date
  publishedAfter: Date | null
  publishedBefore: { at: Date; exclusive: boolean } | null
}

/** A half-open interval of time, in ms since 1970. */
export interface TimeSpan {
  from: number
  to: number
}

export const EMPTY_SPAN: TimeSpan = { from: 0, to: 0 }

const isEmpty = ({ from, to }: TimeSpan) => from >= to

/** The times that the request and the plan allow (decisions 12 to 14). */
export interface TimeBounds {
  published: TimeSpan
  /**
   * Articles without a date of publication match when they were ingested since then; null: none
   * matches.
   */
  undatedSince: number | null
  /** null: any time, and also none. */
  ingested: TimeSpan | null
}

export function timeBoundsOf({ coverage, ingestedAfter, sort }: TimeFilter): TimeBounds {
  const { historyStart, publishedAfter, publishedBefore } = coverage
  const from = Math.max(historyStart.getTime(), publishedAfter?.getTime() ?? -Infinity)
  // Times have milliseconds, so "up to and including" is "before the next millisecond".
  const to = publishedBefore === null ? Infinity : publishedBefore.at.getTime() + (publishedBefore.exclusive ? 0 : 1)
  const needsIngested = ingestedAfter !== null || sort === 'ingested_at'
  return {
    published: { from, to },
    undatedSince: publishedAfter === null && publishedBefore === null ? historyStart.getTime() : null,
    ingested: needsIngested ? { from: ingestedAfter?.getTime() ?? -Infinity, to: Infinity } : null,
  }
}

/**
 * The bounds cut to the days that have articles, so that no interval is unbounded.
 *
 * @param days null: no article has the time
 * @returns null: no article can lie within
 */
export function cutToDays(
  { published, undatedSince, ingested }: TimeBounds,
  days: Record<Axis, TimeSpan | null>,
): TimeBounds | null {
  const bounds: TimeBounds = {
    published: cut(published, days.published_at),
    undatedSince,
    ingested: ingested && cut(ingested, days.ingested_at),
  }
  if (isEmpty(bounds.published) && undatedSince === null) return null
  if (bounds.ingested !== null && isEmpty(bounds.ingested)) return null
  return bounds
}

function cut(span: TimeSpan, days: TimeSpan | null): TimeSpan {
  return days === null ? EMPTY_SPAN : { from: Math.max(span.from, days.from), to: Math.min(span.to, days.to) }
}

/**
 * Whether an article's times lie within; NaN: it has no such time. Comparisons with NaN are false.
 */
export function isWithin({ published, undatedSince, ingested }: TimeBounds, at: number, entered: number): boolean {
  if (Number.isNaN(at)) {
    if (undatedSince === null || !(entered >= undatedSince)) return false
  } else if (at < published.from || at >= published.to) return false
  return ingested === null || (entered >= ingested.from && entered < ingested.to)
}
