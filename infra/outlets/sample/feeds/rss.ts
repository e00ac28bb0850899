import { escapeMarkup } from '../markup.ts'
import { type SampleText, summaryOf } from '../texts.ts'
import { type FeedSource, htmlOf, linkOf, rssDate } from './entry.ts'

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
