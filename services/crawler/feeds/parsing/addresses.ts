import { addressKey, readAddress } from '../../../../shared/articles/address.ts'
import type { FeedEntry } from '../../../../shared/pages/page.ts'
import type { Feed, RawEntry } from './feed.ts'

/** An address that a feed named, ready for crawl memory. */
export interface Named {
  key: string
  host: string
  entry: FeedEntry
}

/** Longest texts that are kept, in characters; what is longer is cut. */
const LONGEST = { title: 2_000, summary: 100_000, content: 1_000_000, other: 500 }
/** Of all names of one entry: a JSON Feed's own authors are those of each of its entries. */
const LONGEST_AUTHORS = 2_000

/**
 * The addresses that a feed names, each once, in the feed's order. An entry without a link is known
 * by its permanent id; one without any http(s) address is nobody's article and left out.
 *
 * @param base address of the feed, for relative links
 */
export function namedAddresses(feed: Feed, base: string): Named[] {
  const named = new Map<string, Named>()
  for (const raw of feed.entries) {
    const url = addressOf(raw, base)
    if (url === null) continue
    // Never sent, and nobody's to read: in logs and articles they would stand.
    url.username = ''
    url.password = ''
    const key = addressKey(url.href)
    const entry = toEntry(raw, url, feed.language)
    const before = named.get(key)
    if (before === undefined) named.set(key, { key, host: url.host, entry })
    else if (richness(entry) > richness(before.entry)) before.entry = { ...entry, url: before.entry.url }
  }
  return [...named.values()]
}

/** How much of the article the entry holds: 2 its content, 1 a summary, 0 neither. */
export function richness(entry: FeedEntry): number {
  return entry.content !== null ? 2 : entry.summary !== null ? 1 : 0
}

function addressOf(raw: RawEntry, base: string): URL | null {
  // What a redirecting service replaced is the outlet's own address.
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

/** A cut never leaves half a character: Postgres takes no lone surrogate. */
function cut(text: string | null, length: number): string | null {
  return text === null ? null : text.slice(0, length).toWellFormed()
}
