import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createListener } from 'node:net'
import { rss } from '../../crawler/crawl.ts'
import { articlePage } from '../../normaliser/stored.ts'

/** How much the greedy outlets want. */
export interface Greed {
  /** Hosts that accept connections and never answer. */
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

/** The servers of one race. Every host has an address of its own, because pace goes by host. */
interface Servers {
  /** The one port of all servers. */
  port: number
  closing: (() => Promise<unknown>)[]
}

export async function startSites(port: number, greed: Greed): Promise<Sites> {
  const servers: Servers = { port, closing: [] }
  const honest: object[] = []
  for (let outlet = 0; outlet < HONEST; outlet += 1) honest.push(await startHonest(servers, outlet))
  return {
    honest,
    greedy: [
      await startTarpits(servers, greed.tarpits),
      await startBig(servers, greed.big, greed.bigBytes),
      await startBombs(servers, greed.bombs),
      await startEndless(servers, greed.endless),
    ],
    close: async () => void (await Promise.all(servers.closing.map(close => close()))),
  }
}

async function serve({ port, closing }: Servers, address: string, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  closing.push(() => end(server))
  server.listen(port, address)
  await once(server, 'listening')
  return `http://${address}:${port}`
}

/** A site with a feed, whose other pages `answer` serves. */
const siteOf =
  (links: readonly string[], answer: (response: Response, path: string) => void): RequestListener =>
  ({ url = '' }, response) => {
    if (url === '/feed.xml') return void send(response, rss(...links), 'application/rss+xml')
    if (!url.startsWith('/nieuws/')) return void response.writeHead(404).end()
    answer(response, url)
  }

const numbered = (origin: string, count: number) => Array.from({ length: count }, (_, at) => `${origin}/nieuws/${at}`)

async function startHonest(servers: Servers, outlet: number): Promise<object> {
  const address = `127.20.0.${outlet + 1}`
  const site = siteOf(numbered(`http://${address}:${servers.port}`, ARTICLES), (response, path) => {
    const number = path.split('/').at(-1)
    send(response, articlePage(`Raad ${outlet} spreekt over plan ${number}`, `plan ${number} van gemeente ${outlet}`))
  })
  return outletOf(`honest${outlet}`, `${await serve(servers, address, site)}/feed.xml`)
}

/** A listener for each host, which never answers: a feed can name as many hosts as it likes. */
async function startTarpits(servers: Servers, count: number): Promise<object> {
  const { port, closing } = servers
  const links: string[] = []
  for (let at = 0; at < count; at += 1) {
    const address = `127.21.${1 + Math.floor(at / 200)}.${1 + (at % 200)}`
    const listener = createListener(socket => socket.on('error', () => {}).resume())
    listener.listen(port, address)
    await once(listener, 'listening')
    closing.push(() => end(listener))
    links.push(`http://${address}:${port}/nieuws/1`)
  }
  const feed = siteOf(links, response => void response.writeHead(404).end())
  return outletOf('tarpit', `${await serve(servers, '127.22.0.1', feed)}/feed.xml`)
}

async function startBig(servers: Servers, count: number, bytes: number): Promise<object> {
  const address = '127.22.0.2'
  const noise = randomBytes(Math.ceil(bytes / 2)).toString('hex')
  const site = siteOf(numbered(`http://${address}:${servers.port}`, count), (response, path) =>
    send(response, `<!doctype html><html><head><title>Groot ${path}</title></head><body><p>${noise}</p></body></html>`),
  )
  return outletOf('big', `${await serve(servers, address, site)}/feed.xml`)
}

async function startBombs(servers: Servers, count: number): Promise<object> {
  const address = '127.22.0.3'
  const links = numbered(`http://${address}:${servers.port}`, count)
  const site = siteOf(links, (response, path) => send(response, bomb(path)))
  return outletOf('bomb', `${await serve(servers, address, site)}/feed.xml`)
}

/** Four hosts that begin an answer and never end it. */
async function startEndless(servers: Servers, count: number): Promise<object> {
  const addresses = [4, 5, 6, 7].map(last => `127.22.0.${last}`)
  const links = addresses.flatMap(address => numbered(`http://${address}:${servers.port}`, count / 4))
  const site = siteOf(links, response => {
    response.writeHead(200, { 'content-type': 'text/html' }).write('<!doctype html><p>')
  })
  const origins = await Promise.all(addresses.map(address => serve(servers, address, site)))
  return outletOf('endless', `${origins[0]}/feed.xml`)
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
  ...{ feeds: [feed], sitemaps: [], hosts: [new URL(feed).hostname] },
})

type Response = Parameters<RequestListener>[1]

function send(response: Response, body: string, type = 'text/html; charset=utf-8') {
  response.writeHead(200, { 'content-type': type }).end(body)
}

async function end(server: Server | ReturnType<typeof createListener>): Promise<void> {
  if ('closeAllConnections' in server) server.closeAllConnections()
  server.close()
}
