import type { Outlet } from '../../../shared/outlets/outlet.ts'
import type { FeedEntry } from '../../../shared/pages/page.ts'
import type { PageMetadata } from '../metadata/metadata.ts'
import { monthFirstIn } from './datelines.ts'
import { addressDate, pageDates } from './page.ts'
import { type DateOptions, readDate, sameDay, type WrittenDate } from './written.ts'
import { utcInstant, type WallTime, zonedInstant } from './zone.ts'

const DAY = 86_400_000
const EARLIEST = Date.UTC(1990, 0, 1)

/**
 * The time at which the outlet says that it published the article (decision 36). Sources in order
 * of trust: structured data, meta tags, the feed, the page itself. Null when none of them can be
 * right. Never the time of fetching.
 *
 * - Structured data is JSON-LD. Microdata comes behind the meta tags, because templates write the
 * day of a change into it.
 * - A date more than 24 hours after `now`, or before 1990, is ignored, and the next source is read.
 * - A time without an offset is the outlet's wall clock.
 * - Structured data and meta tags that state the same time, to the second, on two clocks: one of
 * them gives local time as UTC, which is too late east of Greenwich. The earlier one counts.
 * - A day without a time takes its time from the next source that names the same day; without one
 * it is 00:00 UTC of that day, so that a client who asks for the day finds it.
 *
 * `pageText` is the article's own text. Its beginning is read last.
 */
export function publishedAt(
  meta: PageMetadata,
  entry: FeedEntry | null,
  outlet: Pick<Outlet, 'timeZone'>,
  pageText: string,
  now: Date,
): Date | null {
  return choose(writtenDates(meta, entry, pageText), outlet.timeZone, now)
}

function* writtenDates(meta: PageMetadata, entry: FeedEntry | null, pageText: string): Generator<WrittenDate> {
  const options: DateOptions = { monthFirst: monthFirstIn(meta) ?? /^en-us\b/i.test(meta.languages[0] ?? '') }
  const read = (value: string) => [readDate(value, options)].filter(date => date !== null)
  const { structured, meta: tags, microdata } = meta.dates
  const stamps = [...structured, ...tags].flatMap(read)
  const compared = stamps.slice(0, COMPARED)
  for (const stamp of stamps) yield onEarliestClock(stamp, compared)
  for (const value of [...microdata, entry?.published ?? '']) yield* read(value)
  yield* pageDates(meta, pageText, addressDate(meta.url), options)
}

function choose(written: Iterable<WrittenDate>, timeZone: string, now: Date): Date | null {
  let best: { date: WrittenDate; instant: number } | null = null
  for (const date of written) {
    const instant = instantOf(date, timeZone)
    if (instant === null || instant < EARLIEST || instant > now.getTime() + DAY) continue
    if (date.time !== null && (best === null || sameDay(date, best.date))) return new Date(instant)
    best ??= { date, instant }
  }
  return best === null ? null : new Date(best.instant)
}

const HOUR = 3_600_000
/** Dates that each date is compared with: a page may state thousands. */
const COMPARED = 20
/** Time zones are up to 14 hours ahead of UTC. */
const FURTHEST = 14

/** The earliest of the dates that show the same time in another time zone. */
function onEarliestClock(date: WrittenDate, dates: WrittenDate[]): WrittenDate {
  const instant = stated(date)
  if (instant === null || date.time === null) return date
  let [earliest, furthest] = [date, 0]
  for (const other of dates) {
    const hours = (instant - (stated(other) ?? instant)) / HOUR
    if (hours <= furthest || hours > FURTHEST || !Number.isInteger(hours)) continue
    // Times without seconds may differ by whole hours by chance. They count only when both show the
    // same local time.
    const exact = date.time.second + date.time.millisecond > 0
    if (exact || hours * 60 === (other.offset ?? 0) - (date.offset ?? 0)) [earliest, furthest] = [other, hours]
  }
  return earliest
}

/** The instant of a time that states its offset. */
function stated(date: WrittenDate): number | null {
  return date.time === null || date.offset === null ? null : instantOf(date, 'UTC')
}

function instantOf(date: WrittenDate, timeZone: string): number | null {
  const none = { hour: 0, minute: 0, second: 0, millisecond: 0 }
  const wall: WallTime = { year: date.year, month: date.month, day: date.day, ...(date.time ?? none) }
  if (date.time === null) return utcInstant(wall)
  if (date.offset === null) return zonedInstant(wall, timeZone)
  const asUtc = utcInstant(wall)
  return asUtc === null ? null : asUtc - date.offset * 60_000
}
