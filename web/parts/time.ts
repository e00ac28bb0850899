import type { Speech } from '../words/index.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** "5 minutes ago"; the day itself when it is longer ago than a week, or ahead. */
export function ago(at: Date, now: number, { words, date }: Speech): string {
  const past = now - at.getTime()
  if (past < -MINUTE || past > 7 * DAY) return date(at, 'day')
  if (past < MINUTE) return words.time.now
  if (past < HOUR) return words.time.minutes(Math.floor(past / MINUTE))
  if (past < DAY) return words.time.hours(Math.floor(past / HOUR))
  return words.time.days(Math.floor(past / DAY))
}

/** A wait in words, in its largest unit, rounded up. */
export function wait(seconds: number, { words }: Speech): string {
  const { failure } = words
  if (seconds < 100) return failure.seconds(seconds)
  if (seconds < 2 * 3_600) return failure.minutes(Math.ceil(seconds / 60))
  if (seconds < 2 * 86_400) return failure.hours(Math.ceil(seconds / 3_600))
  return failure.days(Math.ceil(seconds / 86_400))
}
