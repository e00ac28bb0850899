import { decodeText } from '../../../../shared/encoding/decode.ts'
import { begin } from '../../../../shared/threads/clock.ts'
import type { Timed } from '../../../../shared/threads/threads.ts'
import { type Named, namedAddresses } from './addresses.ts'
import type { Feed, FeedFormat, SitemapPart } from './feed.ts'
import { parseFeed } from './parse.ts'
import { recentEntries, recentParts } from './sitemaps.ts'

/** A document as it was served, decompressed. */
export interface ParseTask {
  bytes: Uint8Array
  contentType: string | null
  /** Address that it came from. */
  url: string
}

/**
 * What a feed or sitemap holds for us. Its size is bounded by that of the document, and by the
 * limits of each field.
 */
export interface ParsedFeed {
  format: FeedFormat
  /** The addresses that are taken, each once, in the feed's order. */
  named: Named[]
  /** The documents of an index that can hold news, the most promising first. */
  parts: SitemapPart[]
  /** Addresses or documents that it names, those included that are not taken. */
  total: number
  /** ISO 8601; the latest date that it gives, or null. */
  newest: string | null
  /** False: broken off, or longer than the limits; there may be more. */
  whole: boolean
}

/** The entrance of a thread: one document at a time. Null: it is no feed. */
export default function parse({ bytes, contentType, url, begun }: Timed<ParseTask>): ParsedFeed | null {
  begin(begun)
  const { text } = decodeText(bytes, { contentType, kind: 'xml' })
  const feed = parseFeed(text, url)
  if (feed === null) return null
  const { format, entries, whole } = feed
  const recent = recentEntries(feed)
  const named = namedAddresses({ ...feed, entries: recent }, url)
  const total = feed.parts.length + named.length + entries.length - recent.length
  return { format, named, parts: recentParts(feed.parts), total, newest: newestOf(feed), whole }
}

function newestOf({ entries, parts }: Feed): string | null {
  const written = [...entries.map(entry => entry.published ?? entry.modified), ...parts.map(part => part.modified)]
  const times = written.map(text => Date.parse(text?.slice(0, 100) ?? '')).filter(time => !Number.isNaN(time))
  return times.length === 0 ? null : new Date(times.reduce((a, b) => Math.max(a, b))).toISOString()
}
