import { summaryOf } from '../texts.ts'
import { type FeedSource, htmlOf, isoDate, linkOf } from './entry.ts'

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
