import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { articlePage } from '../../normaliser/stored.ts'

/** Outlets that name thousands of articles at once. */
export interface FloodSite {
  catalogue: { outlets: object[] }
  /** Articles that were asked for. */
  fetched(): number
  close(): Promise<void>
}

/** A feed is read this far, see `services/crawler/feeds`. */
const FEED_LENGTH = 1_000

/**
 * @param hosts on loopback addresses of their own, because politeness goes by host; each with two
 * feeds of a thousand
 */
export async function startFloodSite(hosts: number, port: number): Promise<FloodSite> {
  let fetched = 0
  const servers = await Promise.all(Array.from({ length: hosts }, (_, host) => serve(host)))

  async function serve(host: number): Promise<Server> {
    const address = addressOf(host)
    const server = createServer((request, response) => {
      const path = request.url ?? '/'
      const feed = /^\/feed-(\d)$/.exec(path)
      if (feed) {
        const items = Array.from({ length: FEED_LENGTH }, (_, at) => {
          const number = Number(feed[1]) * FEED_LENGTH + at
          return `<item><title>Raad ${host} spreekt over plan ${number}</title><link>http://${address}:${port}/nieuws/${number}</link></item>`
        })
        const body = `<rss version="2.0"><channel><title>n</title>${items.join('')}</channel></rss>`
        return void response.writeHead(200, { 'content-type': 'application/rss+xml' }).end(body)
      }
      const page = /^\/nieuws\/(\d+)$/.exec(path)
      if (!page) return void response.writeHead(404).end()
      fetched += 1
      const about = `plan ${page[1]} van gemeente ${host}`
      response
        .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
        .end(articlePage(`Raad ${host} spreekt over plan ${page[1]}`, about))
    })
    server.listen(port, address)
    await once(server, 'listening')
    return server
  }

  return {
    catalogue: {
      outlets: servers.map((_, host) => ({
        ...{ name: `Gemeente ${host}`, domain: `g${host}.example`, country: 'NL', languages: ['nl'] },
        timeZone: 'Europe/Amsterdam',
        hosts: [addressOf(host)],
        feeds: [0, 1].map(feed => `http://${addressOf(host)}:${port}/feed-${feed}`),
        sitemaps: [],
      })),
    },
    fetched: () => fetched,
    async close() {
      await Promise.all(
        servers.map(async server => {
          server.closeAllConnections()
          server.close()
          await once(server, 'close')
        }),
      )
    },
  }
}

const addressOf = (host: number) => `127.3.0.${host + 1}`
