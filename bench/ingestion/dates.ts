import { dateChoice } from '#services/normaliser/dates/published'
import { findDates } from '#services/normaliser/dates/written'
import type { Count, ReadPage } from './truth.ts'

/** Most of these pages come from Germany, Switzerland, Austria and France, whose clocks agree. */
const TIME_ZONE = 'Europe/Berlin'
const HOUR = 3_600_000

/**
 * Counts whether the publication date that we find on a page is the true one. We do not use the
 * date of the feed.
 * - `right`: the date is right. For fundus, the minute must be equal. For the other sets the day
 *   must be equal, in UTC or on the outlet's clocks.
 * - `none`: we found no date.
 *
 * Two figures explain dates that are not right:
 * - `elsewhere`: the time is in the true day on clocks of another part of the world. The dates of
 *   these sets state no time zone, and their outlets are in four continents. `right_anywhere`
 *   counts such dates as right, so it is an upper bound.
 * - `unwritten`: neither the page nor its address contains the true day in any form.
 */
export function scoreDate({ set, html, url, date, meta }: ReadPage, count: Count): void {
  if (date === null) return
  const found = dateChoice(meta, null, { timeZone: TIME_ZONE }, '', new Date())?.value ?? null
  const is = (figure: string, so: boolean) => count(`dates_${set}_${figure}`, so)
  is('none', found === null)
  if (set === 'fundus') {
    is('right', found !== null && isMinute(found, date))
    return
  }
  const inUtc = found?.toISOString().slice(0, 10) === date
  const right = inUtc || (found !== null && localTime(found).startsWith(date))
  // The clocks of the world are between 12 hours behind UTC and 14 hours ahead.
  const since = found === null ? Infinity : found.getTime() - Date.parse(date)
  const elsewhere = !right && since >= -14 * HOUR && since < (24 + 12) * HOUR
  is('right', right)
  is('right_utc', inUtc)
  is('right_anywhere', right || elsewhere)
  is('elsewhere', elsewhere)
  is('unwritten', !right && !elsewhere && !isWritten(html, url, date))
}

/** Whether the minute is the true one. A true date without an offset is on the page's own clock. */
function isMinute(found: Date, date: string): boolean {
  const written = date.replace(' ', 'T')
  if (/[+-]\d\d:\d\d$/.test(written))
    return Math.abs(found.getTime() - Date.parse(written)) < 60_000
  return written.startsWith(localTime(found))
}

/** The time on the clocks of `TIME_ZONE`, as in 2026-11-03T08:00. */
const localTime = (time: Date) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: TIME_ZONE, dateStyle: 'short', timeStyle: 'short' })
    .format(time)
    .replace(' ', 'T')

/**
 * The length of a piece of the page, in characters. `findDates` stops after a number of dates, and
 * a piece of this length has fewer.
 */
const PIECE = 1_000

function isWritten(html: string, url: string, day: string): boolean {
  for (let at = -PIECE; at < html.length; at += PIECE) {
    const piece =
      at < 0
        ? url
        : html.slice(at, at + PIECE + 100).replace(/&nbsp;|<[^>]*>/g, match => ` ${match} `)
    if (
      findDates(piece).some(
        ({ year, month, day: of }) => Date.UTC(year, month - 1, of) === Date.parse(day),
      )
    )
      return true
  }
  return false
}
