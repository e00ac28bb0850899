import { dateChoice } from '../../services/normaliser/dates/published.ts'
import { findDates } from '../../services/normaliser/dates/written.ts'
import { parsePage } from '../../services/normaliser/markup/tree.ts'
import { readMetadata } from '../../services/normaliser/metadata/metadata.ts'
import { type Figures, percent } from '../figures.ts'
import { type KeptSet, type TruePage, truePages } from './truth.ts'

/** Most of these pages come from Germany, Switzerland, Austria and France, whose clocks agree. */
const TIME_ZONE = 'Europe/Berlin'

/**
 * Publication dates against those that people and their parsers read off the same pages, in percent
 * of pages with a true date. `right`: to the minute for fundus; for the other sets to the day, in
 * UTC or on the outlet's clocks. `none`: pages for which no date was found. The dates of the page's
 * feed are not used.
 *
 * Two figures explain dates that are not right. `elsewhere`: the instant lies in the true day on
 * the clocks of another part of the world. The truth of these sets has no zone, and their outlets
 * are in four continents; `right_anywhere` counts such dates as right, so it is an upper bound.
 * `unwritten`: neither the page nor its address holds the true day in any form.
 */
export async function measureDates(data: string): Promise<Figures> {
  const figures: Figures = {}
  for (const set of ['fundus', 'trafilatura', 'htmldate'] as const) {
    const counted: Counted = { pages: 0, right: 0, rightUtc: 0, none: 0, elsewhere: 0, unwritten: 0 }
    for await (const page of truePages(data, set)) {
      if (page.date === null) continue
      const found =
        dateChoice(readMetadata(parsePage(page.html), page.url), null, { timeZone: TIME_ZONE }, '', new Date())
          ?.value ?? null
      counted.pages += 1
      if (found === null) counted.none += 1
      if (set === 'fundus') counted.right += found !== null && sameMinute(found, page) ? 1 : 0
      else countDay(counted, page, page.date, found)
    }
    if (counted.pages > 0) Object.assign(figures, figuresOf(set, counted))
  }
  return figures
}

interface Counted {
  pages: number
  right: number
  rightUtc: number
  none: number
  elsewhere: number
  unwritten: number
}

/** Counts a page whose true date is a day. */
function countDay(counted: Counted, page: TruePage, day: string, found: Date | null): void {
  if (found?.toISOString().slice(0, 10) === day) counted.rightUtc += 1
  if (found !== null && isDay(found, day)) counted.right += 1
  else if (found !== null && isDaySomewhere(found, day)) counted.elsewhere += 1
  else if (!isWritten(page, day)) counted.unwritten += 1
}

function figuresOf(set: KeptSet, counted: Counted): Figures {
  const { pages, right, rightUtc, none, elsewhere, unwritten } = counted
  const ofAll = {
    [`dates_${set}_pages`]: pages,
    [`dates_${set}_right`]: percent(right, pages),
    [`dates_${set}_none`]: percent(none, pages),
  }
  if (set === 'fundus') return ofAll
  return {
    ...ofAll,
    [`dates_${set}_right_utc`]: percent(rightUtc, pages),
    [`dates_${set}_right_anywhere`]: percent(right + elsewhere, pages),
    [`dates_${set}_elsewhere`]: percent(elsewhere, pages),
    [`dates_${set}_unwritten`]: percent(unwritten, pages),
  }
}

/** A true date without an offset is on the page's own clock. */
function sameMinute(found: Date, page: Pick<TruePage, 'date'>): boolean {
  const written = (page.date ?? '').replace(' ', 'T')
  if (/[+-]\d\d:\d\d$/.test(written)) return Math.abs(found.getTime() - Date.parse(written)) < 60_000
  return written.startsWith(
    new Intl.DateTimeFormat('sv-SE', { timeZone: TIME_ZONE, dateStyle: 'short', timeStyle: 'short' })
      .format(found)
      .replace(' ', 'T'),
  )
}

/** Whether an instant lies in a day in UTC or in one of the time zones. */
function isDay(found: Date, day: string, timeZones = [TIME_ZONE]): boolean {
  return found.toISOString().slice(0, 10) === day || timeZones.some(zone => localDay(found, zone) === day)
}

const HOUR = 3_600_000

/** Clocks are from 12 hours behind UTC to 14 ahead. */
function isDaySomewhere(found: Date, day: string): boolean {
  const since = found.getTime() - Date.parse(day)
  return since >= -14 * HOUR && since < (24 + 12) * HOUR
}

function isWritten({ html, url }: TruePage, day: string): boolean {
  for (let at = -PIECE; at < html.length; at += PIECE) {
    const piece = at < 0 ? url : html.slice(at, at + PIECE + 100).replace(/&nbsp;|<[^>]*>/g, match => ` ${match} `)
    const found = findDates(piece).flatMap(date => [[date.year, date.month, date.day]])
    if (found.some(([y, m, d]) => `${y}-${String(m).padStart(2, '0')}-${String(d).padStart(2, '0')}` === day))
      return true
  }
  return false
}
/** Characters of a piece: it holds few enough dates for `findDates` to find all. */
const PIECE = 1_000

function localDay(found: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone }).format(found)
}
