import t from 'tap'
import { removeOldCounts } from '#shared/outlets/origins'
import { createTestPool } from '#test/database'
import { fallsOf, readOutletOrigins } from './origin-shares.ts'

const { pool } = await createTestPool(t)
await pool.query(`
  insert into outlets (domain, name, country, languages, time_zone)
  select name || '.example', name, 'NL', '{nl}', 'Europe/Amsterdam' from unnest('{falls,rises,few,new}'::text[]) as o (name)`)

/** Adds the counts of `dates` for the day `ago` days ago. Every article also has a title. */
async function count(outlet: string, ago: number, dates: Record<string, number>): Promise<void> {
  const rows = [
    ...Object.entries(dates).map(([source, articles]) => ({ field: 'date', source, articles })),
    {
      field: 'title',
      source: 'json-ld',
      articles: Object.values(dates).reduce((sum, n) => sum + n, 0),
    },
  ]
  for (const { field, source, articles } of rows) {
    await pool.query(
      `insert into outlet_origins (outlet_no, day, field, source, articles)
       select outlet_no, (now() at time zone 'UTC')::date - $2::int, $3, $4, $5 from outlets where domain = $1 || '.example'`,
      [outlet, ago, field, source, articles],
    )
  }
}

t.test('the latest day with enough articles is compared with the week before', async t => {
  for (const ago of [2, 3, 4]) {
    await count('falls', ago, { 'json-ld': 30 })
    await count('rises', ago, { meta: 30 })
    await count('few', ago, { 'json-ld': 30 })
  }
  await count('falls', 1, { 'json-ld': 4, line: 16 })
  await count('falls', 0, { line: 1 }) // too few articles to prove a change
  await count('rises', 1, { 'json-ld': 20 })
  await count('few', 1, { line: 9 })
  await count('new', 1, { line: 20 })
  const origins = await readOutletOrigins(pool)
  t.strictSame(origins.get('falls.example')?.falls, [
    { field: 'date', source: 'json-ld', before: 1, now: 0.2 },
  ])
  for (const outlet of ['rises', 'few', 'new'])
    t.strictSame(origins.get(`${outlet}.example`)?.falls, [], outlet)
})

t.test('shares are those of eight days, the most frequent source first', async t => {
  await count('rises', 9, { address: 1_000 })
  const { shares = [] } = (await readOutletOrigins(pool)).get('rises.example') ?? {}
  t.strictSame(
    shares
      .filter(({ field }) => field === 'date')
      .map(({ source, share }) => [source, Math.round(share * 110)]),
    [
      ['meta', 90],
      ['json-ld', 20],
    ],
  )
})

t.test('counts are kept for thirty days', async t => {
  await count('new', 30, { meta: 1 })
  await count('new', 31, { meta: 1 })
  await removeOldCounts(pool)
  const { rows } = await pool.query(
    `select distinct (now() at time zone 'UTC')::date - day as ago from outlet_origins
      where day < (now() at time zone 'UTC')::date - 20`,
  )
  t.strictSame(rows, [{ ago: 30 }])
})

t.test(
  'articles without a text, a date or authors are a fall of the source that named them',
  async t => {
    const before = { text: { page: 50 }, authors: { meta: 40, none: 10 } }
    const now = { text: { page: 5, none: 15 }, authors: { none: 20 } }
    t.strictSame(fallsOf(before, now), [
      { field: 'authors', source: 'meta', before: 0.8, now: 0 },
      { field: 'text', source: 'page', before: 1, now: 0.25 },
    ])
  },
)

t.test('a change to a source of equal or higher trust is no fall', async t => {
  t.strictSame(fallsOf({ date: { meta: 100 } }, { date: { 'json-ld': 20 } }), [])
  t.strictSame(fallsOf({ title: { markup: 100 } }, { title: { meta: 20 } }), [])
  t.strictSame(fallsOf({ title: { meta: 100 } }, { title: { document: 20 } }).length, 1)
})

t.test('few articles and small falls prove nothing', async t => {
  t.strictSame(
    fallsOf({ date: { 'json-ld': 6, line: 4 } }, { date: { 'json-ld': 3, line: 7 } }),
    [],
  )
  t.strictSame(
    fallsOf(
      { date: { 'json-ld': 9_000, line: 1_000 } },
      { date: { 'json-ld': 7_000, line: 3_000 } },
    ),
    [],
  )
  t.strictSame(fallsOf({}, { date: { line: 20 } }), [])
  t.strictSame(fallsOf({ date: { line: 20 } }, {}), [])
})
