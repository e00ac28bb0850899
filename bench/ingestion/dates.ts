import { publishedAt } from '../../services/normaliser/dates/published.ts'
import { findDates } from '../../services/normaliser/dates/written.ts'
import { readMetadata } from '../../services/normaliser/metadata/metadata.ts'
import { type TruePage, truePages } from './truth.ts'

/** Most of these pages come from Germany, Switzerland, Austria and France, whose clocks agree. */
const TIME_ZONE = 'Europe/Berlin'

/**
 * Publication dates against what people and their parsers read off the same pages, in percent of
 * pages with a true date: to the minute (fundus), to the day (trafilatura, htmldate; as the day is
 * in UTC or on the outlet's clocks), and how many pages gave none. Of those that are not right:
 * `elsewhere`, the instant lies in the true day on the clocks of another part of the world (the
 * set's truth has no zone, its outlets are in four continents; `right_anywhere` counts those as
 * right, which is more than any one outlet's clock allows), `unwritten`, neither page nor address
 * holds the true day in any form. What the page's feed would add is not there.
 */
export async function measureDates(data: string): Promise<Record<string, number>> {
  const figures: Record<string, number> = {}
  for (const set of ['fundus', 'trafilatura', 'htmldate'] as const) {
    const counted = { pages: 0, right: 0, rightUtc: 0, none: 0, elsewhere: 0, unwritten: 0 }
    for await (const page of truePages(data, set)) {
      if (page.date === null) continue
      const meta = readMetadata(page.html, page.url)
      const found = publishedAt(meta, null, { timeZone: TIME_ZONE }, '', new Date())
      counted.pages += 1
      if (found === null) counted.none += 1
      else if (set === 'fundus') counted.right += sameMinute(found, page) ? 1 : 0
      else {
        counted.rightUtc += found.toISOString().slice(0, 10) === page.date ? 1 : 0
        counted.right += isDay(found, page.date) ? 1 : 0
      }
      if (set !== 'fundus' && (found === null || !isDay(found, page.date))) {
        if (found !== null && isDaySomewhere(found, page.date)) counted.elsewhere += 1
        else if (!isWritten(page, page.date)) counted.unwritten += 1
      }
    }
    if (counted.pages === 0) continue
    figures[`dates_${set}_pages`] = counted.pages
    figures[`dates_${set}_right`] = percent(counted.right, counted.pages)
    figures[`dates_${set}_none`] = percent(counted.none, counted.pages)
    if (set === 'fundus') continue
    figures[`dates_${set}_right_utc`] = percent(counted.rightUtc, counted.pages)
    figures[`dates_${set}_right_anywhere`] = percent(counted.right + counted.elsewhere, counted.pages)
    figures[`dates_${set}_elsewhere`] = percent(counted.elsewhere, counted.pages)
    figures[`dates_${set}_unwritten`] = percent(counted.unwritten, counted.pages)
  }
  return figures
}

/** A true date without an offset is on the page's own clock. */
function sameMinute(found: Date, page: TruePage): boolean {
  const written = (page.date ?? '').replace(' ', 'T')
  if (/[+-]\d\d:\d\d$/.test(written)) return Math.abs(found.getTime() - Date.parse(written)) < 60_000
  return written.startsWith(
    new Intl.DateTimeFormat('sv-SE', { timeZone: TIME_ZONE, dateStyle: 'short', timeStyle: 'short' })
      .format(found)
      .replace(' ', 'T'),
  )
}

function isDay(found: Date, day: string): boolean {
  return found.toISOString().slice(0, 10) === day || localDay(found) === day
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
/** Few enough dates for `findDates` to find all. */
const PIECE = 1_000

function localDay(found: Date): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: TIME_ZONE }).format(found)
}

function percent(part: number, whole: number): number {
  return Math.round((part / whole) * 10_000) / 100
}
