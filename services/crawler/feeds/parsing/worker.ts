import { decodeText } from '../../../../shared/encoding/decode.ts'
import { begin } from '../../../../shared/threads/clock.ts'
import type { Timed } from '../../../../shared/threads/threads.ts'
import { type Named, namedAddresses } from './addresses.ts'
import type { Feed, FeedFormat, SitemapPart } from './feed.ts'
import type { FeedLinks } from './links.ts'
import { parseFeed } from './parse.ts'
import { recentEntries, recentParts } from './sitemaps.ts'

/** A decompressed document. */
export interface ParseTask {
  bytes: Uint8Array
  contentType: string | null
  /** The address of the document. */
  url: string
}

/**
 * The content of a feed or sitemap. Its size is limited by the document's, and by limits for each
 * field.
 */
export interface ParsedFeed {
  format: FeedFormat
  /** The addresses that we take, each once, in the feed's order. */
  named: Named[]
  /** The parts of an index that can hold news, the most promising first. */
  parts: SitemapPart[]
  links: FeedLinks
  /** The number of addresses or parts that it names, also of those that we do not take. */
  total: number
  /** The latest date that it names (ISO 8601), or null. */
  newest: string | null
  /** False: the document breaks off or exceeds the limits, and may hold more than was read. */
  whole: boolean
}

/** Parses one document; a thread calls it. Null: the document is no feed. */
export default function parse({ bytes, contentType, url, begun }: Timed<ParseTask>): ParsedFeed | null {
  begin(begun)
  const { text } = decodeText(bytes, { contentType, kind: 'xml' })
  const feed = parseFeed(text, url)
  if (feed === null) return null
  const { format, entries, whole } = feed
  const recent = recentEntries(feed)
  const named = namedAddresses({ ...feed, entries: recent }, url)
  const total = feed.parts.length + named.length + entries.length - recent.length
  const parts = recentParts(feed.parts)
  return { format, named, parts, links: feed.links, total, newest: newestOf(feed), whole }
}

function newestOf({ entries, parts }: Feed): string | null {
  const written = [...entries.map(entry => entry.published ?? entry.modified), ...parts.map(part => part.modified)]
  const times = written.map(text => Date.parse(text?.slice(0, 100) ?? '')).filter(time => !Number.isNaN(time))
  return times.length === 0 ? null : new Date(times.reduce((a, b) => Math.max(a, b))).toISOString()
}
