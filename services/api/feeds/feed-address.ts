import type { FeedWithToken } from '#shared/desk/feeds'
import { pageOf } from '#shared/desk/searches'
import { type FeedIdentity, writeXml, type XmlElement } from './rss.ts'

/** The formats of a feed's addresses, by the end of the address. */
export const FEED_FORMATS = {
  rss: { name: 'RSS 2.0', contentType: 'application/rss+xml' },
  atom: { name: 'Atom', contentType: 'application/atom+xml' },
  json: { name: 'JSON Feed', contentType: 'application/feed+json' },
} as const
export type FeedFormat = keyof typeof FEED_FORMATS

const isFormat = (name: string): name is FeedFormat => Object.hasOwn(FEED_FORMATS, name)

/**
 * The path is a regular expression, because Express would decode a parameter of a path, and show
 * the token in errors.
 */
export const FEED_PATH: RegExp = /^\/feeds\/[^/]+\.(?:rss|atom|json)$/

/** The token and the format in a path that matches `FEED_PATH`. */
export function partsOf(path: string): { token: string; format: FeedFormat } {
  const dot = path.lastIndexOf('.')
  const format = path.slice(dot + 1)
  return { token: path.slice('/feeds/'.length, dot), format: isFormat(format) ? format : 'rss' }
}

/** The secret addresses of a feed, one for each format. */
export function feedAddresses(publicUrl: string, token: string): Record<FeedFormat, string> {
  const address = (format: FeedFormat) => `${publicUrl}/feeds/${token}.${format}`
  return { rss: address('rss'), atom: address('atom'), json: address('json') }
}

export const OPML_TYPE = 'text/x-opml; charset=utf-8'

/**
 * Writes OPML 2.0 (http://opml.org/spec2.opml), a list of feeds that every feed reader can import.
 * A reader subscribes to `xmlUrl`; the addresses of the other formats stand beside it.
 */
export function writeOpml(
  { serviceName, publicUrl, namespace }: FeedIdentity,
  feeds: FeedWithToken[],
): string {
  const outlines = feeds.map(({ feed, token }): XmlElement => {
    const addresses = feedAddresses(publicUrl, token)
    return {
      name: 'outline',
      attributes: {
        type: 'rss',
        text: feed.title,
        title: feed.title,
        xmlUrl: addresses.rss,
        htmlUrl: pageOf(publicUrl, feed.search),
        'pc:atomUrl': addresses.atom,
        'pc:jsonUrl': addresses.json,
      },
    }
  })
  return writeXml({
    name: 'opml',
    attributes: { version: '2.0', 'xmlns:pc': namespace },
    content: [
      { name: 'head', content: [{ name: 'title', content: serviceName }] },
      { name: 'body', content: outlines },
    ],
  })
}
