import type { Named } from './feeds/parsing/parse.ts'

/** Days that a text names, as `2019-03-14`. Both ends are included. */
export interface Period {
  from: string
  to: string
}

/**
 * A year, a month or a day in an address. Longer numbers are no years, and in `201112-title` is no
 * month.
 */
const WRITTEN =
  /(?<!\d)(?!\d{6}[-_]\D)((?:19|20)\d\d)(?:[-_/.]?(0[1-9]|1[0-2])(?:[-_/.]?(0[1-9]|[12]\d|3[01]))?)?(?!\d)/
/** A month in the parameters of an address, as `?yyyy=2019&mm=3`. */
const ASKED = /[?&]y(?:yyy|ear)=((?:19|20)\d\d)&m(?:m|onth)=0?(\d{1,2})(?!\d)/

/** The days that an address names; null: none, or only a year that `years` does not believe. */
export function periodIn(address: string, years = false): Period | null {
  const asked = ASKED.exec(address)
  const [, year, month, day] = asked ?? WRITTEN.exec(address) ?? []
  if (year === undefined || (month === undefined && !years)) return null
  if (month === undefined) return { from: `${year}-01-01`, to: `${year}-12-31` }
  const from = `${year}-${month.padStart(2, '0')}-${day ?? '01'}`
  const time = Date.parse(from)
  // 30 February is no day.
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== from) return null
  if (day !== undefined) return { from, to: from }
  const last = new Date(Date.UTC(Number(year), Number(month), 0)).toISOString().slice(0, 10)
  return { from, to: last }
}

/** The day of a date as feeds and sitemaps write it; null: no date, or none of an article. */
export function dayOf(written: string | null): string | null {
  const time = Date.parse(written ?? '')
  if (!(time > Date.UTC(1990) && time < Date.now() + 86_400_000)) return null
  return new Date(time).toISOString().slice(0, 10)
}

/**
 * When a page was published, as far as its sitemap or its address says. A page may have changed
 * long after it was published, so `lastmod` says only that it was not published later.
 *
 * @param within the days that the address of the sitemap names
 */
export function publishedIn(
  { entry, modified }: Pick<Named, 'entry' | 'modified'>,
  within: Period | null,
): (Period & { day: string }) | null {
  const said = dayOf(entry.published)
  if (said !== null) return { from: said, to: said, day: said }
  const { pathname } = new URL(entry.url)
  const named = periodIn(pathname) ?? within
  const changed = dayOf(modified)
  if (named !== null) {
    const isWithin = changed !== null && changed >= named.from && changed <= named.to
    return { ...named, day: isWithin ? changed : named.from }
  }
  return changed === null ? null : { from: '1990-01-01', to: changed, day: changed }
}

/** Whether days may be among those of `range`; unknown ones may. */
export const mayBeIn = (days: Period | null, range: Period): boolean =>
  days === null || (days.from <= range.to && days.to >= range.from)
