import t, { type Test } from 'tap'
import { syncOutlets } from '#scripts/outlets/sync'
import { outletOf, rss } from '#test/crawler/crawl'
import { begin, startSite } from '#test/crawler/site'
import { type Member, until } from '#test/fleet'
import { articlePage, storePages } from '#test/normaliser/stored'
import { createWorld } from '#test/semantic/world'
import { HANGS } from './poisoned-thread.ts'

const HOOK = new URL('./poisoned-thread.ts', import.meta.url).href

/** An outlet whose pages begin to come and never end. */
const endless = await startSite()
t.teardown(endless.close)
const pages = [1, 2, 3].map(number => `/nieuws/${number}`)
for (const path of pages) endless.on(path, begin)
endless.on('/feed.xml', rss(...pages.map(path => endless.origin + path)))
const pagesAsked = () => pages.flatMap(endless.to).length

// Services that are told to end, with work in hand that does not end.

const world = await createWorld(t)
const { pool, fleet, model } = world
const { key } = await fleet.makeKey('end')
await syncOutlets(pool, [outletOf('e.example', [`${endless.origin}/feed.xml`])])
await storePages(
  { query: async (sql, values) => (await pool.query(sql, values)).rows },
  [1, 2].map(n => ({
    path: `/n/${n}`,
    html: articlePage(`Bericht ${n}`, HANGS),
    title: `Bericht ${n}`,
  })),
)
await world.index(Array.from({ length: 20 }, () => ({})))
model.mood = 'hangs'

/** Starts all services, and waits until each has something in hand that will not end by itself. */
async function startUnderLoad(): Promise<Member[]> {
  await pool.query(
    "update pages set next_try_at = now() - interval '3 s', attempts = 0 where state = 'stored'",
  )
  await pool.query("update pages set next_try_at = now() where state = 'waiting'")
  await pool.query('update feeds set next_poll_at = now()')
  const asked = { pages: pagesAsked(), texts: model.requests.length }
  const api = await fleet.start('api', { SEARCH_TIMEOUT: '5s' })
  const crawler = await fleet.start('crawler', {
    CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
    POLL_INTERVAL_MIN: '500ms',
  })
  const normaliser = await fleet.start('normaliser', { NODE_OPTIONS: `--import ${HOOK}` })
  const embedder = await fleet.start('embedder')
  await until(
    () => pagesAsked() > asked.pages && model.requests.length > asked.texts,
    60_000,
    fleet.logs,
  )
  await until(
    async () =>
      (await pool.query("select from pages where state = 'stored' and next_try_at > now()"))
        .rowCount === 2,
    60_000,
    normaliser.log,
  )
  return [crawler, normaliser, embedder, api]
}

/**
 * A search that the model never answers. Resolves with the status; 0: the connection was closed.
 */
const searchInHand = (): Promise<number> =>
  fetch(`${fleet.base()}/v1/articles?q=water&search=semantic`, {
    headers: { authorization: `Bearer ${key}` },
  })
    .then(({ status }) => status)
    .catch(() => 0)

function term(members: Member[]): void {
  for (const { process } of members) process.kill('SIGTERM')
}

/** Tells all to end. Each does so by itself, in so many ms. */
async function checkEnds(t: Test, members: Member[], limit: number): Promise<void> {
  const began = performance.now()
  term(members)
  const ended = members.map(async ({ service, exited, process }) => {
    const code = (await exited) ?? process.signalCode
    const ms = Math.round(performance.now() - began)
    t.ok(code === 0 || code === 143 || code === 'SIGTERM', `the ${service} ends with ${code}`)
    t.ok(ms < limit, `the ${service} ends in ${ms} ms`)
  })
  await Promise.all(ended)
}

t.test(
  'services end within 20 s, answer the request in hand, and give back their work',
  async t => {
    const members = await startUnderLoad()
    const inHand = searchInHand()
    await new Promise(resolve => setTimeout(resolve, 300))
    await checkEnds(t, members, 20_000)
    t.ok([200, 503].includes(await inHand), `the request in hand is answered: ${await inHand}`)
    const { rows } = await pool.query(
      `select (select count(*)::int from pages where state = 'stored' and next_try_at > now()) as pages,
            (select count(*)::int from pages where state <> 'stored' and state <> 'waiting') as ended,
            (select count(*)::int from hosts where leased_until > now() or holder is not null or permit is not null) as hosts,
            (select max(attempts)::int from pages where state = 'waiting') as tries,
            (select count(*)::int from embeddings where claimed_until > now() + interval '31 s') as articles`,
    )
    t.same(
      rows,
      [{ pages: 0, ended: 0, hosts: 0, tries: 0, articles: 0 }],
      'what was in hand is given back',
    )
  },
)

t.test('services that are told to end twice end at once', async t => {
  const members = await startUnderLoad()
  void searchInHand()
  await new Promise(resolve => setTimeout(resolve, 300))
  term(members)
  await new Promise(resolve => setTimeout(resolve, 700))
  await checkEnds(t, members, 5_000)
})
