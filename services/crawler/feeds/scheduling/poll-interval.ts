/** What is known of a feed; times in ms, by the clock of the database. */
export interface Habits {
  /** Time between two new articles, smoothed (column `rhythm`); null: not known yet. */
  articleInterval: number | null
  /** Since the last poll that brought something new; since the first poll when none has. */
  silence: number
}

export interface IntervalRange {
  /** POLL_INTERVAL_MIN and POLL_INTERVAL_MAX. */
  min: number
  max: number
}

/**
 * Polls in the time between two articles: at four, an article waits an eighth of that time on
 * average.
 */
const POLLS_PER_ARTICLE = 4
/** Weight of the latest gap. */
const SMOOTHING = 0.3
const LONGEST_INTERVAL = 20 * 86_400_000

/**
 * ms until the next poll of a feed that answers: a quarter of its article interval, or of its
 * present silence when that is longer. A busy feed is thus polled every minute or two, and a feed
 * that falls silent for the night less and less often. No feed is forgotten.
 */
export function nextPoll({ articleInterval, silence }: Habits, { min, max }: IntervalRange): number {
  const wanted = Math.max(articleInterval ?? 0, silence) / POLLS_PER_ARTICLE
  return Math.round(Math.min(Math.max(wanted, min), Math.max(min, max)))
}

/**
 * ms until the next poll of a feed that fails: twice as long each time, up to sixteen times the
 * shortest, where it stays for a while, so that the end of an outage of an hour or two is soon
 * noticed; then on to the longest.
 *
 * @param failures in a row, this one included
 */
export function nextPollAfterFailure(failures: number, { min, max }: IntervalRange): number {
  const doublings = failures <= PLATEAU ? failures : Math.max(PLATEAU, failures - PLATEAU_FAILURES)
  return Math.round(Math.min(Math.max(min, 1) * 2 ** Math.min(doublings, 30), Math.max(min, max)))
}

const PLATEAU = 4
const PLATEAU_FAILURES = 8

/**
 * The article interval after a poll that named `fresh` new addresses. A poll that named none leaves
 * it unchanged, and so does the first.
 */
export function nextArticleInterval(
  { articleInterval, silence }: Habits,
  fresh: number,
  first: boolean,
): number | null {
  if (fresh === 0 || first) return articleInterval
  const gap = Math.min(silence / fresh, LONGEST_INTERVAL)
  return Math.round(articleInterval === null ? gap : articleInterval + SMOOTHING * (gap - articleInterval))
}
