import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { syncOutlets } from '../../scripts/outlets/sync.ts'
import { listen, type Member, type ServiceName, until } from '../fleet.ts'
import { articlePage, storePages } from '../normaliser/stored.ts'
import { createWorld, type World } from '../semantic/world.ts'
import { HANGS } from './poisoned-thread.ts'

t.setTimeout(280_000)

const HOOK = new URL('./poisoned-thread.ts', import.meta.url).href

/** An outlet whose pages begin to come and never end. */
async function startEndless(): Promise<{ feed: string; asked(): number; stop(): void }> {
  let asked = 0
  const server = createServer((request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end()
    if (request.url !== '/rss') {
      asked += 1
      return void response.writeHead(200, { 'content-type': 'text/html' }).write('<p>Het nieuws van vandaag')
    }
    const items = [1, 2, 3].map(n => `<item><title>Bericht ${n}</title><link>${origin}/nieuws/${n}</link></item>`)
    response
      .writeHead(200, { 'content-type': 'application/rss+xml' })
      .end(`<rss version="2.0"><channel><title>n</title>${items.join('')}</channel></rss>`)
  })
  const origin = `http://127.0.0.1:${await listen(server)}`
  return {
    feed: `${origin}/rss`,
    asked: () => asked,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** All four services, each with something in hand that will not end by itself. */
async function underLoad(world: World, endless: Awaited<ReturnType<typeof startEndless>>): Promise<Member[]> {
  const { fleet, pool, model } = world
  const asked = { pages: endless.asked(), texts: model.requests.length }
  const api = await fleet.start('api', { SEARCH_TIMEOUT: '5s' })
  const crawler = await fleet.start('crawler', { CRAWL_ALLOW_PRIVATE: '127.0.0.0/8', POLL_INTERVAL_MIN: '500ms' })
  const normaliser = await fleet.start('normaliser', { NODE_OPTIONS: `--import ${HOOK}` })
  const embedder = await fleet.start('embedder')
  await until(
    () => endless.asked() > asked.pages && model.requests.length > asked.texts,
    60_000,
    () => `${crawler.log()}\n${embedder.log()}`,
  )
  await until(
    async () => (await pool.query("select from pages where state = 'stored' and next_try_at > now()")).rowCount === 2,
    60_000,
    normaliser.log,
  )
  return [crawler, normaliser, embedder, api]
}

async function ends(
  members: Member[],
  signal: () => void,
): Promise<Record<string, { code: number | null; ms: number }>> {
  const began = performance.now()
  signal()
  const all = members.map(async ({ service, exited, process }) => {
    const code = await exited
    return [
      service,
      { code: code ?? (process.signalCode === 'SIGTERM' ? 143 : -1), ms: Math.round(performance.now() - began) },
    ]
  })
  return Object.fromEntries(await Promise.all(all))
}

// Services that are told to end, with work in hand that does not end.

const endless = await startEndless()
t.teardown(endless.stop)
const world = await createWorld(t)
const { pool, fleet, model } = world
const { key } = await fleet.makeKey('end')
await syncOutlets(pool, [
  {
    ...{ name: 'E', domain: 'e.example', country: 'NL', languages: ['nl'], timeZone: 'UTC', sitemaps: [] },
    feeds: [endless.feed],
    hosts: [new URL(endless.feed).hostname],
  },
])
await storePages(
  { query: async (sql, values) => (await pool.query(sql, values)).rows },
  [1, 2].map(n => ({ path: `/n/${n}`, html: articlePage(`Bericht ${n}`, HANGS), title: `Bericht ${n}` })),
)
await world.index(Array.from({ length: 20 }, () => ({})))
model.mood = 'hangs'

/** Starts all services and waits until each has work in hand. */
async function startUnderLoad(): Promise<Member[]> {
  await pool.query("update pages set next_try_at = now() - interval '3 s', attempts = 0 where state = 'stored'")
  await pool.query("update pages set next_try_at = now() where state = 'waiting'")
  await pool.query('update feeds set next_poll_at = now()')
  return underLoad(world, endless)
}

/**
 * A search that the model never answers. Resolves with the status; 0: the connection was closed.
 */
const searchInHand = (): Promise<number> =>
  fetch(`${fleet.base()}/v1/articles?q=water&search=semantic`, { headers: { authorization: `Bearer ${key}` } })
    .then(({ status }) => status)
    .catch(() => 0)

const term = (members: Member[]) => () => {
  for (const { process } of members) process.kill('SIGTERM')
}

function checkEnds(t: Test, ended: Record<string, { code: number | null; ms: number }>, limit: number): void {
  t.comment(JSON.stringify(ended))
  for (const [service, { code, ms }] of Object.entries(ended)) {
    t.ok(code === 0 || code === 143, `the ${service} ends with ${code}`)
    t.ok(ms < limit, `the ${service} ends in ${ms} ms`)
  }
}

t.test('services end within 20 s, answer the request in hand, and give back their work', async t => {
  const members = await startUnderLoad()
  const inHand = searchInHand()
  await new Promise(resolve => setTimeout(resolve, 300))
  checkEnds(t, await ends(members, term(members)), 20_000)
  t.ok([200, 503].includes(await inHand), `the request in hand is answered: ${await inHand}`)
  const { rows } = await pool.query(
    `select (select count(*)::int from pages where state = 'stored' and next_try_at > now()) as pages,
            (select count(*)::int from pages where state <> 'stored' and state <> 'waiting') as ended,
            (select count(*)::int from hosts where leased_until > now() or holder is not null or permit is not null) as hosts,
            (select max(attempts)::int from pages where state = 'waiting') as tries,
            (select count(*)::int from embeddings where claimed_until > now() + interval '31 s') as articles`,
  )
  t.same(rows, [{ pages: 0, ended: 0, hosts: 0, tries: 0, articles: 0 }], 'what was in hand is given back')
})

t.test('services that are told to end twice end at once', async t => {
  const members = await startUnderLoad()
  void searchInHand()
  await new Promise(resolve => setTimeout(resolve, 300))
  term(members)()
  await new Promise(resolve => setTimeout(resolve, 700))
  checkEnds(t, await ends(members, term(members)), 5_000)
})

t.test('all services were tried', async t => {
  const services: ServiceName[] = ['crawler', 'normaliser', 'embedder', 'api']
  t.same([...new Set(fleet.members.map(({ service }) => service))].sort(), services.sort())
})
