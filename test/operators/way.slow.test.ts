import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createKey } from '#shared/plans/keys'
import { ask } from '#test/contract/api'
import { rss } from '#test/crawler/crawl'
import { startSite } from '#test/crawler/site'
import { freePort, type ServiceName, until } from '#test/fleet'
import { articlePage } from '#test/normaliser/stored'
import { createWorld } from '#test/semantic/world'

const site = await startSite()
t.teardown(() => site.close())
const world = await createWorld(t, {
  CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
  CRAWL_HOST_DELAY: '20ms',
  NORMALISE_TIMEOUT: '2m',
})
const ports: Partial<Record<ServiceName, number>> = {}
const start = async (service: ServiceName) => {
  ports[service] = await freePort()
  return world.fleet.start(service, { METRICS_PORT: String(ports[service]) })
}
const members = [
  await start('api'),
  await start('crawler'),
  await start('normaliser'),
  await start('embedder'),
]
/** Every line of all logs. A line that is not JSON throws. */
const lines = (): Record<string, unknown>[] =>
  members.flatMap(member => member.log().split('\n').filter(Boolean)).map(line => JSON.parse(line))

const hourAgo = new Date(Date.now() - 3_600_000)
site.on('/a', articlePage('Een brug over de Maas', 'de brug over de Maas'))
site.on('/b', articlePage('Een trein naar Keulen', 'de trein naar Keulen'))
site.on(
  '/feed.xml',
  rss(
    { link: `${site.origin}/a`, title: 'Een brug over de Maas', pubDate: hourAgo.toUTCString() },
    { link: `${site.origin}/b`, title: 'Een trein naar Keulen', pubDate: hourAgo.toUTCString() },
    { link: `${site.origin}/gone`, title: 'Weg' },
  ),
)
const file = join(t.testdir(), 'outlets.json')
const outlet = {
  name: 'X',
  domain: 'x.example',
  country: 'NL',
  languages: ['nl'],
  timeZone: 'Europe/Amsterdam',
}
await writeFile(
  file,
  JSON.stringify({
    outlets: [{ ...outlet, hosts: [site.host], feeds: [`${site.origin}/feed.xml`] }],
  }),
)
await world.fleet.script('outlets', 'sync', file)
await world.embedded(2, 120_000)

t.test('export writes what a search by meaning finds, the nearest first', async t => {
  const printed = await world.fleet.script(
    'export',
    '--search',
    'semantic',
    '--q',
    'een trein naar Keulen',
  )
  const titles = printed
    .trim()
    .split('\n')
    .map(line => JSON.parse(line).title)
  t.same(titles.toSorted(), ['Een brug over de Maas', 'Een trein naar Keulen'])
})

t.test(
  'one number finds an article in the logs of every service, with the jobs that had it in hand',
  async t => {
    const { rows } = await world.pool.query<{ page: string; id: string }>(
      'select e.page_no::text as page, a.id from embeddings e join articles a using (seq) order by 1',
    )
    t.equal(rows.length, 2)
    for (const { page, id } of rows) {
      await until(() => lines().some(line => line.page === page && line.msg === 'embedded'), 60_000)
      const way = lines()
        .filter(line => line.page === page)
        .sort((a, b) => (String(a.time) < String(b.time) ? -1 : 1))
      t.strictSame(
        way.map(({ service, msg }) => [service, msg]),
        [
          ['crawler', 'fetched'],
          ['normaliser', 'normalised'],
          ['embedder', 'embedded'],
        ],
      )
      t.match(way, [
        { job: /^visit-/, became: 'stored' },
        { job: `normalise-${page}`, outcome: 'indexed', article: id },
        { job: /^embed-/, article: id },
      ])
    }
  },
)

t.test('a request’s id stands on its line, and no key anywhere', async t => {
  const plan = {
    countries: ['NL' as const],
    history: { kind: 'fixed' as const, at: new Date('2020-01-01') },
  }
  const { secret } = await createKey(world.pool, 'test', { ...plan, rate: 60, quota: null })
  const headers = { 'X-Request-Id': 'trace-77' }
  t.equal(
    (await ask(`${world.fleet.base()}/v1/articles?q=brug`, secret, { headers })).json.total_results,
    1,
  )
  await until(() => lines().some(({ request }) => request === 'trace-77'), 60_000)
  const traced = lines().filter(({ request }) => request === 'trace-77')
  t.match(traced, [{ service: 'api', status: 200, search: 'keyword', path: '/v1/articles' }])
  t.notMatch(JSON.stringify(lines()), secret, 'no key in a log')
})

t.test('the figures count the same way', async t => {
  const figures = async (service: ServiceName) =>
    await (await fetch(`http://127.0.0.1:${ports[service]}/metrics`)).text()
  const value = (text: string, name: string) =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].map(match =>
      Number(match[1]),
    )
  await until(async () => /outcome="waiting: gone"/.test(await figures('crawler')), 60_000)
  const crawler = await figures('crawler')
  t.strictSame(value(crawler, 'perscope_pages_discovered_total'), [3])
  t.match(crawler, /perscope_pages_fetched_total\{outcome="stored",service="crawler"\} 2/)
  t.match(crawler, /perscope_pages_fetched_total\{outcome="waiting: gone",service="crawler"\} 1/)
  t.match(crawler, /perscope_outlets\{health="healthy",service="crawler"\} 1/)
  const normaliser = await figures('normaliser')
  t.match(
    normaliser,
    /perscope_articles_indexed_total\{country="NL",language="nl",service="normaliser"\} 2/,
  )
  const [lag = 0] = value(normaliser, 'perscope_index_lag_seconds_sum')
  t.ok(
    lag >= 2 * 3_600 && lag < 2 * 4_000,
    `two articles an hour after their publication: ${lag} s`,
  )
  const embedder = await figures('embedder')
  t.strictSame(value(embedder, 'perscope_articles_embedded_total'), [2])
  t.strictSame(value(embedder, 'perscope_vector_lag_seconds_count'), [2])
  const api = await figures('api')
  t.match(
    api,
    /perscope_api_request_seconds_count\{service="api",operation="articles",search="keyword",status="200"\} 1/,
  )
  // Fleet metrics are cached for ten seconds, and every worker shows the same.
  for (const service of ['crawler', 'normaliser', 'embedder'] as const) {
    await until(async () => value(await figures(service), 'perscope_vectors')[0] === 2, 25_000)
    t.strictSame(value(await figures(service), 'perscope_articles'), [2], service)
  }
})
