import type { TimeSpan } from './filters.ts'

/*
 * A day is not always 24 hours, because clocks change. This file first finds the spans in which a
 * time zone keeps one offset. Then it cuts buckets in local time. The bounds of each bucket are in
 * UTC, because searches need UTC.
 */

/** A time during which a time zone keeps one offset; ms since 1970, `to` excluded. */
interface OffsetSpan {
  from: number
  to: number
  /** ms to add to UTC for local time. */
  offset: number
}

/** A time zone of the IANA database, as Node knows it. */
export interface TimeZone {
  /** The name as the database writes it. */
  name: string
  /** The offsets between two times, in order and without gaps; at least one. */
  spans(from: number, to: number): OffsetSpan[]
}

const UTC: TimeZone = { name: 'UTC', spans: (from, to) => [{ from, to, offset: 0 }] }

/** Longer names of time zones are refused without a look-up. */
const MOST_LETTERS = 64
const IANA_NAME = /^[A-Za-z]+([/_+-][A-Za-z0-9]+)*$/

/**
 * Time zones that were requested, by canonical name. The map stays small, because the IANA database
 * has some 600 names, and most of them are aliases.
 */
const zones = new Map<string, TimeZone>()

/** @returns null: no time zone has this name */
export function timeZoneNamed(name: string): TimeZone | null {
  if (name.length > MOST_LETTERS || !IANA_NAME.test(name)) return null
  const format = offsetFormat(name)
  if (format === null) return null
  const canonical = format.resolvedOptions().timeZone
  if (canonical === 'UTC') return UTC
  const zone = zones.get(canonical) ?? createTimeZone(canonical, format)
  zones.set(canonical, zone)
  return zone
}

const DAY = 86_400_000
/** A time zone never changes its offset twice within this many ms. */
const STEP = 4 * DAY

/**
 * Makes a time zone. It finds changes of the offset one year at a time, and keeps the spans of each
 * year.
 */
function createTimeZone(name: string, format: Intl.DateTimeFormat): TimeZone {
  const years = new Map<number, OffsetSpan[]>()
  const offsetOf = (time: number) => offsetAt(time, format)

  const spansOfYear = (year: number): OffsetSpan[] => {
    const known = years.get(year)
    if (known !== undefined) return known
    const start = Date.UTC(year, 0)
    const end = Date.UTC(year + 1, 0)
    const spans: OffsetSpan[] = [{ from: start, to: end, offset: offsetOf(start) }]
    for (let at = start; at < end; at += STEP) {
      const next = Math.min(at + STEP, end - 1)
      const last = spans.at(-1)!
      const offset = offsetOf(next)
      if (offset === last.offset) continue
      last.to = firstTime(at, next, time => offsetOf(time) === offset)
      spans.push({ from: last.to, to: end, offset })
    }
    years.set(year, spans)
    return spans
  }
  return {
    name,
    spans(from, to) {
      const spans: OffsetSpan[] = []
      const last = new Date(to).getUTCFullYear()
      for (let year = new Date(from).getUTCFullYear(); year <= last; year++) {
        for (const span of spansOfYear(year)) {
          const before = spans.at(-1)
          if (before?.offset === span.offset) before.to = span.to
          else spans.push({ ...span })
        }
      }
      return spans
    },
  }
}

/**
 * The first ms between `from` and `to` that passes a test (`from` excluded). All later times must
 * pass the test too.
 */
function firstTime(from: number, to: number, passes: (time: number) => boolean): number {
  let low = from
  let high = to
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (passes(middle)) high = middle
    else low = middle
  }
  return high
}

export const TIME_UNITS = ['hour', 'day', 'week', 'month'] as const

/** A bucket is one such unit by the clocks of a time zone. Weeks are those of ISO 8601. */
export type TimeUnit = (typeof TIME_UNITS)[number]

/** Buckets that follow each other without gaps. */
interface TimeBuckets {
  /**
   * ISO 8601: `2026-11-22T08:00:00+01:00` for an hour, `2026-11-22`, `2026-W47`, `2026-11`. All
   * keys differ.
   */
  keys: string[]
  /** Bucket n lasts from `starts[n]` to before `starts[n + 1]`; ms since 1970. */
  starts: Float64Array
}

const HOUR = 3_600_000
/** The shortest length of each unit, in ms. A change of clocks may still shorten it. */
const LENGTHS: Record<TimeUnit, number> = { hour: HOUR, day: DAY, week: 7 * DAY, month: 28 * DAY }

/** The most buckets of one count: seven years of days, or a hundred days of hours. */
export const MOST_BUCKETS = 2_600

/** A count would have more than `MOST_BUCKETS` buckets. */
export class TooManyBuckets extends Error {
  override name = 'TooManyBuckets'
  readonly unit: TimeUnit
  /** The shortest unit that needs at most `MOST_BUCKETS` buckets. */
  readonly fits: TimeUnit

  constructor(unit: TimeUnit, fits: TimeUnit) {
    super(`a count by ${unit} has more than ${MOST_BUCKETS} buckets`)
    this.unit = unit
    this.fits = fits
  }
}

