import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { outletOf, rss } from '#test/crawler/crawl'
import { begin, type Handler, startSite } from '#test/crawler/site'
import { listen } from '#test/fleet'
import { articlePage } from '#test/normaliser/stored'

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
  close(): Promise<undefined>
}

/** Twenty honest outlets with so many articles each. */
export const HONEST = 20
export const ARTICLES = 8

type Closing = (() => unknown)[]

/** Every host has an address of its own, because pace goes by host. */
export async function startSites(greed: Greed): Promise<Sites> {
  const closing: Closing = []
  const noise = randomBytes(Math.ceil(greed.bigBytes / 2)).toString('hex')
  const honest: object[] = []
  for (let outlet = 0; outlet < HONEST; outlet += 1)
    honest.push(
      await startOutlet(closing, `honest${outlet}`, [`127.20.0.${outlet + 1}`], ARTICLES, number =>
        articlePage(
          `Raad ${outlet} spreekt over plan ${number}`,
          `plan ${number} van gemeente ${outlet}`,
        ),
      ),
    )
  const big = (number: number) =>
    `<!doctype html><html><head><title>Groot ${number}</title></head><body><p>${noise}</p></body></html>`
  const four = [4, 5, 6, 7].map(last => `127.22.0.${last}`)
  return {
    honest,
    greedy: [
      await startTarpits(closing, greed.tarpits),
      await startOutlet(closing, 'big', ['127.22.0.2'], greed.big, big),
      await startOutlet(closing, 'bomb', ['127.22.0.3'], greed.bombs, bomb),
      await startOutlet(closing, 'endless', four, greed.endless / 4, (_number, ...given) =>
        begin(...given),
      ),
    ],
    close: async () => void (await Promise.all(closing.map(close => close()))),
  }
}

/** An outlet with a feed that names so many pages on each address. */
async function startOutlet(
  closing: Closing,
  name: string,
  addresses: string[],
  count: number,
  answer: (number: number, ...given: Parameters<Handler>) => unknown,
): Promise<object> {
  const sites = await Promise.all(addresses.map(address => startSite(address)))
  const links: string[] = []
  for (const site of sites) {
    closing.push(site.close)
    for (let number = 0; number < count; number += 1) {
      // Made when it is asked for: all of them at once would not fit into memory.
      site.on(`/nieuws/${number}`, (...given) => answer(number, ...given))
      links.push(`${site.origin}/nieuws/${number}`)
    }
  }
  sites[0]?.on('/feed.xml', rss(...links))
  return outletOf(`${name}.example`, [`${sites[0]?.origin}/feed.xml`])
}

/** A listener for each host, which never answers: a feed can name as many hosts as it likes. */
async function startTarpits(closing: Closing, count: number): Promise<object> {
  const links: string[] = []
  for (let at = 0; at < count; at += 1) {
    const address = `127.21.${1 + Math.floor(at / 200)}.${1 + (at % 200)}`
    const listener = createServer(socket => socket.on('error', () => {}).resume())
    links.push(`http://${address}:${await listen(listener, address)}/nieuws/1`)
    closing.push(() => listener.close())
  }
  const site = await startSite('127.22.0.1')
  closing.push(site.close)
  site.on('/feed.xml', rss(...links))
  return outletOf('tarpit.example', [`${site.origin}/feed.xml`])
}

/** Structured data that names a list of authors thousands of times, in 160 kB. */
function bomb(number: number): string {
  const references = Array.from({ length: 50 }, () =>
    Array.from({ length: 50 }, () => Array.from({ length: 5 }, () => ({ '@id': '#a' }))),
  )
  const authors = Array.from(
    { length: 50 },
    (_, at) => `Jan Smit de ${at}e van Amsterdam, journalist`,
  )
  const data = [
    { '@type': 'NewsArticle', headline: `Bericht ${number}`, author: references },
    { '@id': '#a', name: authors },
  ]
  const script = `<script type="application/ld+json">${JSON.stringify({ '@graph': data })}</script>`
  return articlePage(`Bericht ${number}`, `bericht ${number}`).replace(
    '</head>',
    `${script}</head>`,
  )
}
