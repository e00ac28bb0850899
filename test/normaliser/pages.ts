import { parsePage } from '#services/normaliser/markup/tree'
import { type PageMetadata, readMetadata } from '#services/normaliser/metadata/metadata'
import type { FeedEntry, StoredPage } from '#shared/outlets/page'

/** Pages of an invented outlet, as the normaliser receives them. */

const URL = 'https://dagkoerier.example/a/1'

export const OUTLET: StoredPage['outlet'] = {
  name: 'De Dagkoerier',
  domain: 'dagkoerier.example',
  country: 'BE',
  languages: ['nl'],
  timeZone: 'Europe/Brussels',
}

export const feedEntry = (given: Partial<FeedEntry> = {}): FeedEntry => ({
  url: URL,
  guid: null,
  title: null,
  summary: null,
  content: null,
  authors: [],
  published: null,
  language: null,
  ...given,
})

export function storedPage(body: string | null, given: Partial<StoredPage> = {}): StoredPage {
  const { url = URL } = given
  return {
    url,
    finalUrl: url,
    status: 200,
    contentType: 'text/html; charset=utf-8',
    rights: null,
    body: body === null ? null : Buffer.from(body),
    fetchedAt: new Date('2026-11-20T12:00:00Z'),
    entry: null,
    outlet: OUTLET,
    ...given,
  }
}

/** Data as pages hold them for search engines. */
export const jsonLd = (data: unknown): string =>
  `<script type="application/ld+json">${JSON.stringify(data)}</script>`

export const metaOf = (html: string, url: string = URL): PageMetadata =>
  readMetadata(parsePage(html), url)
