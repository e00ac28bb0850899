/*
 * The rule by which Perscope asked feeds until November 2026, for comparison: after a quarter of
 * the feed's article interval, or of its present silence when that is longer.
 */

/** Times in ms. */
export interface FormerHabits {
  /** The smoothed time between two new articles; null: not known yet. */
  articleInterval: number | null
  /** The last poll with a new article, or the first poll. */
  lastNew: number
}

const SMOOTHING = 0.3

export function formerLearn(before: FormerHabits | null, { now, found }: { now: number; found: number }): FormerHabits {
  if (before === null) return { articleInterval: null, lastNew: now }
  if (found === 0) return before
  const gap = (now - before.lastNew) / found
  const { articleInterval } = before
  return {
    articleInterval: articleInterval === null ? gap : articleInterval + SMOOTHING * (gap - articleInterval),
    lastNew: now,
  }
}

export function formerNextPoll(
  { articleInterval, lastNew }: FormerHabits,
  {
    now,
    fresh,
    pollsPerArticle,
    min,
    max,
  }: { now: number; fresh: number; pollsPerArticle: number; min: number; max: number },
): number {
  const wanted = Math.max(articleInterval ?? 0, now - lastNew) / pollsPerArticle
  return Math.min(Math.max(wanted, Math.min(fresh, max / 4), min), max)
}
