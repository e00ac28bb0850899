import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { createRandom } from '../../test/faults/random.ts'
import { composeArticle, type SiteArticle } from '../../test/faults/site/article.ts'
import { writeFeed } from '../../test/faults/site/feeds.ts'
import { catalogueOf, originOf, type SiteOutlet } from '../../test/faults/site/outlets.ts'
import { writePage } from '../../test/faults/site/page.ts'
import { cumulative, drawn } from '../search/generator.ts'

/** The bench sends this to the process of the site first. The site answers with its catalogue. */
export interface Order {
  port: number
  outlets: number
  perDay: number
  /** So many simulated seconds pass in a real one. */
  speed: number
}

/** The site says this whenever it is asked. */
export interface SiteState {
  /** Real time of each article's publication, ms since 1970, by its number from 1. */
  published: number[]
  /** Whether the week is over. */
  over: boolean
  requests: { feeds: number; unchanged: number; pages: number }
}

/** Articles that a feed shows. */
const FEED_LENGTH = 50
/** ms between two looks at the timetable. */
const TICK = 20

/** An outlet and what it has published. */
interface Published {
  outlet: SiteOutlet
  articles: SiteArticle[]
  byPath: Map<string, SiteArticle>
}

const requests = { feeds: 0, unchanged: 0, pages: 0 }

process.once('message', async (order: Order) => {
  const random = createRandom(1, 'week site')
  const timetable = makeTimetable(order.perDay, order.outlets)
  const outlets = weekOutlets(order.outlets)
  const all = outlets.map((outlet): Published => ({ outlet, articles: [], byPath: new Map() }))
  await Promise.all(all.map(one => serve(one, order.port)))
  process.send?.(catalogueOf(outlets, order.port))

  const published: number[] = []
  const start = Date.now()
  const tick = setInterval(() => {
    const now = Date.now()
    while (published.length < timetable.length) {
      const entry = timetable[published.length]!
      const due = start + entry.at / order.speed
      if (due > now) break
      const own = all[entry.outlet]!
      const article = composeArticle(random, own.outlet, published.length + 1, new Date(due))
      published.push(now)
      own.articles.push(article)
      own.byPath.set(article.path, article)
    }
    if (published.length === timetable.length) clearInterval(tick)
  }, TICK)
  process.on('message', () => {
    const over = published.length === timetable.length
    process.send?.({ published, over, requests } satisfies SiteState)
  })
})

async function serve({ outlet, articles, byPath }: Published, port: number): Promise<void> {
  const origin = originOf(outlet, port)
  const server = createServer({ keepAliveTimeout: 1_000 }, (request, response) => {
    const path = request.url?.split('?')[0] ?? '/'
    const feed = outlet.feeds.find(one => one.path === path)
    if (path === '/robots.txt') return send(response, 200, 'text/plain', 'User-agent: *\nAllow: /\n')
    if (feed !== undefined) {
      requests.feeds += 1
      const etag = `"v${articles.length}"`
      const isKnown = request.headers['if-none-match'] === etag
      if (isKnown) requests.unchanged += 1
      response.setHeader('etag', etag)
      return isKnown
        ? void response.writeHead(304).end()
        : send(response, 200, 'application/xml', writeFeed(feed, origin, articles.slice(-FEED_LENGTH)))
    }
    const article = byPath.get(path)
    requests.pages += 1
    if (article === undefined) return send(response, 404, 'text/plain', 'There is no such page.\n')
    send(response, 200, 'text/html', writePage(article, origin))
  })
  server.listen(port, outlet.address)
  await once(server, 'listening')
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  const bytes = Buffer.from(body)
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, 'content-length': bytes.length }).end(bytes)
}

/** Share of a day's articles by hour: little at night, most in the morning. */
const BY_HOUR = [6, 4, 3, 3, 5, 12, 28, 42, 54, 60, 62, 62, 58, 55, 56, 58, 60, 58, 50, 44, 38, 30, 20, 12]
const HOUR_MS = 3_600_000

/**
 * When each article of a week is published, ascending: by the hours of a day, and by chance.
 *
 * @returns ms since the beginning of the week, and the number of the outlet
 */
function makeTimetable(perDay: number, outlets: number): { at: number; outlet: number }[] {
  const random = createRandom(1, 'week')
  const hours = cumulative(BY_HOUR)
  // The outlet with number n has about n times fewer articles than the first.
  const diligence = cumulative(Array.from({ length: outlets }, (_, number) => 1 / (number + 8)))
  const entries = Array.from({ length: 7 * perDay }, (_, number) => {
    const hour = Math.floor(number / perDay) * 24 + drawn(hours, random.next()) + random.next()
    return { at: hour * HOUR_MS, outlet: drawn(diligence, random.next()) }
  })
  return entries.sort((a, b) => a.at - b.at)
}

/** Languages of the outlets, by their share, and places where they are read. */
const LANGUAGES = ['nl', 'nl', 'nl', 'nl', 'fr', 'fr', 'fr', 'de', 'lb', 'en'] as const
const COUNTRIES = { nl: ['NL', 'BE'], fr: ['BE', 'LU'], de: ['LU'], lb: ['LU'], en: ['NL', 'BE', 'LU'] } as const

/** Outlets with an address each in 127.8.0.0/16, because politeness goes by host. */
function weekOutlets(count: number): SiteOutlet[] {
  return Array.from({ length: count }, (_, index) => {
    const language = LANGUAGES[index % LANGUAGES.length]!
    const country = COUNTRIES[language][index % COUNTRIES[language].length]!
    return {
      ...{ name: `Outlet ${index + 1}`, domain: `outlet-${index + 1}.example`, country, language },
      timeZone: 'Europe/Brussels',
      address: `127.8.${Math.floor(index / 250)}.${(index % 250) + 1}`,
      feeds: [{ path: '/rss.xml', format: index % 4 === 3 ? 'atom' : 'rss', links: 'plain' }],
    }
  })
}
