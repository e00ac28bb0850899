import { type Candidate, type Choice, choiceOf } from '#services/normaliser/candidate'
import { anyOf } from '#services/normaliser/languages/index'
import { isWithin } from '#services/normaliser/markup/tree'
import type { Mark } from '#services/normaliser/metadata/marks'
import type { PageMetadata } from '#services/normaliser/metadata/metadata'
import type { Outlet } from '#shared/outlets/catalogue'
import type { Source } from '#shared/outlets/origins'
import type { FeedEntry } from '#shared/outlets/page'
import {
  bareDatelines,
  datelinesOfRepeats,
  isNear,
  labelBefore,
  labelled,
  monthFirstIn,
  nearDatelines,
  opensWith,
  publications,
  withoutChanges,
} from './datelines.ts'
import {
  type DateOptions,
  type FoundDate,
  findDates,
  readDate,
  sameDay,
  utcInstant,
  type WrittenDate,
  zonedInstant,
} from './written.ts'

/*
 * Pages state several dates, and some are wrong: the date of a change, a time by a wrong clock, the
 * date of another article. The sources are read in order of trust. Day and time may come from
 * different sources.
 */

const DAY = 86_400_000
const EARLIEST = Date.UTC(1990, 0, 1)

/**
 * The time at which the outlet says that it published the article (decision 36). Sources in order
 * of trust: structured data, meta tags, the feed, the page itself. Null when no source gives a
 * possible date. The result is never the time of fetching.
 *
 * - Structured data is JSON-LD. Microdata comes after the meta tags, because templates write the
 *   day of a change into it.
 * - A date more than 24 hours after `now`, or before 1990, is ignored, and the next source is read.
 * - A time without an offset is local time of the outlet.
 * - Structured data and meta tags may state the same time, to the second, on two clocks. One of
 *   them then gives local time as UTC, which is too late east of Greenwich. So the earlier time
 *   counts.
 * - A day without a time takes its time from the next source that names the same day. Without such
 *   a source it is 00:00 UTC of that day, so that a client who asks for the day finds the article.
 *
 * `pageText` is the article's own text. Its beginning is one of the last sources. The origin is the
 * source that names the day.
 */
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

/** A written date and its instant, in ms. */
export interface Moment {
  date: WrittenDate
  instant: number
}

/** The settings for reading the dates of a page. */
interface Reading {
  options: DateOptions
  timeZone: string
  /** ms; later dates are refused. */
  latest: number
}

export function readingOf(
  meta: PageMetadata,
  { timeZone }: Pick<Outlet, 'timeZone'>,
  now: Date,
): Reading {
  const options = { monthFirst: monthFirstIn(meta) ?? /^en-us\b/i.test(meta.languages[0] ?? '') }
  return { options, timeZone, latest: now.getTime() + DAY }
}

