import { addressKey, readAddress } from '../../../../shared/articles/address.ts'
import type { FeedEntry } from '../../../../shared/pages/page.ts'
import type { Feed, RawEntry } from './feed.ts'

/** An address that a feed named, ready for crawl memory. */
export interface Named {
  key: string
  host: string
  entry: FeedEntry
  /** When it was last changed, as the feed says; ms since 1970, null where it does not. */
  modified: number | null
}

/** Longest texts that are kept, in characters. A longer text is cut. */
const LONGEST = { title: 2_000, summary: 100_000, content: 1_000_000, other: 500 }
/**
 * Characters of all authors of one entry. The authors of a JSON Feed count for each of its entries.
 */
const LONGEST_AUTHORS = 2_000

/**
 * The addresses that a feed names, each once, in the feed's order. The permanent id of an entry
 * replaces a missing link. An entry without any http(s) address is left out.
 *
 * @param base the address of the feed, for relative links
 */
export function namedAddresses(feed: Feed, base: string): Named[] {
  const named = new Map<string, Named>()
  for (const raw of feed.entries) {
    const url = addressOf(raw, base)
    if (url === null) continue
    // Name and password are never sent. They must not appear in logs and articles.
    url.username = ''
    url.password = ''
    const key = addressKey(url.href)
    const entry = toEntry(raw, url, feed.language)
    const before = named.get(key)
    const modified = timeOf(raw.modified)
    if (before === undefined) named.set(key, { key, host: url.host, entry, modified })
    else {
      before.modified = latest(before.modified, modified)
      if (richness(entry) > richness(before.entry)) before.entry = { ...entry, url: before.entry.url }
    }
  }
  return [...named.values()]
}

const latest = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.max(a, b))

/**
 * Reads the time of a change. Feeds compare it with an earlier one of their own, so a time without
 * an offset needs no zone.
 */
function timeOf(written: string | null): number | null {
  const time = written === null ? Number.NaN : Date.parse(written.slice(0, 100))
  return Number.isNaN(time) || Math.abs(time) > LATEST ? null : time
}

/** The year 2100, as in searches. */
const LATEST = Date.UTC(2100, 0)

/** The part of the article that the entry holds: 2 its content, 1 a summary, 0 neither. */
export function richness(entry: FeedEntry): number {
  return entry.content !== null ? 2 : entry.summary !== null ? 1 : 0
}

function addressOf(raw: RawEntry, base: string): URL | null {
  // `originalLink` comes first: it is the outlet's own address, which a redirecting service
  // replaced.
  for (const link of [raw.originalLink, raw.link, raw.idIsLink ? raw.id : null, raw.about]) {
    if (link === null || (link === raw.id && !/^https?:/i.test(link))) continue
    const url = readAddress(link, base)
    if (url !== null) return url
  }
  return null
}

function toEntry(raw: RawEntry, url: URL, language: string | null): FeedEntry {
  return {
    url: url.href,
    guid: cut(raw.id, LONGEST.other),
    title: cut(raw.title, LONGEST.title),
    summary: cut(raw.summary, LONGEST.summary),
    content: cut(raw.content, LONGEST.content),
    authors: cutAuthors(raw.authors),
    published: cut(raw.published, LONGEST.other),
    language: cut(raw.language ?? language, LONGEST.other),
  }
}

function cutAuthors(authors: string[]): string[] {
  const kept: string[] = []
  let left = LONGEST_AUTHORS
  for (const author of authors) {
    const name = cut(author, LONGEST.other) ?? ''
    left -= name.length
    if (left < 0) break
    kept.push(name)
  }
  return kept
}

/** Cuts a text, and never leaves half a character: Postgres refuses lone surrogates. */
function cut(text: string | null, length: number): string | null {
  return text === null ? null : text.slice(0, length).toWellFormed()
}
