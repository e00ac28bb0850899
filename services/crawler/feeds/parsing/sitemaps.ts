import type { Feed, RawEntry, SitemapPart } from './feed.ts'

/** Parts of an index that one poll reads. */
export const MAX_PARTS = 8
/**
 * Parts of an index that are ever read. The others are an archive, even if their dates are recent.
 */
const MOST_PARTS = 40
/** Addresses that are taken from one sitemap. News sitemaps may hold 1,000. */
export const MAX_ADDRESSES = 1_000
/** Parts that changed so many ms before the newest one are archives. */
const RECENT = 7 * 86_400_000

/**
 * The parts of an index that can hold news, the most promising first. Parts with a date must have
 * changed within a week of the latest one, or have "news" in their address. They are sorted by date
 * (`lastmod`), then "news" in the address, then a date in the address. Otherwise the last comes
 * first, because numbered parts are written in order.
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
 * The newest entries of a sitemap, and all entries of any other feed. Entries without a date come
 * last, in the order of the document.
 */
export function recentEntries(feed: Feed): RawEntry[] {
  if (!feed.format.endsWith('sitemap') || feed.entries.length <= MAX_ADDRESSES) return feed.entries
  return feed.entries
    .map((entry, index) => ({ entry, index, time: timeOf(entry.published) ?? timeOf(entry.modified) ?? 0 }))
    .sort((a, b) => b.time - a.time || a.index - b.index)
    .slice(0, MAX_ADDRESSES)
    .map(({ entry }) => entry)
}

/** Reads a W3C date-time; the protocol allows no other. */
function timeOf(text: string | null): number | null {
  const time = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? null : time
}

/** `202611` of `sitemap-2026-11.xml`; empty when the name holds no date. */
function dateInName(url: string): string {
  return /(?:19|20)\d\d[-_/]?(?:0[1-9]|1[0-2])(?:[-_/]?[0-3]\d)?/.exec(url)?.[0].replace(/[-_/]/g, '') ?? ''
}
