/** What is known of a feed's habits; times in ms, monotonic in the database. */
export interface Habits {
  /** Between two new articles, smoothed; null: not known yet. */
  rhythm: number | null
  /** Since the last poll that brought something new; since the first poll when none has. */
  silence: number
}

export interface Bounds {
  /** POLL_INTERVAL_MIN and POLL_INTERVAL_MAX. */
  min: number
  max: number
}

/** Polls in the time between two articles: at four, an article waits an eighth of that time on average. */
const POLLS_PER_ARTICLE = 4
/** Weight of the latest gap. */
const SMOOTHING = 0.3
const LONGEST_RHYTHM = 20 * 86_400_000

/**
 * ms until the next poll of a feed that answers: a quarter of its rhythm, or of its present silence when that is longer. A
 * busy feed is thus asked every minute or two, one that falls silent for the night less and less often, and none is forgotten.
 */
export function nextPoll({ rhythm, silence }: Habits, { min, max }: Bounds): number {
  const wanted = Math.max(rhythm ?? 0, silence) / POLLS_PER_ARTICLE
  return Math.round(Math.min(Math.max(wanted, min), Math.max(min, max)))
}

/**
 * ms until the next poll of a feed that fails: twice as long each time, up to sixteen times the shortest, where it stays for a
 * while, so that the end of an outage of an hour or two is soon noticed; then on to the longest.
 *
 * @param failures in a row, this one included
 */
export function nextPollAfterFailure(failures: number, { min, max }: Bounds): number {
  const doublings = failures <= PLATEAU ? failures : Math.max(PLATEAU, failures - PLATEAU_FAILURES)
  return Math.round(Math.min(Math.max(min, 1) * 2 ** Math.min(doublings, 30), Math.max(min, max)))
}

const PLATEAU = 4
const PLATEAU_FAILURES = 8

/** The rhythm after a poll that named `fresh` new addresses; unchanged by one that named none, and by the first. */
export function nextRhythm({ rhythm, silence }: Habits, fresh: number, first: boolean): number | null {
  if (fresh === 0 || first) return rhythm
  const gap = Math.min(silence / fresh, LONGEST_RHYTHM)
  return Math.round(rhythm === null ? gap : rhythm + SMOOTHING * (gap - rhythm))
}
