import t from 'tap'
import { addressKey } from '#shared/articles/address'
import { readRow } from '#shared/postgres/pool'
import { outletOf, rss } from '#test/crawler/crawl'
import { startSite } from '#test/crawler/site'
import { createTestPool } from '#test/database'
import { createFleet, QUICK_CRAWL, until } from '#test/fleet'
import { runScript } from '#test/script'

/*
 * Nothing of what an article said, or of its addresses, is left in any table or catalogue of
 * Postgres. Whoever adds a table need not think of this test: it reads all of them.
 */

const { database, pool } = await createTestPool(t)
const env = { ...QUICK_CRAWL, DATABASE_URL: database.url, POLL_INTERVAL_MAX: '1h', REDIS_URL: '' }
const fleet = createFleet(env, t)
const site = await startSite()
t.teardown(() => site.close())

const MARKED = 'xanthippe'
/** Of what an article says, each with a word of its own, so that a leak names itself. */
const page = (name: string) =>
  `<!doctype html><html lang="nl"><head><title>De brug van ${name} gaat open</title>
   <link rel="canonical" href="/eigen/${name}"><meta name="author" content="Anna ${name}"></head>
   <body><article><h1>De brug van ${name} gaat open</h1><p class="byline">Door Anna ${name}</p>${`<p>De gemeente opent de brug van ${name} volgende week voor alle schippers en fietsers.</p>`.repeat(6)}</article></body></html>`
const names = [...Array.from({ length: 11 }, (_, at) => `gewoon${at}`), MARKED]
for (const name of names) site.on(`/a/${name}`, page(name))
const feed = names.map(name => ({
  link: `${site.origin}/a/${name}`,
  title: `De brug van ${name}`,
  description: `Over ${name}`,
}))
site.on('/feed.xml', rss(...feed))

/** Everything that the marked article would be found by. */
const words = async () => [MARKED, Buffer.from(MARKED).toString('hex')]

/** The tables and statistics that have a word, in hex also where bytes are stored. */
async function places(): Promise<string[]> {
  const tables = await database.query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
  )
  const found: string[] = []
  for (const word of await words()) {
    for (const { name } of tables)
      if ((await database.count(`${name} r where position('${word}' in lower(r::text)) > 0`)) > 0)
        found.push(String(name))
    const sampled = await database.query(
      `select concat('statistics of ', tablename, '.', attname) as name from pg_stats s
        where position('${word}' in lower(s::text)) > 0
       union all select 'statistics of ' || statistics_name from pg_stats_ext s where position('${word}' in lower(s::text)) > 0`,
    )
    found.push(...sampled.map(({ name }) => String(name)))
  }
  return [...new Set(found)].sort()
}

await fleet.start('crawler')
await fleet.start('normaliser')
await fleet.sync({ outlets: [outletOf('krant.example', [`${site.origin}/feed.xml`])] })
await until(async () => (await database.count('articles')) === names.length, 120_000, fleet.logs)
await fleet.stop()
await pool.query(
  'insert into unfetched_addresses select outlet_no, key, now() from (select outlet_no, crawl_key from pages union all select outlet_no, $1 from outlets) p (outlet_no, key)',
  [addressKey(`${site.origin}/eigen/${MARKED}`)],
)
await runScript('reindex', [], env)
const { id } = (await readRow<{ id: string }>(
  pool,
  'select id from articles join article_texts using (seq) where title like $1',
  [`%${MARKED}%`],
))!
const articles = (...given: string[]) => runScript('articles', given, env)
const proof = async () => {
  const { out } = await articles('proof', id, '--json')
  return JSON.parse(out)
}
const verify = async () => JSON.parse((await runScript('verify', ['--json'], env)).out)
const SOUND = { ok: true, differences: [] }

t.test('no table and no statistics have what an article said, once it is taken out', async t => {
  await database.query('analyze')
  const before = await places()
  for (const name of ['public.article_texts', 'public.pages', 'statistics of pages.crawl_key'])
    t.ok(before.includes(name), `${name} of ${before}`)
  const removed = await articles('remove', id, '--reason', 'a court')
  t.match(removed, { code: 0 }, removed.err)
  t.same(await places(), [])
  t.match(await proof(), { done: true })
  t.match(await verify(), SOUND)
})

t.test('addresses and samples that come back are named, and a clearing ends them', async t => {
  const address = addressKey(`${site.origin}/eigen/${MARKED}`)
  await pool.query('insert into unfetched_addresses select outlet_no, $1, now() from outlets', [
    address,
  ])
  await pool.query(
    "insert into pages (outlet_no, url, crawl_key, host) select outlet_no, 'https://x', $1, 'x' from outlets",
    [address],
  )
  await pool.query(
    `with b as (insert into back_fills (outlet_no, from_day, to_day, newest_first, state)
                select outlet_no, now(), now(), false, 'done' from outlets returning outlet_no)
     insert into back_addresses (outlet_no, crawl_key, place) select outlet_no, $1, 0 from b`,
    [address],
  )
  await pool.query("insert into article_addresses values ('krant.example', $1, 'x')", [address])
  await pool.query('analyze article_addresses')
  await pool.query("delete from article_addresses where id = 'x'")
  await pool.query(
    'alter table article_texts alter title set statistics 10; analyze article_texts; alter table article_texts alter title set statistics 0',
  )
  const { differences } = await verify()
  t.match(differences, [
    {
      kind: 'removed',
      examples: [
        /^page \d+ is of article/,
        /sitemap of krant\.example named is of article/,
        /sitemap of krant\.example named is of article/,
        /samples of article_addresses\.address with an address/,
        /samples of article_texts\.title/,
      ],
    },
  ])
  t.match(await proof(), { done: false, found: { 'samples of the planner': 'STILL THERE: 2' } })
  t.match(await articles('clear'), { code: 0 })
  t.same(await places(), [])
  t.match(await verify(), SOUND)
})

t.test('the samples of a table go with its last row', async t => {
  t.match(await articles('remove', '--outlet', 'krant.example', '--reason', 'x', '--yes'), {
    code: 0,
  })
  t.equal(await database.count('article_addresses'), 0)
  const sampled =
    "pg_stats where tablename in ('article_addresses', 'pages') and schemaname = 'public'"
  t.equal(await database.count(sampled), 0)
})
