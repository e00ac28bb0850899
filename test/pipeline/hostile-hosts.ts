import { gzipSync } from 'node:zlib'
import { rss } from '../crawler/crawl.ts'
import type { Handler, Site } from '../crawler/site.ts'

/** A host and the number of articles that it really has. Most hosts are hostile, or broken. */
export interface HostileHost {
  domain: string
  /** The answer of `/feed.xml`. */
  feed: (site: Site) => string | Handler
  /** Paths of sitemaps, in place of the feed. */
  sitemaps?: string[]
  /** The answers of the other paths. */
  answers?: (site: Site) => Record<string, string | Handler>
  articles: number
}

const SENTENCE = 'De brug over de Schelde blijft tot vrijdag dicht voor alle vrachtwagens, meldt de gemeente'

/** The page of an article about a subject of its own. */
function article(about: string, more = '') {
  const text = Array.from({ length: 5 }, (_, at) => `<p>${SENTENCE}, en dat geldt ook ${at} keer voor ${about}.</p>`)
  return `<!doctype html><html lang="nl"><head><title>Nieuws over ${about}</title>${more}</head><body><article><h1>Nieuws over ${about}</h1>${text.join('')}</article></body></html>`
}

/** The entry of that article in a feed. */
const item = (link: string, about: string, more: object = {}) => ({
  link,
  title: `Nieuws over ${about}`,
  description: `<p>${SENTENCE}, zegt de krant over ${about}.</p>`,
  ...more,
})

/** A feed with one entry for each path. */
const feedOf = (subjects: Record<string, string>) => (site: Site) =>
  rss(...Object.entries(subjects).map(([path, about]) => item(site.origin + path, about)))

const page =
  (html: string | Buffer, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(html)

const status =
  (code: number, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    response.writeHead(code, headers).end()

const redirect = (location: string) => status(302, { location })

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

/** Answers 503 once, with a date to come back at. */
function busyOnce(html: string): Handler {
  let asked = 0
  return (request, response) => {
    asked += 1
    if (asked > 1) return page(html)(request, response)
    response.writeHead(503, { 'retry-after': new Date(Date.now() + 3_000).toUTCString() }).end()
  }
}

const gzipped =
  (text: string): Handler =>
  (_request, response) =>
    response.end(gzipSync(text))

/** 200 MB of zeros in 200 kB. */
const bomb = page(gzipSync(Buffer.alloc(200_000_000)), { 'content-encoding': 'gzip' })

const DOORS = [401, 403, 451, 404, 410]

/** Two articles with one permanent id, and each with a second address. */
const SAME: Pick<HostileHost, 'feed' | 'answers'> = {
  feed: ({ origin }) =>
    rss(
      ...[1, 2].map(n => item(`${origin}/nieuws/bericht-${n}`, `dorp ${n}`, { guid: 'een-voor-allen' })),
      item(`${origin}/amp/nieuws/bericht-1`, 'dorp 1'),
      item(`${origin}/nieuws/bericht-2?utm_source=rss`, 'dorp 2', { guid: 'twee' }),
    ),
  answers: ({ origin }) =>
    Object.fromEntries(
      [1, 2].flatMap(n => {
        const html = article(`dorp ${n}`, `<link rel="canonical" href="${origin}/nieuws/bericht-${n}">`)
        return [`/nieuws/bericht-${n}`, `/amp/nieuws/bericht-${n}`].map(path => [path, html])
      }),
    ),
}

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
    domain: 'letters.example',
    feed: feedOf({ '/utf8': 'privé utf8', '/cp1252': 'privé cp1252', '/utf16': 'privé utf16' }),
    answers: () => ({
      '/utf8': page(article('privé utf8'), { 'content-type': 'text/html; charset=iso-8859-1' }),
      '/cp1252': page(Buffer.from(article('privé cp1252'), 'latin1')),
      '/utf16': page(Buffer.from(`\ufeff${article('privé utf16')}`, 'utf16le')),
    }),
    articles: 3,
  },
  {
    domain: 'many.example',
    feed: ({ origin }) =>
      rss(...Array.from({ length: 50_000 }, (_, n) => ({ link: `${origin}/p/${n}`, title: `Bericht ${n}` }))),
    answers: () => ({ '/robots.txt': 'User-agent: *\nDisallow: /p/' }),
    articles: 0,
  },
  { domain: 'same.example', ...SAME, articles: 2 },
  {
    domain: 'doors.example',
    feed: feedOf(Object.fromEntries(DOORS.map(code => [`/${code}`, `deur ${code}`]))),
    answers: () => Object.fromEntries(DOORS.map(code => [`/${code}`, status(code)])),
    articles: 3,
  },
  {
    domain: 'down.example',
    feed: feedOf({ '/a': 'rust' }),
    answers: () => ({ '/robots.txt': status(503) }),
    articles: 0,
  },
  {
    domain: 'later.example',
    feed: feedOf({ '/a': 'later' }),
    answers: () => ({ '/a': busyOnce(article('later')) }),
    articles: 1,
  },
  {
    domain: 'wall.example',
    feed: feedOf({ '/a': 'de muur' }),
    answers: () => ({
      '/a': redirect('/cookie-consent?terug=/a'),
      '/cookie-consent': article('koekjes en toestemming'),
    }),
    articles: 1,
  },
  {
    domain: 'map.example',
    feed: () => '',
    sitemaps: ['/index.xml.gz'],
    answers: ({ origin }) => ({
      '/index.xml.gz': gzipped(`<sitemapindex><sitemap><loc>${origin}/news.xml.gz</loc></sitemap></sitemapindex>`),
      '/news.xml.gz': gzipped(`<urlset><url><loc>${origin}/a</loc></url></urlset>`),
      '/a': article('de kaart'),
    }),
    articles: 1,
  },
]
