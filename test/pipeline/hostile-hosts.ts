import { gzipSync } from 'node:zlib'
import { rss } from '../crawler/crawl.ts'
import type { Handler, Site } from '../crawler/site.ts'

/** A host and the number of articles that it really has. Most hosts are hostile, or broken. */
export interface HostileHost {
  domain: string
  /** The answer of `/feed.xml`. */
  feed: (site: Site) => string | Handler
  /** The answers of the other paths. */
  answers?: (site: Site) => Record<string, string | Handler>
  articles: number
}

const SENTENCE = 'De brug over de Schelde blijft tot vrijdag dicht voor alle vrachtwagens, meldt de gemeente'

/** The page of an article about a subject of its own. */
function article(about: string) {
  const text = Array.from({ length: 5 }, (_, at) => `<p>${SENTENCE}, en dat geldt ook ${at} keer voor ${about}.</p>`)
  return `<!doctype html><html lang="nl"><head><title>Nieuws over ${about}</title></head><body><article><h1>Nieuws over ${about}</h1>${text.join('')}</article></body></html>`
}

/** The entry of that article in a feed. */
const item = (link: string, about: string) => ({
  link,
  title: `Nieuws over ${about}`,
  description: `<p>${SENTENCE}, zegt de krant over ${about}.</p>`,
})

/** A feed with one entry for each path. */
const feedOf = (subjects: Record<string, string>) => (site: Site) =>
  rss(...Object.entries(subjects).map(([path, about]) => item(site.origin + path, about)))

const page =
  (html: string | Buffer, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(html)

const redirect =
  (location: string): Handler =>
  (_request, response) =>
    response.writeHead(302, { location }).end()

/** Sends one byte now and then, for ever. */
const drip: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html' })
  const timer = setInterval(() => response.write('x'), 200)
  response.on('close', () => clearInterval(timer))
}

/** Sends as much as the line takes, for ever. */
const flood: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/rss+xml' })
  const piece = Buffer.from('<item><title>nog een</title></item>'.repeat(2_000))
  const pour = () => {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', pour)
  pour()
}

/** Ends the connection in the middle of an article. */
const cutOff: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html' })
  response.write(article('een half stuk').slice(0, 700), () => response.destroy())
}

/** 200 MB of zeros in 200 kB. */
const bomb = page(gzipSync(Buffer.alloc(200_000_000)), { 'content-encoding': 'gzip' })

export const HOSTS: HostileHost[] = [
  {
    domain: 'good.example',
    feed: feedOf({ '/1': 'huis 1', '/2': 'huis 2', '/3': 'huis 3' }),
    answers: () => ({ '/1': article('huis 1'), '/2': article('huis 2'), '/3': article('huis 3') }),
    articles: 3,
  },
  { domain: 'loris.example', feed: feedOf({ '/a': 'traagheid' }), answers: () => ({ '/a': drip }), articles: 0 },
  {
    domain: 'loris-robots.example',
    feed: feedOf({ '/a': 'stilte' }),
    answers: () => ({ '/robots.txt': drip }),
    articles: 0,
  },
  { domain: 'flood.example', feed: () => flood, articles: 0 },
  { domain: 'bomb.example', feed: () => bomb, articles: 0 },
  {
    domain: 'bombs.example',
    feed: feedOf({ '/a': 'bommen', '/b': 'vrede' }),
    answers: () => ({ '/a': bomb, '/b': article('vrede') }),
    articles: 1,
  },
  { domain: 'cut.example', feed: feedOf({ '/a': 'een half stuk' }), answers: () => ({ '/a': cutOff }), articles: 0 },
  {
    domain: 'away.example',
    feed: feedOf({ '/circle': 'circle', '/metadata': 'metadata', '/loopback6': 'loopback6', '/file': 'file' }),
    answers: () => ({
      '/circle': redirect('/circle2'),
      '/circle2': redirect('/circle'),
      '/metadata': redirect('http://169.254.169.254/latest/meta-data/'),
      '/loopback6': redirect('http://[::1]/'),
      '/file': redirect('file:///etc/passwd'),
    }),
    articles: 0,
  },
  {
    domain: 'many.example',
    feed: ({ origin }) =>
      rss(...Array.from({ length: 50_000 }, (_, n) => ({ link: `${origin}/p/${n}`, title: `Bericht ${n}` }))),
    answers: () => ({ '/robots.txt': 'User-agent: *\nDisallow: /p/' }),
    articles: 0,
  },
]
