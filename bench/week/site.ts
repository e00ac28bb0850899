import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { createRandom } from '../../test/faults/random.ts'
import { composeArticle, type SiteArticle } from '../../test/faults/site/article.ts'
import { writeFeed } from '../../test/faults/site/feeds.ts'
import { originOf, type SiteOutlet } from '../../test/faults/site/outlets.ts'
import { writePage } from '../../test/faults/site/page.ts'
import { makeTimetable, type Order, type Said, weekOutlets } from './timetable.ts'

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

const say = (said: Said) => void process.send?.(said)
const requests = { feeds: 0, unchanged: 0, pages: 0 }

process.once('message', async (order: Order) => {
  const random = createRandom(1, 'week site')
  const timetable = makeTimetable(order.perDay, order.outlets)
  const all = weekOutlets(order.outlets).map((outlet): Published => ({ outlet, articles: [], byPath: new Map() }))
  await Promise.all(all.map(one => serve(one, order.port)))
  say({ kind: 'ready' })

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
  process.on('message', () => say({ kind: 'state', published, over: published.length === timetable.length, requests }))
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
