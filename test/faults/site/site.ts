import { createServer, type IncomingMessage, type Server } from 'node:http'
import { closeServer, listen } from '../../fleet.ts'
import { createRandom, type Random } from '../random.ts'
import { composeArticle, type Mood, type SiteArticle } from './article.ts'
import { writeFeed, writePage } from './documents.ts'
import { catalogueOf, originOf, SITE_OUTLETS, type SiteFeed, type SiteOutlet } from './outlets.ts'
import { createReply, type Manners, type Reply, watchManners } from './reply.ts'

/**
 * A site that keeps publishing. What it has published is the truth that the system is measured by.
 */
export interface Site {
  articles: readonly SiteArticle[]
  catalogue: ReturnType<typeof catalogueOf>
  /** The canonical address of an article. */
  urlOf(article: SiteArticle): string
  /** Publishes so many articles now, all at one outlet, on pages that answer at once. */
  print(count: number, outlet: SiteOutlet): void
  /** Begins to publish, about `rate` articles a second, with bursts. */
  publish(rate: number): void
  /** Ends publishing. */
  rest(): void
  /** The requests for an article and their answers, to help find a lost one. */
  visitsOf(article: SiteArticle): string[]
  /** Requests that came too soon after another, in sentences. */
  breaches(): string[]
  close(): Promise<void>
}

/** Longer than any crawler of the test waits. */
const SILENCE_MS = 60_000
const SLOWNESS_MS = 1_500
/** Share of polls that fail, half of them by an answer cut short. */
const FAILING_POLLS = 0.03
/** An article that nobody has asked for stays in its feed this long, in articles. */
const FEED_LENGTH = 400

/**
 * @param pause ms that a crawler owes to a host between two requests
 * @param outlets where each outlet is served
 */
export async function startSite(
  seed: number,
  port: number,
  pause = 0,
  outlets: readonly SiteOutlet[] = SITE_OUTLETS,
): Promise<Site> {
  const random = createRandom(seed, 'site')
  const articles: SiteArticle[] = []
  const visits = new Map<string, string[]>()
  const watches: Manners[] = []
  const servers = await Promise.all(outlets.map(outlet => serve(outlet)))
  let timer: NodeJS.Timeout | undefined

  async function serve(outlet: SiteOutlet): Promise<Server> {
    const published = () => articles.filter(article => article.outlet === outlet)
    const feeds = new Map(
      outlet.feeds.map(feed => [feed.path, feedAnswer(feed, originOf(outlet, port), published, random)]),
    )
    const manners = watchManners(outlet.address, pause)
    watches.push(manners)
    const server = createServer((request, response) => {
      const reply = createReply(response, manners.watch(request.url ?? '/', response))
      const path = request.url?.split('?')[0] ?? '/'
      const feed = feeds.get(path)
      if (path === '/robots.txt') return reply.send(200, { 'content-type': 'text/plain' }, 'User-agent: *\nAllow: /\n')
      if (feed) return feed(request, reply)
      const article = published().find(
        ({ path: own, shortPath }) => path === own || path === shortPath || path === `${own}.nieuw`,
      )
      if (!article) return reply.send(404)
      const log = visits.get(urlOf(article)) ?? []
      visits.set(urlOf(article), log)
      const before = log.filter(line => line.includes(` ${path} `)).length
      log.push(
        `${new Date().toISOString()} ${path} ${answerPage(article, path, before, originOf(outlet, port), reply)}`,
      )
    })
    await listen(server, outlet.address, port)
    return server
  }

  const urlOf = (article: SiteArticle) => originOf(article.outlet, port) + article.path

  const add = (outlet: SiteOutlet) => composeArticle(random, outlet, articles.length + 1, new Date())

  return {
    articles,
    catalogue: catalogueOf(outlets, port),
    urlOf,
    print(count, outlet) {
      for (let n = 0; n < count; n++) articles.push({ ...add(outlet), mood: 'well' })
    },
    publish(rate) {
      const next = () => {
        const burst = random.chance(0.05) ? 8 : 1
        for (let n = 0; n < burst; n++) {
          articles.push(add(random.pick(outlets)))
        }
        // On average 1.35 articles a tick.
        timer = setTimeout(next, random.between(0, (2 * 1_350) / rate))
      }
      next()
    },
    rest: () => clearTimeout(timer),
    visitsOf: article => visits.get(urlOf(article)) ?? [],
    breaches: () => watches.flatMap(({ breaches }) => breaches),
    async close() {
      clearTimeout(timer)
      await Promise.all(servers.map(closeServer))
    },
  }
}

/**
 * Answers for a page by its mood; returns what it does. `before`: requests for the same path so
 * far.
 */
function answerPage(article: SiteArticle, path: string, before: number, origin: string, reply: Reply): string {
  const { mood } = article
  if (path === article.shortPath || (mood === 'moved' && path === article.path)) {
    const to = path === article.shortPath ? article.path : `${article.path}.nieuw`
    reply.redirect(origin + to)
    return `302 ${to}`
  }
  const body = Buffer.from(writePage(article, origin))
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-length': body.length }
  const fails: Partial<Record<Mood, () => void>> = {
    errorOnce: () => reply.send(500),
    resetOnce: () => reply.breakOff(),
    cutOnce: () => reply.cutShort(headers, body),
    silentOnce: () => setTimeout(() => reply.breakOff(), SILENCE_MS).unref(),
  }
  const fail = before === 0 ? fails[mood] : undefined
  if (fail) fail()
  else if (mood === 'refused') reply.send(403, { 'content-type': 'text/html' }, '<p>Forbidden</p>')
  else if (mood === 'slow') setTimeout(() => reply.send(200, headers, body), SLOWNESS_MS)
  else reply.send(200, headers, body)
  return fail || mood === 'refused' || mood === 'slow' ? mood : 'well'
}

/** A feed with an ETag: the number of articles that it has known. */
function feedAnswer(feed: SiteFeed, origin: string, published: () => SiteArticle[], random: Random) {
  let taken = 0
  return (request: IncomingMessage, reply: Reply): void => {
    const all = published()
    const presented = Number(/"v(\d+)"/.exec(request.headers['if-none-match'] ?? '')?.[1] ?? 0)
    if (feed.forgetful) taken = Math.max(taken, presented)
    const etag = `"v${all.length}"`
    if (presented === all.length && all.length > 0) {
      reply.send(304, { etag })
      return
    }
    const body = Buffer.from(writeFeed(feed, origin, all.slice(Math.max(taken, all.length - FEED_LENGTH))))
    const headers = { 'content-type': 'application/xml; charset=utf-8', 'content-length': body.length, etag }
    if (!random.chance(FAILING_POLLS)) reply.send(200, headers, body)
    else if (random.chance(0.5)) reply.cutShort(headers, body)
    else reply.send(500)
  }
}
