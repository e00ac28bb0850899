import type { Listed } from '../articles/shown-article.ts'
import type { ArticlesRequest } from '../parameters/request.ts'
import { appliedFilters, searchOf, titleOf, written } from './filters.ts'
import { addItem } from './item.ts'
import { optional, text, writeXml, type XmlElement } from './xml.ts'

/** The publisher of the feed. */
export interface FeedIdentity {
  serviceName: string
  /** Address of the API as its clients write it, without a slash at its end. */
  publicUrl: string
  /** The namespace of the prefix `pc`. */
  namespace: string
}

/**
 * Where the feed's links lead: to its operation; or, of a feed with a secret address, to the page
 * where people see the search. No link repeats that address: items are shared, caches are copied.
 */
export type FeedLinks = 'operation' | 'explorer'

/**
 * Minutes a reader may wait before it asks again: articles come all the time, readers need not
 * hurry.
 */
const TTL = 15

// A feed's language (RSS 2.0, W3C codes) when a country alone decides it.
const COUNTRY_LANGUAGE = { NL: 'nl-nl', BE: 'nl-be', LU: 'lb-lu' } as const

/** The document after its items. */
const END = '  </channel>\n</rss>\n'

/**
 * Writes RSS 2.0 (decisions 30–32) up to its items. Holds no time of its own: as long as the
 * articles stay, so does every byte.
 */
export function writeHead(
  identity: FeedIdentity,
  request: ArticlesRequest,
  articles: readonly Listed[],
  links: FeedLinks,
): string {
  const channel: XmlElement = { name: 'channel', content: channelOf(identity, request, articles, links) }
  const document = writeXml({
    name: 'rss',
    attributes: { version: '2.0', 'xmlns:atom': 'http://www.w3.org/2005/Atom', 'xmlns:pc': identity.namespace },
    content: [channel],
  })
  return document.slice(0, -END.length)
}

/** The whole document: its head, and the items as they are kept. */
export function feedBody(head: string, articles: readonly Listed[]): Buffer {
  const parts = [Buffer.from(head)]
  for (const article of articles) addItem(parts, article)
  parts.push(Buffer.from(END))
  return Buffer.concat(parts)
}

function channelOf(
  { serviceName, publicUrl }: FeedIdentity,
  request: ArticlesRequest,
  articles: readonly Listed[],
  links: FeedLinks,
): XmlElement[] {
  const filters = appliedFilters(request)
  const filtered = written(filters)
  const search = searchOf(request, filters)
  const endpoint = `${publicUrl}${links === 'operation' ? '/v1/articles.rss' : '/'}`
  const address = search === '' ? endpoint : `${endpoint}?${search}`
  const self = { href: address, rel: 'self', type: 'application/rss+xml' }
  const latest = Math.max(...articles.map(({ time }) => time ?? Number.NEGATIVE_INFINITY))
  return [
    text('title', titleOf(serviceName, request, filters)),
    text('link', links === 'operation' ? endpoint : address),
    text(
      'description',
      `News from the Netherlands, Belgium and Luxembourg.${filtered === '' ? '' : ` Filters: ${filtered}`}`,
    ),
    ...(links === 'operation' ? [{ name: 'atom:link', attributes: self }] : []),
    ...optional('language', languageOf(request)),
    ...optional('lastBuildDate', Number.isFinite(latest) ? new Date(latest).toUTCString() : null),
    text('ttl', String(TTL)),
  ]
}

function languageOf({ languages, countries }: ArticlesRequest): string | null {
  if (languages?.length === 1) return languages[0]!
  const only = countries?.length === 1 ? countries[0] : undefined
  return only ? COUNTRY_LANGUAGE[only] : null
}
