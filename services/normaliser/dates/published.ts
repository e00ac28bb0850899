import type { Outlet } from '../../../shared/outlets/catalogue.ts'
import type { Source } from '../../../shared/outlets/origins.ts'
import type { FeedEntry } from '../../../shared/outlets/page.ts'
import { type Candidate, type Choice, choiceOf } from '../candidates/candidate.ts'
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
  return dateChoice(meta, entry, outlet, pageText, now)?.value ?? null
}

/** The same time with its origin: the source that names the day. */
export function dateChoice(
  meta: PageMetadata,
  entry: FeedEntry | null,
  outlet: Pick<Outlet, 'timeZone'>,
  pageText: string,
  now: Date,
): Choice<Date> | null {
  const reading = readingOf(meta, outlet, now)
  const chosen = choose(dateCandidates(meta, entry, pageText, reading))
  if (chosen === null) return null
  const { day, instant } = chosen
  const others = [...statedDates(meta, entry, reading).take(COMPARED)]
  return { ...choiceOf(day, others, (a, b) => sameDay(a.date, b.date)), value: new Date(instant) }
}

/** A written date and its instant, in ms; null: no such day or hour. */
export interface Moment {
  date: WrittenDate
  instant: number | null
}

/** The circumstances in which dates are read. */
interface Reading {
  options: DateOptions
  timeZone: string
  /** ms; dates behind it are refused. */
  latest: number
}

export function readingOf(meta: PageMetadata, { timeZone }: Pick<Outlet, 'timeZone'>, now: Date): Reading {
  const options = { monthFirst: monthFirstIn(meta) ?? /^en-us\b/i.test(meta.languages[0] ?? '') }
  return { options, timeZone, latest: now.getTime() + DAY }
}

/** All dates, in order of rank. Those on the page are searched lazily. */
export function* dateCandidates(
  meta: PageMetadata,
  entry: FeedEntry | null,
  pageText: string,
  reading: Reading,
): Generator<Candidate<Moment>> {
  yield* statedDates(meta, entry, reading)
  for (const { source, date } of pageDates(meta, pageText, addressDate(meta.url), reading.options)) {
    yield candidateOf(source, date, reading)
  }
}

function* statedDates(
  meta: PageMetadata,
  entry: FeedEntry | null,
  reading: Reading,
): Generator<Candidate<Moment>, undefined> {
  const read = (source: Source, values: string[]) =>
    values.flatMap(value => {
      const date = readDate(value, reading.options)
      return date === null ? [] : [{ source, date }]
    })
  const { structured, meta: tags, microdata } = meta.dates
  const stamps = [...read('json-ld', structured), ...read('meta', tags)]
  const compared = stamps.slice(0, COMPARED).map(({ date }) => date)
  for (const { source, date } of stamps) yield candidateOf(source, onEarliestClock(date, compared), reading)
  for (const value of microdata) {
    for (const { source, date } of read('microdata', [value])) yield candidateOf(source, date, reading)
  }
  for (const { source, date } of read('feed', [entry?.published ?? ''])) yield candidateOf(source, date, reading)
}

function candidateOf(source: Source, date: WrittenDate, { timeZone, latest }: Reading): Candidate<Moment> {
  const instant = instantOf(date, timeZone)
  return { source, value: { date, instant }, against: againstInstant(instant, latest) }
}

function againstInstant(instant: number | null, latest: number): string | null {
  if (instant === null) return 'not in the calendar'
  if (instant < EARLIEST) return 'before 1990'
  return instant > latest ? 'more than a day ahead' : null
}

/** The first day, with the first time that is stated on this day. */
function choose(candidates: Iterable<Candidate<Moment>>): { day: Candidate<Moment>; instant: number } | null {
  let best: { day: Candidate<Moment>; instant: number } | null = null
  for (const day of candidates) {
    const { date, instant } = day.value
    if (day.against !== null || instant === null) continue
    best ??= { day, instant }
    if (date.time !== null && sameDay(date, best.day.value.date)) return { day: best.day, instant }
  }
  return best
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
