/** All addresses of one outlet's site and their answers. This file opens no sockets. */

import { gzipSync } from 'node:zlib'
import {
  compressed,
  conditional,
  document,
  encodeMarkup,
  type RequestHeaders,
  redirect,
  type SampleResponse,
} from './answer.ts'
import {
  atomFeed,
  type FeedSource,
  jsonFeed,
  monthPath,
  monthsOf,
  newsSitemap,
  rdfFeed,
  rssFeed,
  shortAddress,
  sitemapIndex,
} from './feeds.ts'
import { ampPage, articlePage, consentPage, homePage, refusalPage, styleSheet } from './pages.ts'
import { type SampleOutlet, type SampleText, textsOf } from './texts.ts'

export type Site = (path: string, request: RequestHeaders) => SampleResponse

type Routes = Map<string, () => SampleResponse>

const EPOCH = new Date('2026-09-01T00:00:00Z')

/** The site of an outlet at `origin`. `path` begins with `/` and may have a query. */
export function siteOf(outlet: SampleOutlet, origin: string): Site {
  const texts = textsOf(outlet)
  const routes: Routes = new Map([
    ...furnitureRoutes(outlet, texts, origin),
    ...feedRoutes(outlet, texts, origin),
    ...articleRoutes(outlet, texts, origin),
  ])
  const missing = html(outlet, 404, refusalPage(outlet, 'notFound'))
  return (path, request) => {
    const answer = routes.get(routeOf(path))?.() ?? missing
    return conditional(outlet.gzip ? compressed(answer, request) : answer, request)
  }
}

/** Only the query parameter `id` counts: one outlet names its articles by it. */
function routeOf(path: string): string {
  const url = URL.parse(path, 'http://localhost')
  if (!url) return path
  const id = url.searchParams.get('id')
  return id ? `${url.pathname}?id=${id}` : url.pathname
}

function html(outlet: SampleOutlet, status: number, page: string): SampleResponse {
  const { bytes, header } = outlet.charset
  const contentType = header ? `text/html; charset=${header}` : 'text/html'
  return { status, headers: { 'Content-Type': contentType }, body: encodeMarkup(page, bytes) }
}

function furnitureRoutes(outlet: SampleOutlet, texts: SampleText[], origin: string): Routes {
  const robots = [
    'User-agent: *',
    ...outlet.robots.disallow.map(path => `Disallow: ${path}`),
    ...(outlet.robots.crawlDelay === null ? [] : [`Crawl-delay: ${outlet.robots.crawlDelay}`]),
    ...outlet.feeds.filter(feed => feed.format === 'sitemap-index').map(feed => `Sitemap: ${origin}${feed.path}`),
  ]
  const plain = (contentType: string, body: string) => () => document(contentType, Buffer.from(body), EPOCH)
  return new Map([
    ['/', () => html(outlet, 200, homePage(outlet, texts))],
    ['/robots.txt', plain('text/plain; charset=utf-8', `${robots.join('\n')}\n`)],
    ['/style.css', plain('text/css; charset=utf-8', styleSheet(outlet.colour))],
    ['/favicon.ico', () => ({ status: 204, headers: {}, body: Buffer.alloc(0) })],
    ['/consent', () => html(outlet, 200, consentPage(outlet))],
  ])
}

function feedRoutes(outlet: SampleOutlet, texts: SampleText[], origin: string): Routes {
  return new Map(
    outlet.feeds.flatMap(feed => {
      const source = { outlet, feed, texts: texts.filter(feed.takes), origin }
      const lastModified = source.texts[0]?.publishedAt ?? EPOCH
      return feedDocuments(source).map(({ path, contentType, body }): [string, () => SampleResponse] => [
        path,
        () => document(contentType, body, lastModified),
      ])
    }),
  )
}

interface FeedDocument {
  path: string
  contentType: string
  body: Buffer
}

function feedDocuments(source: FeedSource): FeedDocument[] {
  const { path, format, charset } = source.feed
  switch (format) {
    case 'rss':
      return [{ path, contentType: 'application/rss+xml', body: encodeMarkup(rssFeed(source), charset) }]
    case 'rdf':
      return [{ path, contentType: 'text/xml', body: encodeMarkup(rdfFeed(source), charset) }]
    case 'atom':
      return [{ path, contentType: 'application/atom+xml', body: encodeMarkup(atomFeed(source), charset) }]
    case 'json':
      return [{ path, contentType: 'application/feed+json', body: Buffer.from(jsonFeed(source)) }]
    case 'sitemap-index': {
      // These are gzip files, without a Content-Encoding. The reader has to look at the bytes.
      const gzip = (path: string, xml: string) => ({ path, contentType: 'application/gzip', body: gzipSync(xml) })
      const months = monthsOf(source.texts)
      return [
        gzip(path, sitemapIndex(source)),
        ...months.map(month => gzip(monthPath(month), newsSitemap(source, month))),
      ]
    }
  }
}

function articleRoutes(outlet: SampleOutlet, texts: SampleText[], origin: string): Routes {
  const routes: Routes = new Map()
  for (const text of texts) {
    const address = outlet.address(text)
    const related = texts.filter(other => other !== text && other.answer === 'page').slice(0, 3)
    const around = { origin, related }
    routes.set(
      address,
      articleAnswer(outlet, text, () => articlePage(outlet, text, around)),
    )
    routes.set(shortAddress(text), () => redirect(301, origin + address))
    if (outlet.amp) {
      routes.set(`/amp${address}`, () => html(outlet, 200, ampPage(outlet, text, around)))
    }
  }
  return routes
}

/** The answer of an article's own address. The behaviour is noted beside the text. */
function articleAnswer(outlet: SampleOutlet, text: SampleText, page: () => string): () => SampleResponse {
  const served = () => {
    const answer = html(outlet, 200, page())
    return document(answer.headers['Content-Type'] ?? 'text/html', answer.body, text.publishedAt)
  }
  const refused = (status: number, kind: 'notFound' | 'forbidden' | 'failed') =>
    html(outlet, status, refusalPage(outlet, kind))
  switch (text.answer) {
    case 'page':
    case 'paywall':
    case 'disallowed':
      return served
    case 'forbidden':
      return () => refused(403, 'forbidden')
    case 'gone':
      return () => refused(404, 'notFound')
    case 'fails':
      return () => refused(500, 'failed')
    case 'consent-wall':
      return () => html(outlet, 200, consentPage(outlet))
    case 'consent-redirect':
      return () => redirect(302, `/consent?back=${encodeURIComponent(outlet.address(text))}`)
    case 'fails-once': {
      let asked = 0
      return () => {
        asked += 1
        return asked === 1 ? refused(503, 'failed') : served()
      }
    }
  }
}
