import { writeXml, type XmlElement } from '../feed/xml.ts'

export const OPML_TYPE = 'text/x-opml; charset=utf-8'

/** A feed as feed readers take it over. */
export interface Subscription {
  title: string
  /** The secret address. */
  url: string
  /** The page where people see the same search. */
  page: string
}

/** Writes OPML 2.0 (http://opml.org/spec2.opml), a list of feeds that every feed reader can import. */
export function writeOpml(title: string, subscriptions: Subscription[]): string {
  const outlines = subscriptions.map(
    (subscription): XmlElement => ({
      name: 'outline',
      attributes: {
        type: 'rss',
        text: subscription.title,
        title: subscription.title,
        xmlUrl: subscription.url,
        htmlUrl: subscription.page,
      },
    }),
  )
  return writeXml({
    name: 'opml',
    attributes: { version: '2.0' },
    content: [
      { name: 'head', content: [{ name: 'title', content: title }] },
      { name: 'body', content: outlines },
    ],
  })
}
