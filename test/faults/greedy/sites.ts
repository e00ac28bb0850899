import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createListener } from 'node:net'
import { rss } from '../../crawler/crawl.ts'
import { articlePage } from '../../normaliser/stored.ts'

/** How much the greedy outlets want. */
export interface Greed {
  /**
   * Hosts that take connections and never answer; the feed names more of them with each poll, until
   * all are named.
   */
  tarpits: number
  /** Pages of `bigBytes` each that do not compress. */
  big: number
  bigBytes: number
  /** Pages with structured data that was made to be slow. */
  bombs: number
  /** Pages on four hosts that begin an answer and never end it. */
  endless: number
}

export interface Sites {
  honest: object[]
  greedy: object[]
  close(): Promise<void>
}

/** Twenty honest outlets with so many articles each. */
export const HONEST = 20
export const ARTICLES = 8

/** Addresses of their own for every host, for pace goes by host; all on one port. */
export async function startSites(port: number, greed: Greed): Promise<Sites> {
  const closing: (() => Promise<unknown>)[] = []
  const serve = async (address: string, listener: RequestListener) => {
    const server = createServer(listener)
    closing.push(() => end(server))
    server.listen(port, address)
    await once(server, 'listening')
    return `http://${address}:${port}`
  }

  const honest: object[] = []
  for (let outlet = 0; outlet < HONEST; outlet += 1) {
    const title = (number: string) => `Raad ${outlet} spreekt over plan ${number}`
    const origin = `http://127.20.0.${outlet + 1}:${port}`
    const paths = Array.from({ length: ARTICLES }, (_, at) => `${origin}/nieuws/${at}`)
    await serve(`127.20.0.${outlet + 1}`, (request, response) => {
      const number = /^\/nieuws\/(\d+)$/.exec(request.url ?? '')?.[1]
      if (request.url === '/feed.xml') return void send(response, rss(...paths), 'application/rss+xml')
      if (number === undefined) return void response.writeHead(404).end()
      send(response, articlePage(title(number), `plan ${number} van gemeente ${outlet}`))
    })
    honest.push(outletOf(`honest${outlet}`, `${origin}/feed.xml`))
  }

  // One listener for each host: a feed can name as many as it likes.
  const tarpits: string[] = []
  for (let at = 0; at < greed.tarpits; at += 1) {
    const address = `127.21.${1 + Math.floor(at / 200)}.${1 + (at % 200)}`
    const listener = createListener(socket => socket.on('error', () => {}).resume())
    listener.listen(port, address)
    await once(listener, 'listening')
    closing.push(() => end(listener))
    tarpits.push(`http://${address}:${port}/nieuws/1`)
  }
  const tarpitFeed = await serve('127.22.0.1', (request, response) => {
    if (request.url !== '/feed.xml') return void response.writeHead(404).end()
    send(response, rss(...tarpits), 'application/rss+xml')
  })

  const numbered = (origin: string, count: number) => Array.from({ length: count }, (_, at) => `${origin}/nieuws/${at}`)
  const bigOrigin = `http://127.22.0.2:${port}`
  const noise = randomBytes(Math.ceil(greed.bigBytes / 2)).toString('hex')
  await serve('127.22.0.2', (request, response) => {
    if (request.url === '/feed.xml')
      return void send(response, rss(...numbered(bigOrigin, greed.big)), 'application/rss+xml')
    if (!request.url?.startsWith('/nieuws/')) return void response.writeHead(404).end()
    send(
      response,
      `<!doctype html><html><head><title>Groot ${request.url}</title></head><body><p>${noise}</p></body></html>`,
    )
  })

  const bombOrigin = `http://127.22.0.3:${port}`
  await serve('127.22.0.3', (request, response) => {
    if (request.url === '/feed.xml')
      return void send(response, rss(...numbered(bombOrigin, greed.bombs)), 'application/rss+xml')
    if (!request.url?.startsWith('/nieuws/')) return void response.writeHead(404).end()
    send(response, bomb(request.url))
  })

  const endlessHosts = [4, 5, 6, 7].map(last => `127.22.0.${last}`)
  const endless = endlessHosts.flatMap(address => numbered(`http://${address}:${port}`, greed.endless / 4))
  for (const address of endlessHosts) {
    await serve(address, (request, response) => {
      if (request.url === '/feed.xml') return void send(response, rss(...endless), 'application/rss+xml')
      if (!request.url?.startsWith('/nieuws/')) return void response.writeHead(404).end()
      response.writeHead(200, { 'content-type': 'text/html' }).write('<!doctype html><p>')
    })
  }

  return {
    honest,
    greedy: [
      outletOf('tarpit', `${tarpitFeed}/feed.xml`),
      outletOf('big', `${bigOrigin}/feed.xml`),
      outletOf('bomb', `${bombOrigin}/feed.xml`),
      outletOf('endless', `http://${endlessHosts[0]}:${port}/feed.xml`),
    ],
    close: async () => void (await Promise.all(closing.map(close => close()))),
  }
}

/** Structured data that names a list of authors thousands of times, in 160 kB. */
function bomb(path: string): string {
  const references = Array.from({ length: 50 }, () =>
    Array.from({ length: 50 }, () => Array.from({ length: 5 }, () => ({ '@id': '#a' }))),
  )
  const authors = Array.from({ length: 50 }, (_, at) => `Jan Smit de ${at}e van Amsterdam, journalist`)
  const data = [
    { '@type': 'NewsArticle', headline: `Bericht ${path}`, author: references },
    { '@id': '#a', name: authors },
  ]
  const script = `<script type="application/ld+json">${JSON.stringify({ '@graph': data })}</script>`
  return articlePage(`Bericht ${path}`, `bericht ${path}`).replace('</head>', `${script}</head>`)
}

const outletOf = (name: string, feed: string) => ({
  ...{ name, domain: `${name}.example`, country: 'NL', languages: ['nl'], timeZone: 'Europe/Amsterdam' },
  ...{ feeds: [feed], sitemaps: [] },
})

function send(response: Parameters<RequestListener>[1], body: string, type = 'text/html; charset=utf-8') {
  response.writeHead(200, { 'content-type': type }).end(body)
}

async function end(server: Server | ReturnType<typeof createListener>): Promise<void> {
  if ('closeAllConnections' in server) server.closeAllConnections()
  server.close()
}
