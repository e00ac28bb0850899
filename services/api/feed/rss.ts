import type { ArticleRow } from '../../../search/index.ts'
import type { ArticlesRequest } from '../parameters/request.ts'
import { searchOf, titleOf, writtenFilters } from './filters.ts'
import { writeXml, type XmlElement } from './xml.ts'

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

type Row = ArticleRow & { relevance?: number }

/**
 * Minutes a reader may wait before it asks again: articles come all the time, readers need not
 * hurry.
 */
const TTL = 15

// A feed's language (RSS 2.0, W3C codes) when a country alone decides it.
const COUNTRY_LANGUAGE = { NL: 'nl-nl', BE: 'nl-be', LU: 'lb-lu' } as const

/**
 * Writes RSS 2.0 (decisions 30–32). Holds no time of its own: as long as the articles stay, so does
 * every byte.
 */
export function writeFeed(
  identity: FeedIdentity,
  request: ArticlesRequest,
  rows: Row[],
  links: FeedLinks = 'operation',
): string {
  const channel: XmlElement = {
    name: 'channel',
    content: [...channelOf(identity, request, rows, links), ...rows.map(itemOf)],
  }
  return writeXml({
    name: 'rss',
    attributes: { version: '2.0', 'xmlns:atom': 'http://www.w3.org/2005/Atom', 'xmlns:pc': identity.namespace },
    content: [channel],
  })
}

function channelOf(
  { serviceName, publicUrl }: FeedIdentity,
  request: ArticlesRequest,
  rows: Row[],
  links: FeedLinks,
): XmlElement[] {
  const filtered = writtenFilters(request)
  const search = searchOf(request)
  const endpoint = `${publicUrl}${links === 'operation' ? '/v1/articles.rss' : '/'}`
  const address = search === '' ? endpoint : `${endpoint}?${search}`
  const self = { href: address, rel: 'self', type: 'application/rss+xml' }
  const latest = Math.max(
    ...rows.map(row => (row.publishedAt ?? row.ingestedAt)?.getTime() ?? Number.NEGATIVE_INFINITY),
  )
  return [
    text('title', titleOf(serviceName, request)),
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

function itemOf(row: Row): XmlElement {
  const { name, domain } = row.outlet
  const outlet: XmlElement = {
    name: 'pc:outlet',
    ...(domain === null ? {} : { attributes: { domain } }),
    content: name ?? '',
  }
  return {
    name: 'item',
    content: [
      text('title', row.title),
      text('link', row.url),
      { name: 'guid', attributes: { isPermaLink: 'false' }, content: row.id },
      // RFC 822 with the four digits of RSS 2.0.
      ...optional('pubDate', row.publishedAt?.toUTCString() ?? null),
      ...optional('author', row.authors.map(author => author.name).join(', ') || null),
      ...(name === null && domain === null ? [] : [outlet]),
      text('pc:country', row.country),
      ...optional('pc:relevance', row.relevance === undefined ? null : String(row.relevance)),
    ],
  }
}

const text = (name: string, content: string): XmlElement => ({ name, content })

const optional = (name: string, content: string | null): XmlElement[] => (content === null ? [] : [{ name, content }])

function languageOf({ languages, countries }: ArticlesRequest): string | null {
  if (languages?.length === 1) return languages[0]!
  const only = countries?.length === 1 ? countries[0] : undefined
  return only ? COUNTRY_LANGUAGE[only] : null
}
