/** The publishing habits of a feed. Times in ms, by the clock of the database. */
export interface Habits {
  /** The smoothed time between two new articles (column `rhythm`); null: not known yet. */
  articleInterval: number | null
  /** Time since the last poll with a new article; since the first poll when there was none. */
  silence: number
  /** Time for which the answer says that it stays as it is. */
  fresh?: number
}

export interface IntervalRange {
  /** POLL_INTERVAL_MIN and POLL_INTERVAL_MAX. */
  min: number
  max: number
}

/**
 * The number of polls in the time between two articles. With four, an article waits an eighth of
 * that time on average.
 */
const POLLS_PER_ARTICLE = 4
/**
 * The part of the longest interval for which `max-age` is believed. By default a quarter of an
 * hour: some servers send a day with everything, and news must not wait for it.
 */
const BELIEVED_FRESH = 1 / 4
/** The weight of the latest gap in the smoothed interval. */
const SMOOTHING = 0.3
const LONGEST_INTERVAL = 20 * 86_400_000

/**
 * ms until the next poll of a feed that answers. It is a quarter of the feed's article interval, or
 * of its present silence when that is longer. A busy feed is thus polled every minute or two. A
 * feed that is silent at night is polled less and less often, but no feed is forgotten. An answer
 * that calls itself fresh is not asked for again before that time is over, within limits.
 */
export function nextPoll({ articleInterval, silence, fresh = 0 }: Habits, { min, max }: IntervalRange): number {
  const believed = Math.min(fresh, max * BELIEVED_FRESH)
  const wanted = Math.max(Math.max(articleInterval ?? 0, silence) / POLLS_PER_ARTICLE, believed)
  return Math.round(Math.min(Math.max(wanted, min), Math.max(min, max)))
}

/**
 * ms until the next poll of a feed that fails. The wait doubles with each failure, up to sixteen
 * times the shortest. It stays there for eight failures, so that we soon notice the end of an
 * outage of an hour or two. Then it grows to the longest.
 *
 * @param failures the number of failures in a row, this one included
 */
export function nextPollAfterFailure(failures: number, { min, max }: IntervalRange): number {
  const doublings = failures <= PLATEAU ? failures : Math.max(PLATEAU, failures - PLATEAU_FAILURES)
  return Math.round(Math.min(Math.max(min, 1) * 2 ** Math.min(doublings, 30), Math.max(min, max)))
}

const PLATEAU = 4
const PLATEAU_FAILURES = 8

/**
 * The article interval after a poll with `discovered` new addresses. A poll without any does not
 * change it, nor does the first poll: that one finds the whole feed.
 */
export function nextArticleInterval(
  { articleInterval, silence }: Habits,
  discovered: number,
  first: boolean,
): number | null {
  if (discovered === 0 || first) return articleInterval
  const gap = Math.min(silence / discovered, LONGEST_INTERVAL)
  return Math.round(articleInterval === null ? gap : articleInterval + SMOOTHING * (gap - articleInterval))
}
