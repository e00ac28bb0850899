import { gzipSync } from 'node:zlib'
import t from 'tap'
import { outletOf, rss } from '#test/crawler/crawl'
import {
  cutShort,
  drip,
  type Handler,
  pour,
  redirect,
  reply,
  type Site,
  startSite,
} from '#test/crawler/site'
import { startFleet, until } from '#test/fleet'
import { jsonLines } from '#test/script'

// One crawler and one normaliser among all of these hosts at the same time.

/** A host, most of them hostile or broken. */
interface HostileHost {
  /** The answer of `/feed.xml`. */
  feed: (site: Site) => string | Handler
  /** The answers of the other paths. */
  answers?: Record<string, string | Handler>
  /** Subjects of the articles that it really has. */
  articles?: string[]
}

const SENTENCE =
  'De brug over de Schelde blijft tot vrijdag dicht voor alle vrachtwagens, meldt de gemeente'
const titleOf = (about: string) => `Nieuws over ${about}`

/** The page of an article about a subject of its own. */
function article(about: string) {
  const text = Array.from(
    { length: 5 },
    (_, at) => `<p>${SENTENCE}, en dat geldt ook ${at} keer voor ${about}.</p>`,
  )
  return `<!doctype html><html lang="nl"><head><title>${titleOf(about)}</title></head><body><article><h1>${titleOf(about)}</h1>${text.join('')}</article></body></html>`
}

/** A feed with one entry for each path. */
const feedOf = (subjects: Record<string, string>) => (site: Site) =>
  rss(
    ...Object.entries(subjects).map(([path, about]) => ({
      link: site.origin + path,
      title: titleOf(about),
      description: `<p>${SENTENCE}, zegt de krant over ${about}.</p>`,
    })),
  )

/** 200 MB of zeros in 200 kB. */
const zeros = gzipSync(Buffer.alloc(200_000_000))
const bomb = reply(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }, zeros)

const HOSTS: Record<string, HostileHost> = {
  good: {
    feed: feedOf({ '/1': 'huis 1', '/2': 'huis 2', '/3': 'huis 3' }),
    answers: { '/1': article('huis 1'), '/2': article('huis 2'), '/3': article('huis 3') },
    articles: ['huis 1', 'huis 2', 'huis 3'],
  },
  loris: { feed: feedOf({ '/a': 'traagheid' }), answers: { '/a': drip } },
  'loris-robots': { feed: feedOf({ '/a': 'stilte' }), answers: { '/robots.txt': drip } },
  flood: { feed: () => pour('<item><title>nog een</title></item>'.repeat(2_000)) },
  bomb: { feed: () => bomb },
  bombs: {
    feed: feedOf({ '/a': 'bommen', '/b': 'vrede' }),
    answers: { '/a': bomb, '/b': article('vrede') },
    articles: ['vrede'],
  },
  cut: {
    feed: feedOf({ '/a': 'een half stuk' }),
    answers: { '/a': cutShort({ 'content-type': 'text/html' }, article('een half stuk')) },
  },
  away: {
    feed: feedOf({
      '/circle': 'circle',
      '/metadata': 'metadata',
      '/loopback6': 'loopback6',
      '/file': 'file',
    }),
    answers: {
      '/circle': redirect('/circle2'),
      '/circle2': redirect('/circle'),
      '/metadata': redirect('http://169.254.169.254/latest/meta-data/'),
      '/loopback6': redirect('http://[::1]/'),
      '/file': redirect('file:///etc/passwd'),
    },
  },
  many: {
    feed: ({ origin }) =>
      rss(
        ...Array.from({ length: 50_000 }, (_, n) => ({
          link: `${origin}/p/${n}`,
          title: `Bericht ${n}`,
        })),
      ),
    answers: { '/robots.txt': 'User-agent: *\nDisallow: /p/' },
  },
}

const sites = new Map<string, Site>()
for (const [at, [name, { feed, answers = {} }]] of Object.entries(HOSTS).entries()) {
  const site = await startSite(`127.0.0.${at + 1}`)
  site.on('/feed.xml', feed(site))
  for (const [path, answer] of Object.entries(answers)) site.on(path, answer)
  t.teardown(site.close)
  sites.set(name, site)
}
const { database, fleet } = await startFleet(t, {
  CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
  CRAWL_HOST_DELAY: '10ms',
  CRAWL_RETRY_MIN: '1s',
  CRAWL_TIMEOUT: '4s',
})
await fleet.sync({
  outlets: [...sites].map(([name, { origin }]) =>
    outletOf(`${name}.example`, [`${origin}/feed.xml`]),
  ),
})
await fleet.start('crawler')
await fleet.start('normaliser')

const expected = Object.values(HOSTS).flatMap(({ articles = [] }) => articles).length
const asked = () => sites.get('loris-robots')!.to('/robots.txt').length > 0
const untried = "pages where state = 'stored' or (state = 'waiting' and attempts = 0)"
const isTried = async () => asked() && (await database.count(untried)) === 0
await until(
  async () => (await database.count('articles')) >= expected && (await isTried()),
  200_000,
  fleet.logs,
)
const all: { title: string; outlet: { domain: string } }[] = jsonLines(await fleet.script('export'))

for (const [name, { articles = [] }] of Object.entries(HOSTS)) {
  t.test(`${name}: each of its articles is indexed once, and nothing else`, async t => {
    const titles = all
      .filter(({ outlet }) => outlet.domain === `${name}.example`)
      .map(({ title }) => title)
    t.same(titles.sort(), articles.map(titleOf))
  })
}

t.test('nothing is fetched while robots.txt does not answer, nor what it forbids', async t => {
  t.same(sites.get('loris-robots')!.to('/feed.xml'), [])
  t.equal(sites.get('many')!.seen.filter(({ path }) => path.startsWith('/p/')).length, 0)
})

t.test('no host ends a process', async t => {
  for (const { process: child } of fleet.members) t.equal(child.exitCode, null)
})
