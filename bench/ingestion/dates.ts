import { publishedAt } from '../../services/normaliser/dates/published.ts'
import { readMetadata } from '../../services/normaliser/metadata/metadata.ts'
import { type TruePage, truePages } from './truth.ts'

/** Most of these pages come from Germany, Switzerland, Austria and France, whose clocks agree. */
const TIME_ZONE = 'Europe/Berlin'

/**
 * Publication dates against what people and their parsers read off the same pages, in percent of pages with a true
 * date: to the minute (fundus), to the day (trafilatura, htmldate; as the day is in UTC or on the outlet's clocks), and how
 * many pages gave none. What the page's feed would add is not there.
 */
export async function measureDates(data: string): Promise<Record<string, number>> {
  const figures: Record<string, number> = {}
  for (const set of ['fundus', 'trafilatura', 'htmldate'] as const) {
    const counted = { pages: 0, right: 0, rightUtc: 0, none: 0 }
    for await (const page of truePages(data, set)) {
      if (page.date === null) continue
      const meta = readMetadata(page.html, page.url)
      const found = publishedAt(meta, null, { timeZone: TIME_ZONE }, '', new Date())
      counted.pages += 1
      if (found === null) counted.none += 1
      else if (set === 'fundus') counted.right += sameMinute(found, page) ? 1 : 0
      else {
        counted.rightUtc += found.toISOString().slice(0, 10) === page.date ? 1 : 0
        counted.right += found.toISOString().slice(0, 10) === page.date || localDay(found) === page.date ? 1 : 0
      }
    }
    if (counted.pages === 0) continue
    figures[`dates_${set}_pages`] = counted.pages
    figures[`dates_${set}_right`] = percent(counted.right, counted.pages)
    if (set !== 'fundus') figures[`dates_${set}_right_utc`] = percent(counted.rightUtc, counted.pages)
    figures[`dates_${set}_none`] = percent(counted.none, counted.pages)
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

function localDay(found: Date): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: TIME_ZONE }).format(found)
}

function percent(part: number, whole: number): number {
  return Math.round((part / whole) * 10_000) / 100
}
