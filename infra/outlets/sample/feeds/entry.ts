import { rfc822, withOffset } from '../dates.ts'
import { escapeMarkup } from '../markup.ts'
import type { FeedMake, SampleOutlet } from '../outlet.ts'
import type { SampleText } from '../texts.ts'

/** The data that a feed is written from. */
export interface FeedSource {
  outlet: SampleOutlet
  feed: FeedMake
  /** Newest first. */
  texts: SampleText[]
  origin: string
}

/** The address of an article in this feed, not escaped. */
export function linkOf({ outlet, feed, origin }: FeedSource, text: SampleText): string {
  const address = outlet.address(text)
  switch (feed.links) {
    case 'plain':
      return origin + address
    case 'tracked':
      return `${origin}${address}?utm_source=rss&utm_medium=feed&utm_campaign=${text.section.toLowerCase()}`
    case 'short':
      return origin + shortAddress(text)
    case 'amp':
      return `${origin}/amp${address}`
  }
}

export function shortAddress(text: SampleText): string {
  return `/r/${text.number}`
}

export function htmlOf(text: SampleText): string {
  return text.paragraphs.map(paragraph => `<p>${escapeMarkup(paragraph)}</p>`).join('\n')
}

/** A date by RFC 822. Some outlets omit the date or its zone. */
export function rssDate({ outlet, feed }: FeedSource, text: SampleText): string | null {
  if (feed.dates === 'none') return null
  const date = rfc822(text.publishedAt, outlet.timeZone)
  return feed.dates === 'zoned' ? date : date.replace(/ [+-]\d{4}$/, '')
}

/** A date by RFC 3339. */
export function isoDate({ outlet }: FeedSource, text: SampleText): string {
  return withOffset(text.publishedAt, outlet.timeZone)
}
