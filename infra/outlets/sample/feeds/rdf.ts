import { escapeMarkup } from '../markup.ts'
import { type SampleText, summaryOf } from '../texts.ts'
import { type FeedSource, isoDate, linkOf } from './entry.ts'

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
${texts.map(text => item(source, text)).join('\n')}
</rdf:RDF>
`
}

function item(source: FeedSource, text: SampleText): string {
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
