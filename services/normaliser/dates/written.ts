import { offsetAt, offsetFormat } from '#search/query/calendar'
import { anyOf, LANGUAGE_RULES } from '#services/normaliser/languages/index'
import { fold } from '#services/normaliser/markup/plain'

/*
 * A written date keeps its parts: a day, perhaps a time, perhaps an offset. It becomes an instant
 * only with the outlet's zone, so one rule decides what a missing offset means.
 */

/** A day of the calendar; months from 1. */
interface Day {
  year: number
  month: number
  day: number
}

/** A date as written, not yet an instant. */
export interface WrittenDate extends Day {
  /** Null: a day without a time. */
  time: { hour: number; minute: number; second: number; millisecond: number } | null
  /** Minutes east of UTC; null: the time is local time of the outlet. */
  offset: number | null
}

/** Whether two dates are the same day, as written. */
export const sameDay = (a: WrittenDate, b: WrittenDate): boolean =>
  a.year === b.year && a.month === b.month && a.day === b.day

/** A date found in a text. */
export interface FoundDate extends WrittenDate {
  /** Positions in the text: `index` is where the date begins, `end` is where its day ends. */
  index: number
  end: number
  /** The words before the date say that it is the date of a change. */
  modified: boolean
  /** The words before the date say that it is the date of publication. */
  published: boolean
}

export interface DateOptions {
  /**
   * True: `3/4/2026` is the fourth of March, as in the United States. Otherwise it is the third of
   * April.
   */
  monthFirst?: boolean
}

/**
 * Reads a value that is a date: RFC 3339, ISO 8601 basic, RFC 822 with its common mistakes, Unix
 * seconds or milliseconds, or the words of any of our languages. Null without a date, or when more
 * text than a label stands before it.
 */
export function readDate(value: string, options: DateOptions = {}): WrittenDate | null {
  const text = value.slice(0, 200).trim().replace(COMPACT, '$1T$2').replace(DOTNET, '$1')
  const [unix, milliseconds] = /^\d{10}(?:(\d{3})|\.\d+)?$/.exec(text) ?? []
  const written =
    unix === undefined
      ? text
      : new Date(Number(unix) * (milliseconds === undefined ? 1000 : 1)).toISOString()
  const all = findDates(written, options)
  const [first] = all
  if (first === undefined || first.index > 40) return null
  // Some feeds name the change first, and the publication after it.
  return (first.modified ? all.find(date => date.published) : undefined) ?? first
}

