import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
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
import { SAMPLE_OUTLETS } from './outlets.ts'
import { ampPage, articlePage, consentPage, homePage, refusalPage, styleSheet } from './pages.ts'
import { catalogueEntry, type OutletsFile, type SampleOutlet, type SampleText, textsOf } from './texts.ts'

/**
 * The sample outlets as twelve real web servers on 127.0.0.1. Each has a port of its own, so that it
 * is a host of its own for robots.txt and permits.
 */

/** One request that a site answered. Tests read which requests a crawler made. */
export interface Visit {
  domain: string
  /** With its query. */
  path: string
  status: number
  userAgent: string
}

interface SampleOptions {
  /**
   * The ports of an earlier start, by domain. An article's address holds its port, so the articles
   * are the same only with the same ports. A domain without a port gets a free one.
   */
  ports?: Ports
  onVisit?: (visit: Visit) => void
}

interface SampleSites {
  /** The caller should keep them for the next start. */
  ports: Ports
  catalogue: OutletsFile
  close: () => Promise<void>
}

/** Starts all sites. When a remembered port is taken, rejects with a sentence and ends all sites. */
export async function startSampleSites(options: SampleOptions = {}): Promise<SampleSites> {
  const servers: Server[] = []
  const close = async () => {
    await Promise.all(servers.map(stop))
  }
  const ports: Ports = {}
  const remembered = options.ports ?? {}
  // Two checkouts rarely begin at the same random port.
  const from = randomInt(20_000, 32_000)
  try {
    for (const outlet of SAMPLE_OUTLETS) {
      const port = remembered[outlet.domain]
      const server = createServer()
      ports[outlet.domain] =
        port === undefined
          ? await choosePort(server, from, Object.values({ ...remembered, ...ports }))
          : await takeRememberedPort(server, port, outlet.domain)
      servers.push(server)
      server.on('request', listener(outlet, siteOf(outlet, originOf(ports[outlet.domain]!)), options.onVisit))
    }
  } catch (error) {
    await close()
    throw error
  }
  const outlets = SAMPLE_OUTLETS.map(outlet => catalogueEntry(outlet, originOf(ports[outlet.domain]!)))
  return { ports, catalogue: { outlets }, close }
}

function originOf(port: number): string {
  return `http://127.0.0.1:${port}`
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

function listener(outlet: SampleOutlet, site: Site, onVisit: SampleOptions['onVisit']): RequestListener {
  return (request, response) => {
    const path = request.url ?? '/'
    const answer = request.method === 'GET' || request.method === 'HEAD' ? site(path, request.headers) : NOT_ALLOWED
    onVisit?.({
      domain: outlet.domain,
      path,
      status: answer.status,
      userAgent: request.headers['user-agent'] ?? '',
    })
    const length = answer.status === 304 || answer.status === 204 ? {} : { 'Content-Length': answer.body.length }
    response.writeHead(answer.status, { ...answer.headers, ...length })
    response.end(request.method === 'HEAD' ? undefined : answer.body)
  }
}

const NOT_ALLOWED: SampleResponse = { status: 405, headers: { Allow: 'GET, HEAD' }, body: Buffer.alloc(0) }

/** The port of each sample outlet, by domain. */
type Ports = Record<string, number>

/** Linux gives ports from here on to outgoing connections. They could be taken at the next start. */
const FIRST_EPHEMERAL_PORT = 32_768

/** Listens on the first free port that is at least `from`, below 32,768 and none of `except`; returns it. */
async function choosePort(server: Server, from: number, except: readonly number[]): Promise<number> {
  for (let port = from; port < FIRST_EPHEMERAL_PORT; port += 1) {
    if (!except.includes(port) && (await listens(server, port))) return port
  }
  throw new Error(`No port between ${from} and ${FIRST_EPHEMERAL_PORT - 1} is free.`)
}

/** Listens on the port that the outlet had before. Rejects with a sentence when it is taken. */
async function takeRememberedPort(server: Server, port: number, domain: string): Promise<number> {
  if (await listens(server, port)) return port
  throw new Error(
    `Port ${port}, the address of the sample outlet ${domain} since its first start, is taken by another process: ` +
      'end that process, or remove the remembered ports (the articles of the sample outlets then count as new ones).',
  )
}

async function listens(server: Server, port: number): Promise<boolean> {
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES')) {
      return false
    }
    throw error
  }
}

/** Reads the ports in a file; none when there is no such file. Throws when it holds anything else. */
export async function readPorts(file: string): Promise<Ports> {
  let source: string
  try {
    source = await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
    throw error
  }
  const wrong = new Error(`${file} does not hold the ports of the sample outlets: remove it, and they get new ones.`)
  let parsed: unknown
  try {
    parsed = JSON.parse(source)
  } catch {
    throw wrong
  }
  if (typeof parsed !== 'object' || parsed === null) throw wrong
  const ports: Ports = {}
  for (const [domain, port] of Object.entries(parsed)) {
    if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535) throw wrong
    ports[domain] = port
  }
  return ports
}

/** Writes the file by a rename: a crash leaves the old file or the new one. */
export async function writePorts(file: string, ports: Ports): Promise<void> {
  const fresh = `${file}.${process.pid}.new`
  await writeFile(fresh, `${JSON.stringify(ports, null, 2)}\n`)
  await rename(fresh, file)
}

// `node infra/outlets/sample/server.ts` serves the sample outlets by themselves until SIGTERM.
if (import.meta.main) {
  const sites = await startSampleSites()
  process.once('SIGTERM', () => void sites.close())
  process.stdout.write(`${JSON.stringify(sites.catalogue, null, 2)}\n`)
}

/** All addresses of one outlet's site and their answers. This file opens no sockets. */

type Site = (path: string, request: RequestHeaders) => SampleResponse

type Routes = Map<string, () => SampleResponse>

const EPOCH = new Date('2026-09-01T00:00:00Z')

/** The site of an outlet at `origin`. `path` begins with `/` and may have a query. */
function siteOf(outlet: SampleOutlet, origin: string): Site {
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
