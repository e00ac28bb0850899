import { LIMITS } from './parameters.ts'

/** A moment as a client wrote it. */
export interface Instant {
  /** Milliseconds since 1970, rounded down. */
  ms: number
  /**
   * The fourth and later digits of the fraction, without trailing zeros. `ms` does not hold them.
   */
  beyond: string
  /** Written as a day, without a time: `ms` is its 00:00 UTC. */
  day: boolean
}

const DAY = 86_400_000
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
// The offset's `+` may have arrived as a space: that is what `+` means in a query string.
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,32}))?(?:[Zz]|([+ -])(\d{2}):(\d{2}))?$/

/** Reads a day `YYYY-MM-DD` that exists; null for anything else. */
export function parseDay(text: string): Instant | null {
  const match = DATE.exec(text)
  if (!match) return null
  const year = Number(match[1])
  const month = Number(match[2])
  const day = Number(match[3])
  if (year < LIMITS.years.minimum || year > LIMITS.years.maximum) return null
  const date = new Date(Date.UTC(year, month - 1, day))
  // Date carries 30 February over into March.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null
  return { ms: date.getTime(), beyond: '', day: true }
}

/**
 * Reads an RFC 3339 date-time (decision 12): `T` or a space, an optional fraction, `Z`, an offset,
 * or nothing, which means UTC. Second 60 is allowed where leap seconds occur (RFC 3339 §5.7), and
 * is read as the next second. Null for anything else.
 */
export function parseDateTime(text: string): Instant | null {
  const match = DATE_TIME.exec(text)
  if (!match) return null
  const day = parseDay(match[1] ?? '')
  const hour = Number(match[2])
  const minute = Number(match[3])
  const second = Number(match[4])
  const offsetHour = Number(match[7] ?? 0)
  const offsetMinute = Number(match[8] ?? 0)
  if (!day || hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59)
    return null
  const offset = (offsetHour * 60 + offsetMinute) * 60_000 * (match[6] === '-' ? -1 : 1)
  const whole = day.ms + ((hour * 60 + minute) * 60 + second) * 1_000 - offset
  if (second === 60 && !followsLeapSecond(whole)) return null
  const fraction = (match[5] ?? '').padEnd(3, '0')
  return {
    ms: whole + Number(fraction.slice(0, 3)),
    beyond: fraction.slice(3).replace(/0+$/, ''),
    day: false,
  }
}

/** Reads a day or a date-time. */
export function parseInstant(text: string): Instant | null {
  return parseDay(text) ?? parseDateTime(text)
}

/**
 * The first whole millisecond that is not before the instant. Times of articles have milliseconds,
 * but a bound may have more digits.
 */
export function ceilMs(instant: Instant): number {
  return instant.beyond === '' ? instant.ms : instant.ms + 1
}

/** The last ms since 1970 that an upper bound lets in. A day lets in all of it. */
export function lastMs(instant: Instant): number {
  return instant.day ? instant.ms + DAY - 1 : instant.ms
}

/**
 * True when the upper bound `before` lies before the lower bound `after`. An upper bound that is a
 * day lies at the end of that day.
 */
export function precedes(before: Instant, after: Instant): boolean {
  if (before.day) return lastMs(before) < after.ms
  return before.ms < after.ms || (before.ms === after.ms && before.beyond < after.beyond)
}

function followsLeapSecond(ms: number): boolean {
  const date = new Date(ms)
  return (
    ms % DAY === 0 &&
    date.getUTCDate() === 1 &&
    (date.getUTCMonth() === 0 || date.getUTCMonth() === 6)
  )
}