/** A day and a time in one number, as `202611172030`. */
const COMPACT = /^((?:19|20)\d{2}[01]\d[0-3]\d)([0-2]\d[0-5]\d(?:[0-5]\d)?)$/
/** Microsoft's milliseconds, as `/Date(1795461300000+0100)/`. */
const DOTNET = /^\/Date\((\d+).*$/

/** The most characters of a text that are searched, and the most dates that are read from it. */
const TEXT_LIMIT = 20_000
const FOUND_LIMIT = 50

/**
 * All dates in a text, in order. A date needs its year. Relative dates ("yesterday") are not read.
 */
export function findDates(text: string, options: DateOptions = {}): FoundDate[] {
  const found: FoundDate[] = []
  // U+2212 is a typographic minus sign.
  const source = text.slice(0, TEXT_LIMIT).replaceAll('\u2212', '-')
  const pattern = new RegExp(DATE)
  for (let match = pattern.exec(source); match !== null; match = pattern.exec(source)) {
    if (found.length >= FOUND_LIMIT) break
    const day = dayOf(match.groups ?? {}, options)
    if (day === null) {
      // A date may begin inside of what is none: "3 min. 24 november 2026".
      pattern.lastIndex = match.index + 1
      continue
    }
    const before = source.slice(Math.max(0, match.index - 60), match.index)
    const after = source.slice(match.index + match[0].length, match.index + match[0].length + 60)
    const within = match.groups?.clock
    const clock =
      within !== undefined ? timeAfter(` ${within}`) : (timeAfter(after) ?? timeBefore(before))
    const label = labelOf(before)
    const zone = within === undefined && clock?.offset === null ? namedZone(after) : null
    found.push({
      ...(clock?.time.hour === 24 ? dayAfter(day) : day),
      time: clock === null ? null : { ...clock.time, hour: clock.time.hour % 24 },
      offset:
        clock !== null && zone !== null ? offsetIn(zone, day, clock.time) : (clock?.offset ?? null),
      index: match.index,
      end: match.index + match[0].length,
      modified: label === 'modified',
      published: label === 'published',
    })
  }
  return found
}

function dayAfter({ year, month, day }: Day): Day {
  const next = new Date(Date.UTC(year, month - 1, day + 1))
  return { year: next.getUTCFullYear(), month: next.getUTCMonth() + 1, day: next.getUTCDate() }
}

/**
 * The IANA zone after a time, as `America/Toronto`, `[Europe/London]` or `EST5EDT`; otherwise null.
 */
function namedZone(after: string): string | null {
  const name =
    /(?<![\w/])(?:[A-Z][A-Za-z]+\/[A-Z][A-Za-z_]+(?:\/[A-Z][A-Za-z_]+)?|[A-Z]{3}\d[A-Z]{3})(?![\w/])/.exec(
      after,
    )?.[0]
  return name === undefined ? null : (offsetFormat(name)?.resolvedOptions().timeZone ?? null)
}

/** Minutes east of UTC of a local time in an IANA zone. */
function offsetIn(timeZone: string, day: Day, time: Clock['time']): number {
  const wall = { ...day, ...time }
  return Math.round((utcInstant(wall) - zonedInstant(wall, timeZone)) / 60_000)
}

/**
 * The meaning of a date, by the words before it. The nearest word decides. Null when no word
 * decides.
 */
export function labelOf(before: string): 'published' | 'modified' | null {
  const label = before.slice(-40)
  const modified = label.search(MODIFIED)
  if (PUBLISHED.test(modified < 0 ? label : label.slice(modified))) return 'published'
  return modified < 0 ? null : 'modified'
}

const MODIFIED = new RegExp(String.raw`${anyOf(rules => rules.dates.modified)}[^\d]{0,40}$`, 'i')
const PUBLISHED = new RegExp(String.raw`${anyOf(rules => rules.dates.published)}[^\d]{0,40}$`, 'i')

const ORDINAL = anyOf(rules => rules.dates.ordinals)
const BEFORE_MONTH = anyOf(rules => rules.dates.beforeMonth)
const WORD = String.raw`\p{L}[\p{L}\p{M}]{2,9}\.?`
const CLOCK = String.raw`\d{1,2}:\d{2}(?::\d{2})?(?:\s(?:[A-Z]{2,5}|[+-]\d{4}))?`

/**
 * The forms of a date: year first; day, month's name, year; month's name, day, year; month's name,
 * day, clock, year (C, Java); digits with the year last.
 */
const DATE = new RegExp(
  [
    String.raw`(?<![\d.,/-])(?<year>\d{4})(?<sign>[-/.])(?<month>\d{1,2})\k<sign>(?<day>\d{1,2})(?![\d/])`,
    String.raw`(?<![\d.,/-])(?<year>(?:19|20)\d{2})(?<month>[01]\d)(?<day>[0-3]\d)(?=T\d|\s\d{1,2}:\d|Z?$)`,
    String.raw`(?<![\d./:-]|\d,)(?<day>\d{1,2})(?:\.|${ORDINAL})?[\s-]*(?:${BEFORE_MONTH}\s)?(?<word>${WORD})[\s,-]*(?<year>\d{4}|['’]?\d{2})(?![\d:.]\d|\d)`,
    String.raw`(?<!\p{L})(?<word>${WORD})\s+(?<day>\d{1,2})(?:st|nd|rd|th)?(?:,\s*|\s+)(?<year>\d{4})(?!\d)`,
    String.raw`(?<!\p{L})(?<word>${WORD})\s+(?<day>\d{1,2})\s+(?<clock>${CLOCK})\s+(?<year>\d{4})(?!\d)`,
    String.raw`(?<![\d.,/-])(?<first>\d{1,2})(?<sign>[./-])\s?(?<second>\d{1,2})\k<sign>\s?(?<year>\d{4}|\d{2})(?![\d/]|[.,-]\d)`,
  ].join('|'),
  'giu',
)

function dayOf(groups: Record<string, string | undefined>, options: DateOptions): Day | null {
  const { word, sign, day } = groups
  const year = fullYear(groups.year ?? '')
  if (day !== undefined)
    return calendarDay(year, word === undefined ? Number(groups.month) : monthOf(word), Number(day))
  const first = Number(groups.first)
  const second = Number(groups.second)
  // A second number above 12 is a day, so the month stands first. With points, such numbers are a
  // time instead: `10.15.20`.
  const monthFirst = (sign === '/' && options.monthFirst) || (sign !== '.' && second > 12)
  return monthFirst ? calendarDay(year, first, second) : calendarDay(year, second, first)
}

function calendarDay(year: number, month: number | null, day: number): Day | null {
  // `Date.UTC` would read a year below 100 as one of the 20th century.
  if (month === null || year < 100 || month < 1 || month > 12 || day < 1) return null
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate() ? { year, month, day } : null
}

/** Years of two digits lie between 1950 and 2049 (RFC 2822). */
function fullYear(digits: string): number {
  const year = Number(digits.replace(/['’]/, ''))
  return digits.length >= 4 ? year : year < 50 ? 2000 + year : 1900 + year
}

type Clock = { time: NonNullable<WrittenDate['time']>; offset: number | null }

const ZONE = String.raw`(?:\s?(?<zone>[+-]\d{2}:?\d{2}|[+-]\d{2}(?!\d)|(?:\+|(?<=:\d{2}:\d{2}\s?)-)\d(?::\d{2})?(?![\d:.,])|\(?[A-Z]{3,4}\)?\s?[+-]\d{2}:?\d{2}(?!\d)|(?:GMT|UTC)\s?[+-]\d{1,2}(?::?\d{2})?|\s\d{2}:\d{2}$|\(?[A-Z]{1,5}\)?(?![\p{L}\d])))?`
const HOURS = anyOf(rules => rules.dates.hours)
const AFTER = new RegExp(
  String.raw`^(?:T|[\s,;|·•/@(–—-]{1,8})(?:(?<link>${anyOf(rules => rules.dates.beforeTime)}|kl|er)\s)?(?<hour>\d{1,2})(?:(?<sep>[:.hu]|\s?(?:h|${HOURS})\s?)(?<minute>\d{2}|(?<=:)\d(?=:\d{1,2}(?!\d))|(?<=\p{L}\s)\d(?!\d|[.,:]\d))(?::?(?<second>\d{2}|(?<=:)\d)(?:[.,](?<fraction>\d{1,9}))?)?)?(?!\d)(?:\s?(?<unit>[ap]\.?m\b\.?|${HOURS}|h(?!\p{L})|u(?!\p{L})))?${ZONE}`,
  'iu',
)
const BASIC =
  /^T(?<hour>\d{2})(?<minute>\d{2})(?<second>\d{2})?(?:[.,](?<fraction>\d{1,9}))?(?<zone>Z|[+-]\d{2}:?\d{2})?/i
const BEFORE = new RegExp(
  String.raw`(?<![\d.,:])(?<hour>\d{1,2})(?<sep>[:.hu])(?<minute>\d{2})(?::(?<second>\d{2}))?\s?(?<unit>[ap]\.?m\b\.?|${HOURS}|h|u)?(?:\s(?<zone>[A-Z]{2,4}))?[\s,;|·•/()–—-]{1,5}(?:${anyOf(rules => rules.dates.beforeDay)}\s)?(?:\p{L}{2,12}\.?,?\s)?$`,
  'iu',
)

const timeAfter = (text: string): Clock | null =>
  clockOf(BASIC.exec(text)?.groups, true) ?? clockOf(AFTER.exec(text)?.groups, text.startsWith('T'))

const timeBefore = (text: string): Clock | null => clockOf(BEFORE.exec(text)?.groups, false)

function clockOf(
  groups: Record<string, string | undefined> | undefined,
  certain: boolean,
): Clock | null {
  if (groups === undefined) return null
  const unit = (groups.unit ?? '').toLowerCase().replaceAll('.', '')
  const known = certain || unit !== '' || groups.link !== undefined
  // A number alone is no time. A number with a point may be a price: "3 mei 2026 12.50".
  if (!known && (groups.minute === undefined || groups.sep === '.')) return null
  if (groups.minute === undefined && unit === '') return null
  let hour = Number(groups.hour)
  if (unit === 'pm' && hour < 12) hour += 12
  if (unit === 'am' && hour === 12) hour = 0
  const minute = Number(groups.minute ?? 0)
  // Some systems write the first hour of a day as 24. At 24:00 the next day begins (ISO 8601).
  if (hour === 24 && minute > 0) hour = 0
  // JavaScript's dates have no leap seconds, so a leap second is read as the second before it.
  const second = Math.min(Number(groups.second ?? 0), groups.second === '60' ? 59 : 99)
  if (hour > 24 || minute > 59 || second > 59) return null
  const millisecond = Number((groups.fraction ?? '').slice(0, 3).padEnd(3, '0'))
  return { time: { hour, minute, second, millisecond }, offset: offsetOf(groups.zone) }
}

function offsetOf(zone: string | undefined): number | null {
  if (zone === undefined) return null
  const name = zone.replace(/[()\s]/g, '')
  const digits = /^(?:GMT|UTC|[A-Z]{3,4}(?=[+-]\d{2}))?([+-]?)(\d{1,2}):?(\d{2})?$/i.exec(name)
  // In lower case, names of zones may be ordinary words: `est`, `met`, `west`.
  if (digits === null) return name === name.toUpperCase() || name === 'z' ? zoneOffset(name) : null
  const minutes = Number(digits[2]) * 60 + Number(digits[3] ?? 0)
  // A plus sign becomes a space when it is decoded as a part of an address. So a missing sign
  // counts as plus.
  return minutes > 14 * 60 ? null : digits[1] === '-' ? -minutes : minutes
}

const MONTHS = new Map<string, number>()
for (const { dates } of Object.values(LANGUAGE_RULES)) {
  for (const [index, names] of dates.months.entries()) {
    for (const name of names.split(/\s+/)) MONTHS.set(name, index + 1)
  }
}

/**
 * The number of a month, 1 to 12, by its name or abbreviation in any of the languages; null for any
 * other word.
 */
const monthOf = (word: string): number | null => MONTHS.get(fold(word)) ?? null

/**
 * Offsets from UTC in minutes, for the zone names in feeds and pages: those of RFC 822, and those
 * that are common in Europe.
 */
const ZONES = new Map(
  Object.entries({
    0: 'z utc gmt ut wet',
    60: 'west bst cet mez met',
    120: 'cest mesz mest eet',
    180: 'eest msk',
    [-240]: 'edt',
    [-300]: 'est cdt',
    [-360]: 'cst mdt',
    [-420]: 'mst pdt',
    [-480]: 'pst',
  }).flatMap(([minutes, names]) =>
    names.split(' ').map((name): [string, number] => [name, Number(minutes)]),
  ),
)

/**
 * Minutes east of UTC. Null for a name that is unknown or ambiguous; the outlet's own zone then
 * applies.
 */
const zoneOffset = (name: string): number | null => ZONES.get(name.toLowerCase()) ?? null

/** A local time without its zone: months from 1, hours to 24, seconds to 59. */
export type WallTime = Day & Clock['time']

/** The instant of a time in UTC, in milliseconds. */
export const utcInstant = (wall: WallTime): number =>
  Date.UTC(
    wall.year,
    wall.month - 1,
    wall.day,
    wall.hour,
    wall.minute,
    wall.second,
    wall.millisecond,
  )

/**
 * The instant of a local time in an IANA zone. When the clocks go back, an hour occurs twice, and
 * the first one counts. When they go forward, a skipped time is read with the offset before the
 * change: 02:30 becomes 03:30, as in ECMAScript and RFC 5545.
 */
export function zonedInstant(wall: WallTime, timeZone: string): number {
  const asUtc = utcInstant(wall)
  // No zone is more than a day from UTC. So the offset a day before holds before a change of
  // clocks, and the offset a day after holds after the change.
  const format = formatOf(timeZone)
  const before = offsetAt(asUtc - DAY, format)
  const after = offsetAt(asUtc + DAY, format)
  const candidates = [asUtc - before, asUtc - after].filter(
    instant => instant + offsetAt(instant, format) === asUtc,
  )
  return candidates.length > 0 ? Math.min(...candidates) : asUtc - before
}

const DAY = 86_400_000
/** One formatter per zone, because making a formatter takes longer than a thousand uses. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** @throws RangeError when no zone has this name */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const format = formats.get(timeZone) ?? offsetFormat(timeZone)
  if (format === null) throw new RangeError(`there is no time zone "${timeZone}"`)
  formats.set(timeZone, format)
  return format
}
