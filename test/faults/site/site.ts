import type { Outlet } from '#shared/outlets/catalogue'
import {
  breachesOf,
  cutShort,
  type Handler,
  redirect,
  reply,
  startSite as startHost,
  timeOf,
  type Site as WebSite,
} from '#test/crawler/site'
import { createRandom, type Random } from '#test/faults/random'
import { writeFeed, writePage } from './documents.ts'
import { entryOf, SITE_OUTLETS, type SiteFeed, type SiteOutlet } from './outlets.ts'
import { composeArticle, type Mood, type SiteArticle } from './site-article.ts'

/**
 * A site that keeps publishing. What it has published is the truth that the system is measured by.
 */
export interface Site {
  articles: SiteArticle[]
  /** As `npm run outlets -- sync` reads it. */
  catalogue: { outlets: Outlet[] }
  /** The canonical address of an article. */
  urlOf(article: SiteArticle): string
  /**
   * Publishes so many articles now, all at one outlet (absent: the first), on pages that answer
   * at once.
   */
  print(count: number, outlet?: SiteOutlet): void
  /** Begins to publish, about `rate` articles a second, with bursts. */
  publish(rate: number): void
  /** Ends publishing. */
  rest(): void
  /** The requests for an article, to help find a lost one. */
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
  pause = 0,
  outlets: readonly SiteOutlet[] = SITE_OUTLETS,
): Promise<Site> {
  const random = createRandom(seed, 'site')
  const articles: SiteArticle[] = []
  const hosts = new Map<SiteOutlet, WebSite>()
  for (const outlet of outlets) {
    const host = await startHost(outlet.address)
    const published = () => articles.filter(article => article.outlet === outlet)
    host.on('/robots.txt', 'User-agent: *\nAllow: /\n')
    for (const feed of outlet.feeds)
      host.on(feed.path, feedAnswer(feed, host.origin, published, random))
    hosts.set(outlet, host)
  }
  const hostOf = ({ outlet }: SiteArticle) => hosts.get(outlet)!
  let timer: NodeJS.Timeout | undefined

  function add(outlet: SiteOutlet, more: Partial<SiteArticle> = {}): void {
    const article = { ...composeArticle(random, outlet, articles.length + 1, new Date()), ...more }
    serveArticle(article, hostOf(article))
    articles.push(article)
  }

  return {
    articles,
    catalogue: { outlets: [...hosts].map(([outlet, { origin }]) => entryOf(outlet, origin)) },
    urlOf: (article: SiteArticle) => hostOf(article).origin + article.path,
    print(count: number, outlet: SiteOutlet = outlets[0]!) {
      for (let n = 0; n < count; n++) add(outlet, { mood: 'well' })
    },
    publish(rate: number) {
      const next = () => {
        const burst = random.chance(0.05) ? 8 : 1
        for (let n = 0; n < burst; n++) add(random.pick(outlets))
        // On average 1.35 articles a tick.
        timer = setTimeout(next, random.between(0, (2 * 1_350) / rate))
      }
      next()
    },
    rest: () => clearTimeout(timer),
    visitsOf(article: SiteArticle) {
      const visits = hostOf(article).seen.filter(
        ({ path }) => path === article.shortPath || path.startsWith(article.path),
      )
      return visits.map(
        ({ path, from, answered }) =>
          `${timeOf(from)} ${path}${answered ? '' : ' without an answer'}`,
      )
    },
    breaches: () => [...hosts.values()].flatMap(host => breachesOf(host, pause)),
    async close() {
      clearTimeout(timer)
      await Promise.all([...hosts.values()].map(host => host.close()))
    },
  }
}

/** The page of an article by its mood, and the ways that lead there. */
function serveArticle(article: SiteArticle, { on, origin }: WebSite): void {
  const { mood, path, shortPath } = article
  const whole: Handler = (...given) => {
    const body = Buffer.from(writePage(article, origin))
    reply(
      200,
      { 'content-type': 'text/html; charset=utf-8', 'content-length': body.length },
      body,
    )(...given)
  }
  const moods: Partial<Record<Mood, Handler>> = {
    slow: (...given) => setTimeout(whole, SLOWNESS_MS, ...given),
    refused: reply(403, { 'content-type': 'text/html' }, '<p>Forbidden</p>'),
    errorOnce: reply(500),
    resetOnce: (_request, response) => response.destroy(),
    cutOnce: cutShort({ 'content-type': 'text/html; charset=utf-8' }, writePage(article, origin)),
    silentOnce: (_request, response) => setTimeout(() => response.destroy(), SILENCE_MS).unref(),
  }
  const first = moods[mood] ?? whole
  const later = mood.endsWith('Once') ? whole : first
  let asked = 0
  const page = mood === 'moved' ? `${path}.nieuw` : path
  on(page, (...given) => (asked++ === 0 ? first : later)(...given))
  if (page !== path) on(path, redirect(origin + page))
  on(shortPath, redirect(origin + path))
}

/** A feed with an ETag: the number of articles that it has known. */
function feedAnswer(
  feed: SiteFeed,
  origin: string,
  published: () => SiteArticle[],
  random: Random,
): Handler {
  let taken = 0
  return (request, response) => {
    const all = published()
    const presented = Number(/"v(\d+)"/.exec(request.headers['if-none-match'] ?? '')?.[1] ?? 0)
    if (feed.forgetful) taken = Math.max(taken, presented)
    const etag = `"v${all.length}"`
    if (presented === all.length && all.length > 0) return reply(304, { etag })(request, response)
    const body = Buffer.from(
      writeFeed(feed, origin, all.slice(Math.max(taken, all.length - FEED_LENGTH))),
    )
    const headers = {
      'content-type': 'application/xml; charset=utf-8',
      'content-length': body.length,
      etag,
    }
    const fails = () => (random.chance(0.5) ? cutShort(headers, body) : reply(500))
    const answer = random.chance(FAILING_POLLS) ? fails() : reply(200, headers, body)
    answer(request, response)
  }
}