/**
 * The buckets that a span of time touches.
 *
 * @throws TooManyBuckets
 */
export function timeBuckets(span: TimeSpan, unit: TimeUnit, zone: TimeZone): TimeBuckets {
  if (span.from >= span.to) return { keys: [], starts: new Float64Array(1) }
  const tooLong = (one: TimeUnit) => (span.to - span.from) / LENGTHS[one] > MOST_BUCKETS
  if (tooLong(unit))
    throw new TooManyBuckets(unit, TIME_UNITS.find(one => !tooLong(one)) ?? 'month')
  // A bucket may begin before the span and end after it.
  const spans = zone.spans(span.from - LENGTHS.month - 4 * DAY, span.to + LENGTHS.month + 4 * DAY)
  return unit === 'hour' ? hours(span, spans) : calendarUnits(span, unit, spans)
}

/** Collects buckets. When a bucket has no duration, the next bucket replaces it. */
function createList() {
  const keys: string[] = []
  const starts: number[] = []
  return {
    add(key: string, start: number) {
      if (starts.at(-1) === start) keys.pop()
      else starts.push(start)
      keys.push(key)
    },
    end: (at: number): TimeBuckets => ({ keys, starts: Float64Array.of(...starts, at) }),
  }
}

/**
 * Buckets of an hour. The key of a bucket has one offset, so a bucket ends when the offset changes
 * within the hour.
 */
function hours(span: TimeSpan, spans: OffsetSpan[]): TimeBuckets {
  const list = createList()
  let end = span.from
  for (const { from, to, offset } of spans) {
    if (to <= span.from || from >= span.to) continue
    let local = floor(Math.max(from, span.from) + offset, HOUR)
    for (; local - offset < Math.min(to, span.to); local += HOUR) {
      list.add(`${localTime(local)}${offsetText(offset)}`, Math.max(from, local - offset))
    }
    end = Math.min(to, local - offset)
  }
  return list.end(end)
}

function calendarUnits(
  span: TimeSpan,
  unit: Exclude<TimeUnit, 'hour'>,
  spans: OffsetSpan[],
): TimeBuckets {
  const { first, next, key } = CALENDAR[unit]
  const list = createList()
  const { offset } = spans.find(one => one.to > span.from)!
  let local = first(span.from + offset)
  let at = 0
  for (;;) {
    // The first moment at which local clocks show this time or a later time.
    while (spans[at]!.to + spans[at]!.offset <= local) at++
    const start = Math.max(spans[at]!.from, local - spans[at]!.offset)
    if (start >= span.to) return list.end(start)
    list.add(key(local), start)
    local = next(local)
  }
}

/**
 * The functions of a unit take and return local times: ms since 1970 by the clocks of the time
 * zone.
 */
interface CalendarUnit {
  /** The beginning of the unit that contains a time. */
  first(local: number): number
  next(start: number): number
  key(start: number): string
}

const CALENDAR: Record<Exclude<TimeUnit, 'hour'>, CalendarUnit> = {
  day: {
    first: local => floor(local, DAY),
    next: start => start + DAY,
    key: start => localTime(start).slice(0, 10),
  },
  week: {
    // Weeks begin on Monday, and 1 January 1970 was a Thursday.
    first: local => floor(local + 3 * DAY, 7 * DAY) - 3 * DAY,
    next: start => start + 7 * DAY,
    key: weekKey,
  },
  month: {
    first: local => Date.UTC(new Date(local).getUTCFullYear(), new Date(local).getUTCMonth()),
    next: start => Date.UTC(new Date(start).getUTCFullYear(), new Date(start).getUTCMonth() + 1),
    key: start => localTime(start).slice(0, 7),
  },
}

const floor = (value: number, step: number) => Math.floor(value / step) * step

/** A week belongs to the year of its Thursday (ISO 8601). */
function weekKey(monday: number): string {
  const thursday = new Date(monday + 3 * DAY)
  const year = thursday.getUTCFullYear()
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0)) / (7 * DAY)) + 1
  return `${year}-W${String(week).padStart(2, '0')}`
}

const localTime = (local: number) => new Date(local).toISOString().slice(0, 19)

function offsetText(offset: number): string {
  if (offset === 0) return 'Z'
  const minutes = Math.round(Math.abs(offset) / 60_000)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

/**
 * Makes a format that writes times with the offset of an IANA time zone, for `offsetAt`; null: no
 * such time zone.
 */
export function offsetFormat(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  } catch {
    return null
  }
}

/**
 * The offset of a time zone from UTC at an instant, in milliseconds, east positive. It is read from
 * the end of a text such as `11/23/2026, GMT+01:00`. `GMT` alone is 0.
 */
export function offsetAt(instant: number, format: Intl.DateTimeFormat): number {
  const [, sign, hours, minutes, seconds] =
    /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(format.format(instant)) ?? []
  const offset =
    ((Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0)) * 1_000
  return sign === '-' ? -offset : offset
}
