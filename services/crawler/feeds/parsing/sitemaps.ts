import type { Feed, RawEntry, SitemapPart } from './feed.ts'

/** Documents of an index that are read in one poll. */
export const MAX_PARTS = 8
/**
 * Parts of an index that are read at all, poll after poll: beyond them is an archive, whatever its
 * dates.
 */
const MOST_PARTS = 40
/** Addresses of one sitemap that are taken; news sitemaps may hold 1,000. */
export const MAX_ADDRESSES = 1_000
/** Parts changed so long before the newest one are archives. */
const RECENT = 7 * 86_400_000

/**
 * The parts of an index that can hold news, the most promising first: those changed within a week
 * of the latest one; where the index gives no dates, those whose name holds the latest date; else
 * those that are called news, then the last ones, for numbered parts are written in order.
 */
export function recentParts(parts: SitemapPart[]): SitemapPart[] {
  const dated = parts.map((part, index) => ({
    part,
    index,
    time: timeOf(part.modified),
    name: dateInName(part.url),
    news: /news|nieuws|actu/i.test(part.url),
  }))
  const latest = Math.max(...dated.map(({ time }) => time ?? Number.NEGATIVE_INFINITY))
  return dated
    .filter(({ time, news }) => time === null || latest - time <= RECENT || news)
    .sort(
      (a, b) =>
        (b.time ?? 0) - (a.time ?? 0) ||
        Number(b.news) - Number(a.news) ||
        (a.name > b.name ? -1 : a.name < b.name ? 1 : b.index - a.index),
    )
    .filter(({ time }, place) => place < (time === null ? MAX_PARTS : MOST_PARTS))
    .map(({ part }) => part)
}

/**
 * The newest addresses of a sitemap, and all of any other feed: those without a date last, in the
 * order of the document.
 */
export function recentEntries(feed: Feed): RawEntry[] {
  if (!feed.format.endsWith('sitemap') || feed.entries.length <= MAX_ADDRESSES) return feed.entries
  return feed.entries
    .map((entry, index) => ({ entry, index, time: timeOf(entry.published) ?? timeOf(entry.modified) ?? 0 }))
    .sort((a, b) => b.time - a.time || a.index - b.index)
    .slice(0, MAX_ADDRESSES)
    .map(({ entry }) => entry)
}

/** W3C date-times, the only ones that the protocol allows. */
function timeOf(text: string | null): number | null {
  const time = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? null : time
}

/** `2026-11` of `sitemap-2026-11.xml`; empty when there is none. */
function dateInName(url: string): string {
  return /(?:19|20)\d\d[-_/]?(?:0[1-9]|1[0-2])(?:[-_/]?[0-3]\d)?/.exec(url)?.[0].replace(/[-_/]/g, '') ?? ''
}
