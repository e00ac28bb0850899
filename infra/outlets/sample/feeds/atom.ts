import { escapeMarkup } from '../markup.ts'
import { type SampleText, summaryOf } from '../texts.ts'
import { type FeedSource, htmlOf, isoDate, linkOf } from './entry.ts'

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
