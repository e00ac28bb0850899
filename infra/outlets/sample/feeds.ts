import { escapeMarkup } from './answer.ts'
import { rfc822, withOffset } from './dates.ts'
import { type FeedMake, type SampleOutlet, type SampleText, summaryOf } from './texts.ts'

/** The data that a feed is written from. */
export interface FeedSource {
  outlet: SampleOutlet
  feed: FeedMake
  /** Newest first. */
  texts: SampleText[]
  origin: string
}

/** The address of an article in this feed, not escaped. */
function linkOf({ outlet, feed, origin }: FeedSource, text: SampleText): string {
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

function htmlOf(text: SampleText): string {
  return text.paragraphs.map(paragraph => `<p>${escapeMarkup(paragraph)}</p>`).join('\n')
}

/** A date by RFC 822. Some outlets omit the date or its zone. */
function rssDate({ outlet, feed }: FeedSource, text: SampleText): string | null {
  if (feed.dates === 'none') return null
  const date = rfc822(text.publishedAt, outlet.timeZone)
  return feed.dates === 'zoned' ? date : date.replace(/ [+-]\d{4}$/, '')
}

/** A date by RFC 3339. */
function isoDate({ outlet }: FeedSource, text: SampleText): string {
  return withOffset(text.publishedAt, outlet.timeZone)
}

/** RSS 2.0, with `content:encoded` where the feed carries the whole text. */
export function rssFeed(source: FeedSource): string {
  const { outlet, feed, texts, origin } = source
  return `<?xml version="1.0" encoding="${feed.charset}"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>${escapeMarkup(outlet.name)}</title>
<link>${origin}/</link>
<description>${escapeMarkup(outlet.motto)}</description>
<atom:link rel="self" href="${origin}${feed.path}" type="application/rss+xml"/>
<ttl>15</ttl>
${texts.map(text => item(source, text)).join('\n')}
</channel>
</rss>
`
}

function item(source: FeedSource, text: SampleText): string {
  const { outlet, feed } = source
  const date = rssDate(source, text)
  const signed = text.authors.length > 0 || outlet.desk === null ? text.authors : [outlet.desk]
  return [
    '<item>',
    `<title>${escapeMarkup(text.title)}</title>`,
    `<link>${escapeMarkup(linkOf(source, text))}</link>`,
    `<guid isPermaLink="false">${outlet.domain}:${text.number}</guid>`,
    ...(date ? [`<pubDate>${date}</pubDate>`] : []),
    ...(feed.authors ? signed.map(name => `<dc:creator>${escapeMarkup(name)}</dc:creator>`) : []),
    `<category>${escapeMarkup(text.section)}</category>`,
    ...(feed.body === 'none' ? [] : [`<description>${escapeMarkup(escapeMarkup(summaryOf(text)))}</description>`]),
    ...(feed.body === 'full' ? [`<content:encoded><![CDATA[${htmlOf(text)}]]></content:encoded>`] : []),
    '</item>',
  ].join('\n')
}

/** Atom (RFC 4287). Links are relative to `xml:base`, as the RFC allows. */
export function atomFeed(source: FeedSource): string {
  const { outlet, feed, texts, origin } = source
  const newest = texts[0]
  return `<?xml version="1.0" encoding="${feed.charset}"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:base="${origin}/" xml:lang="${outlet.languages[0]}">
<title>${escapeMarkup(outlet.name)}</title>
<subtitle>${escapeMarkup(outlet.motto)}</subtitle>
<id>tag:${outlet.domain},2009:news</id>
<link rel="self" href="${feed.path}"/>
<link rel="alternate" href="/"/>
${newest ? `<updated>${isoDate(source, newest)}</updated>` : ''}
${texts.map(text => entry(source, text)).join('\n')}
</feed>
`
}

function entry(source: FeedSource, text: SampleText): string {
  const { outlet, feed, origin } = source
  const link = linkOf(source, text).slice(origin.length)
  return [
    '<entry>',
    `<title>${escapeMarkup(text.title)}</title>`,
    `<id>tag:${outlet.domain},2026:${text.number}</id>`,
    `<link rel="alternate" type="text/html" href="${escapeMarkup(link)}"/>`,
    `<published>${isoDate(source, text)}</published>`,
    `<updated>${isoDate(source, text)}</updated>`,
    ...text.authors.map(name => `<author><name>${escapeMarkup(name)}</name></author>`),
    `<summary>${escapeMarkup(summaryOf(text))}</summary>`,
    ...(feed.body === 'full' ? [`<content type="html">${escapeMarkup(htmlOf(text))}</content>`] : []),
    '</entry>',
  ].join('\n')
}

/** RSS 1.0 (RDF). */
export function rdfFeed(source: FeedSource): string {
  const { outlet, feed, texts, origin } = source
  const links = texts.map(text => escapeMarkup(linkOf(source, text)))
  return `<?xml version="1.0" encoding="${feed.charset}"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="${origin}${feed.path}">
<title>${escapeMarkup(outlet.name)}</title>
<link>${origin}/</link>
<description>${escapeMarkup(outlet.motto)}</description>
<items><rdf:Seq>${links.map(link => `<rdf:li rdf:resource="${link}"/>`).join('')}</rdf:Seq></items>
</channel>
${texts.map(text => rdfItem(source, text)).join('\n')}
</rdf:RDF>
`
}

function rdfItem(source: FeedSource, text: SampleText): string {
  const link = escapeMarkup(linkOf(source, text))
  return [
    `<item rdf:about="${link}">`,
    `<title>${escapeMarkup(text.title)}</title>`,
    `<link>${link}</link>`,
    `<description>${escapeMarkup(summaryOf(text))}</description>`,
    ...text.authors.map(name => `<dc:creator>${escapeMarkup(name)}</dc:creator>`),
    ...(source.feed.dates === 'none' ? [] : [`<dc:date>${isoDate(source, text)}</dc:date>`]),
    '</item>',
  ].join('\n')
}

/** JSON Feed 1.1. */
export function jsonFeed(source: FeedSource): string {
  const { outlet, feed, texts, origin } = source
  const document = {
    version: 'https://jsonfeed.org/version/1.1',
    title: outlet.name,
    description: outlet.motto,
    home_page_url: `${origin}/`,
    feed_url: origin + feed.path,
    items: texts.map(text => ({
      id: `${outlet.domain}:${text.number}`,
      url: linkOf(source, text),
      title: text.title,
      summary: summaryOf(text),
      ...(feed.body === 'full' ? { content_html: htmlOf(text) } : {}),
      date_published: isoDate(source, text),
      authors: text.authors.map(name => ({ name })),
      tags: [text.section],
    })),
  }
  return JSON.stringify(document, null, 1)
}

/** Path of the news sitemap of one month (`2026-11`). */
export function monthPath(month: string): string {
  return `/sitemaps/news-${month}.xml.gz`
}

export function monthsOf(texts: SampleText[]): string[] {
  return [...new Set(texts.map(text => text.publishedAt.toISOString().slice(0, 7)))]
}

/** An index of sitemaps (sitemaps.org 0.9), one a month. */
export function sitemapIndex({ texts, origin }: FeedSource): string {
  const entries = monthsOf(texts).map(month => `<sitemap><loc>${origin}${monthPath(month)}</loc></sitemap>`)
  return `<?xml version="1.0" encoding="UTF-8"?>
<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${entries.join('\n')}
</sitemapindex>
`
}

/** A news sitemap with the articles of one month. */
export function newsSitemap(source: FeedSource, month: string): string {
  const texts = source.texts.filter(text => text.publishedAt.toISOString().startsWith(month))
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
${texts.map(text => sitemapEntry(source, text)).join('\n')}
</urlset>
`
}

function sitemapEntry(source: FeedSource, text: SampleText): string {
  return `<url><loc>${escapeMarkup(linkOf(source, text))}</loc><news:news>
<news:publication><news:name>${escapeMarkup(source.outlet.name)}</news:name><news:language>${text.language}</news:language></news:publication>
<news:publication_date>${isoDate(source, text)}</news:publication_date>
<news:title>${escapeMarkup(text.title)}</news:title></news:news></url>`
}
