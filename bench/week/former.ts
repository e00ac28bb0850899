import type { Policy } from './clock.ts'
import { MINUTE } from './outlets.ts'

/** The rule's knowledge about a feed. Times are in ms. */
interface Habits {
  /** The smoothed time between two new articles. Null: not known yet. */
  articleInterval: number | null
  /** When the last poll with a new article was, or the first poll. */
  lastNew: number
}

const SMOOTHING = 0.3
const MIN = MINUTE
const MAX = 60 * MINUTE

/**
 * The former rule, for comparison. It waits a quarter of the feed's article interval, or a quarter
 * of its present silence when that is longer.
 */
export const formerPolicy: Policy<Habits> = {
  learn(before, { now, found }) {
    if (before === null) return { articleInterval: null, lastNew: now }
    if (found === 0) return before
    const gap = (now - before.lastNew) / found
    const smoothed = before.articleInterval ?? gap
    return { articleInterval: smoothed + SMOOTHING * (gap - smoothed), lastNew: now }
  },
  next({ articleInterval, lastNew }, now, fresh) {
    const wanted = Math.max(articleInterval ?? 0, now - lastNew) / 4
    return Math.min(Math.max(wanted, Math.min(fresh, MAX / 4), MIN), MAX)
  },
}