/** All dates, in order of rank. The generator looks for dates on the page only on request. */
export function* dateCandidates(
  meta: PageMetadata,
  entry: FeedEntry | null,
  pageText: string,
  reading: Reading,
): Generator<Candidate<Moment>> {
  for (const date of statedDates(meta, entry, reading)) yield doubted(date, meta, entry, reading)
  for (const { source, date } of pageDates(
    meta,
    pageText,
    dateInPath(meta.path),
    reading.options,
  )) {
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
  for (const { source, date } of stamps)
    yield candidateOf(source, onEarliestClock(date, compared), reading)
  for (const value of microdata) {
    for (const { source, date } of read('microdata', [value]))
      yield candidateOf(source, date, reading)
  }
  for (const { source, date } of read('feed', [entry?.published ?? '']))
    yield candidateOf(source, date, reading)
}

/** ms between a date and the feed's from which on the date needs another source. */
const FAR = 300 * DAY
const MACHINE_SOURCES = new Set<Source>(['json-ld', 'meta', 'microdata'])

/**
 * Objects to a date of structured data or meta tags that the page itself contradicts. A bare day
 * may be the day of the change, beside a line with the time of publication. A date of another year
 * than the feed's may be that of a template, when no other source names it.
 */
function doubted(
  candidate: Candidate<Moment>,
  meta: PageMetadata,
  entry: FeedEntry | null,
  reading: Reading,
): Candidate<Moment> {
  const { source, value, against } = candidate
  if (against !== null || !MACHINE_SOURCES.has(source)) return candidate
  if (value.date.time === null && isDayOfChange(meta, value.date, reading.options))
    return { ...candidate, against: 'the day of a change, as the page says' }
  const fed = readDate(entry?.published ?? '', reading.options)
  const far = fed === null ? null : instantOf(fed, reading.timeZone)
  if (far === null || Math.abs(far - value.instant) < FAR) return candidate
  const others = dateCandidates(meta, null, '', reading)
  const isNamed = others.some(
    other => other.source !== source && sameDay(other.value.date, value.date),
  )
  return isNamed ? candidate : { ...candidate, against: 'of another year than the feed’s' }
}

/**
 * Whether lines of the page name this day as that of a change, and an earlier time as that of the
 * publication.
 */
function isDayOfChange(meta: PageMetadata, day: WrittenDate, options: DateOptions): boolean {
  const dates = meta.lines
    .slice(0, DATED_LINES)
    .filter(line => !line.aside && line.text.length <= NOTE_LENGTH && /\d{4}/.test(line.text))
    .flatMap(line => findDates(line.text, options))
  const isEarlier = (date: WrittenDate) =>
    date.year * 10_000 + date.month * 100 + date.day < day.year * 10_000 + day.month * 100 + day.day
  return (
    dates.some(date => date.modified && sameDay(date, day)) &&
    dates.some(date => date.published && date.time !== null && isEarlier(date))
  )
}
const DATED_LINES = 200

function candidateOf(
  source: Source,
  date: WrittenDate,
  { timeZone, latest }: Reading,
): Candidate<Moment> {
  const instant = instantOf(date, timeZone)
  return { source, value: { date, instant }, against: againstInstant(instant, latest) }
}

function againstInstant(instant: number, latest: number): string | null {
  if (instant < EARLIEST) return 'before 1990'
  return instant > latest ? 'more than a day ahead' : null
}

/** The first possible day, with the first time that a source states for this day. */
function choose(
  candidates: Iterable<Candidate<Moment>>,
): { day: Candidate<Moment>; instant: number } | null {
  let best: { day: Candidate<Moment>; instant: number } | null = null
  for (const day of candidates) {
    const { date, instant } = day.value
    if (day.against !== null) continue
    best ??= { day, instant }
    if (date.time !== null && sameDay(date, best.day.value.date)) return { day: best.day, instant }
  }
  return best
}

const HOUR = 3_600_000
/** The most dates that each date is compared with, because a page may state thousands. */
const COMPARED = 20
/** The most hours between two clocks. Time zones are up to 14 hours ahead of UTC. */
const FURTHEST = 14

/** The earliest of the dates that show the same time in another time zone. */
function onEarliestClock(date: WrittenDate, dates: WrittenDate[]): WrittenDate {
  const instant = stated(date)
  if (instant === null || date.time === null) return date
  let earliest = date
  let furthest = 0
  for (const other of dates) {
    const hours = (instant - (stated(other) ?? instant)) / HOUR
    if (hours <= furthest || hours > FURTHEST || !Number.isInteger(hours)) continue
    // Times without seconds may differ by whole hours by chance. They count only when both show the
    // same local time.
    const exact = date.time.second + date.time.millisecond > 0
    if (exact || hours * 60 === (other.offset ?? 0) - (date.offset ?? 0))
      [earliest, furthest] = [other, hours]
  }
  return earliest
}

/** The instant of a time that states its offset. */
const stated = (date: WrittenDate): number | null =>
  date.time === null || date.offset === null ? null : instantOf(date, 'UTC')

function instantOf(date: WrittenDate, timeZone: string): number {
  const wall = { ...date, ...(date.time ?? MIDNIGHT) }
  if (date.time !== null && date.offset === null) return zonedInstant(wall, timeZone)
  return utcInstant(wall) - (date.offset ?? 0) * 60_000
}
const MIDNIGHT = { hour: 0, minute: 0, second: 0, millisecond: 0 }

/** Class names that mark dates of changes, or today's date. */
const NOT_PUBLISHED = new RegExp(anyOf(rules => rules.markup.notPublished))

/** The day in an address: `/2026/11/03/`, `/2026-11-03-title`, `/20261103/`. */
function dateInPath(path: string): WrittenDate | null {
  const reversed = /(?<!\d)(\d{2})[/-](\d{2})[/-]((?:19|20)\d{2})(?!\d)/.exec(path)
  if (reversed !== null) return readDate(`${reversed[3]}-${reversed[2]}-${reversed[1]}`)
  const match =
    /(?<!\d)((?:19|20)\d{2})([/_.-])(\d{1,2})\2(\d{1,2})(?!\d)/.exec(path) ??
    /(?<![\dA-Za-z])((?:19|20)\d{2})()([01]\d)([0-3]\d)(?!\d)/.exec(path)
  return match === null
    ? null
    : readDate(`${match[1]}-${match[3]?.padStart(2, '0')}-${match[4]?.padStart(2, '0')}`)
}

/** A date with the source that gives it. */
interface PageDate {
  source: Source
  date: WrittenDate
}

const from = (source: Source, dates: WrittenDate[]) =>
  dates.map((date): PageDate => ({ source, date }))

/**
 * Dates on the page, the most probable publication first. Dates near the headline come before
 * others, dates with a label of publication before dates without one, machine-readable dates before
 * texts. Dates on the day in the address come first of all. The generator looks for them only on
 * request, because most pages state their date in structured data.
 */
function* pageDates(
  meta: PageMetadata,
  pageText: string,
  address: WrittenDate | null,
  options: DateOptions,
): Generator<PageDate> {
  const read = (value: string | null) =>
    [readDate(value ?? '', options)].filter(date => date !== null)
  const dated = meta.marks.filter(mark => mark.kind === 'date')
  const changes = dated.filter(mark => isChange(meta, mark))
  const marks = dated.filter(mark => !changes.includes(mark))
  const inMark = (mark: Mark) => {
    const inside = changes.filter(change => isWithin(change.element, mark.element))
    return [...read(mark.value), ...publications(withoutChanges(mark.text, inside), options)]
  }
  const near = marks
    .filter(mark => !mark.aside && isNear(meta, mark.line))
    .toSorted((a, b) => rank(a) - rank(b))
    .map(mark => ({ stated: isStated(meta, mark), dates: inMark(mark) }))
  const lines = nearDatelines(meta, changes, options)
  const published = lines.filter(date => date.published)
  const around = [
    ...near.filter(mark => mark.stated).flatMap(mark => from('markup', mark.dates)),
    ...from('line', published),
    ...near.flatMap(mark => from('markup', mark.dates)),
    ...from('line', lines),
  ]
  if (address !== null) yield* around.filter(({ date }) => sameDay(date, address))
  yield* around
  yield* from('vague meta', meta.dates.vague.flatMap(read))
  if (address !== null) yield { source: 'address', date: address }
  yield* from('line', datelinesOfRepeats(meta, options))
  yield* from('markup', marks.filter(mark => !mark.aside).flatMap(inMark))
  yield* from('line', notesIn(meta, options))
  const opening = publications(pageText.slice(0, 200), options)
  yield* from(
    'page',
    opening.filter(date => date.published || opensWith(pageText, date)),
  )
  yield* from('script', meta.dates.scripted.flatMap(read))
  yield* from('line', bareDatelines(meta, options))
}

/** Dates in lines that state the publication, or begin with a dateline. */
const notesIn = (meta: PageMetadata, options: DateOptions): FoundDate[] =>
  meta.lines.flatMap((line, index) => {
    if (line.aside) return []
    const text = labelled(meta, line.text, index)
    return publications(text, options).filter(date => isNote(text, date) || opensWith(text, date))
  })

/**
 * Whether a line states the publication of its article. Prose also reports the publication of
 * books, but not at its beginning.
 */
const isNote = (line: string, date: FoundDate): boolean =>
  date.published && (line.length <= NOTE_LENGTH || date.index <= NOTE_LENGTH / 2)
const NOTE_LENGTH = 120

/**
 * Whether a mark holds the date of a change, or today's date. The class names show it, or the words
 * before the mark.
 */
function isChange(meta: PageMetadata, mark: Mark): boolean {
  if (/publi|posted/.test(mark.hint)) return false
  return NOT_PUBLISHED.test(mark.hints) || labelBefore(meta, mark) === 'modified'
}

const isStated = (meta: PageMetadata, mark: Mark): boolean =>
  /publi|posted|created/.test(mark.hint) || labelBefore(meta, mark) === 'published'

const rank = ({ by }: Mark): number => (by === 'microdata' ? 0 : by === 'time' ? 1 : 2)
