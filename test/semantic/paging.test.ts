import t from 'tap'
import { SetExpired } from '../../services/api/semantic/query.ts'
import { allPages, createWorld, query } from './world.ts'

t.setTimeout(180_000)

const WORDS = ['water', 'brug', 'trein', 'koning', 'melk', 'fiets', 'storm', 'kaas']
const textOf = (number: number) => WORDS.filter((_, bit) => (number >> bit) & 1).join(' ') || 'niets'

const world = await createWorld(t)
await world.fleet.start('embedder')
await world.index(
  Array.from({ length: 90 }, (_, n) => ({
    title: textOf(n % 64),
    // Equal times, equal texts and unknown dates: the hard cases of paging.
    publishedAt: n % 9 === 0 ? null : new Date(Date.UTC(2026, 0, 1 + (n % 5))),
    ...(n % 10 === 3 ? { ingestedAt: n % 20 === 3 ? null : new Date('2025-03-03') } : {}),
    country: n % 3 === 0 ? ('BE' as const) : ('NL' as const),
    language: n % 3 === 0 ? ('fr' as const) : ('nl' as const),
    outlet:
      n % 3 === 0 ? { name: 'Le Plateau', domain: 'leplateau.example' } : { name: 'De Brug', domain: 'brug.example' },
    authors: n % 4 === 0 ? ['Ann Peeters'] : [],
  })),
)
await world.embedded(90)
const search = await world.openSearch()
const other = await world.openSearch()

t.test('a coverage of 500 articles or fewer is found whole, best first; ties order by id (decision 27)', async t => {
  const { rows, totals } = await allPages(search, query('water brug', { perPage: 7 }))
  // Neither published nor ingested: never served (14).
  const unserved = await world.pool.query('select from articles where published_at is null and ingested_at is null')
  t.equal(rows.length, 90 - (unserved.rowCount ?? 0))
  t.equal(new Set(rows.map(row => row.id)).size, rows.length, 'no article twice')
  t.same(new Set(totals), new Set([rows.length]), 'the total is exact and the same on every page')
  for (const [at, row] of rows.entries()) {
    const before = rows[at - 1]
    if (before) t.ok(before.relevance > row.relevance || (before.relevance === row.relevance && before.id < row.id))
    t.ok(row.relevance >= 0 && row.relevance <= 1 && Number.isInteger(Math.round(row.relevance * 1e4)))
    t.equal(row.relevance, Number(row.relevance.toFixed(4)))
  }
  t.match(rows[0], { title: 'water brug' })
})

for (const sort of ['relevance', 'published_at', 'ingested_at'] as const) {
  for (const order of ['asc', 'desc'] as const) {
    t.test(`pages by ${sort}, ${order}, are the whole set in one order at any size (14, 22)`, async t => {
      const whole = await allPages(search, query('storm kaas', { sort, order, perPage: 100 }))
      for (const perPage of [1, 4, 17]) {
        const { rows } = await allPages(search, query('storm kaas', { sort, order, perPage }))
        t.same(
          rows.map(row => row.id),
          whole.rows.map(row => row.id),
        )
      }
      if (sort === 'relevance') return
      const times = whole.rows.map(row => (sort === 'published_at' ? row.publishedAt : row.ingestedAt))
      const firstNull = times.indexOf(null)
      if (sort === 'ingested_at') t.equal(firstNull, -1, 'articles without an ingestion time are excluded')
      if (firstNull >= 0)
        t.ok(
          times.slice(firstNull).every(time => time === null),
          'null comes last',
        )
      const known = times.filter(time => time !== null).map(Number)
      t.same(
        known,
        known.toSorted((a, b) => (order === 'asc' ? a - b : b - a)),
      )
    })
  }
}

t.test('the request’s filters apply after the 500, within the plan (decision 26)', async t => {
  const plan = query('water', { planCountries: ['NL'], countries: ['NL'], perPage: 100 })
  t.ok((await allPages(search, plan)).rows.every(row => row.country === 'NL'))
  const all = (await allPages(search, query('water', { perPage: 100 }))).rows
  const filtered = async (own: Parameters<typeof query>[1]) =>
    (await allPages(search, query('water', { perPage: 100, ...own }))).rows.map(row => row.id)
  const expected = (keep: (row: (typeof all)[number]) => boolean) => all.filter(keep).map(row => row.id)
  t.same(
    await filtered({ countries: ['BE'] }),
    expected(row => row.country === 'BE'),
  )
  t.same(
    await filtered({ languages: ['fr', 'lb'] }),
    expected(row => row.language === 'fr'),
  )
  t.same(
    await filtered({ hasAuthor: false }),
    expected(row => row.authors.length === 0),
  )
  t.same(
    await filtered({ author: 'PEETERS' }),
    expected(row => row.authors.length > 0),
  )
  t.same(
    await filtered({ outlet: 'plateau' }),
    expected(row => row.outlet.name === 'Le Plateau'),
  )
  t.same(
    await filtered({ outlet: 'brug.ex' }),
    expected(row => row.outlet.name === 'De Brug'),
  )
  t.same(await filtered({ outlet: '%' }), [], '% is an ordinary character (15)')
  const day = new Date('2026-01-03')
  const bounds = { publishedAfter: day, publishedBefore: { at: day, exclusive: false } }
  t.same(
    await filtered({ coverage: { historyStart: new Date('2000-01-01'), ...bounds } }),
    expected(row => row.publishedAt?.getTime() === day.getTime()),
    'both bounds are inclusive',
  )
  t.same(
    await filtered({ ingestedAfter: new Date('2026-01-01') }),
    expected(row => row.ingestedAt !== null && row.ingestedAt >= new Date('2026-01-01')),
  )
})

t.test('the history start bounds the candidates to the millisecond (decision 13, decision 26)', async t => {
  const start = new Date('2026-01-03T00:00:00.000Z')
  const within = async (historyStart: Date) =>
    (
      await allPages(
        search,
        query('koning', { perPage: 100, coverage: { historyStart, publishedAfter: null, publishedBefore: null } }),
      )
    ).rows
  const onIt = (await within(start)).filter(row => row.publishedAt?.getTime() === start.getTime())
  const after = (await within(new Date(start.getTime() + 1))).filter(
    row => row.publishedAt?.getTime() === start.getTime(),
  )
  t.ok(onIt.length > 0)
  t.equal(after.length, 0)
})

t.test(
  'a set stays as it is for new articles, in every process, and gives the same cursor (decision 21, decision 28)',
  async t => {
    const asked = query('fiets trein', { perPage: 10 })
    const [first, twin] = await Promise.all([search.search(asked, null), other.search(asked, null)])
    t.same(twin, first, 'asked at the same time by two processes')
    await world.index([{ title: 'fiets trein' }])
    await world.embedded(91)
    t.same(await other.search(asked, null), first)
    t.same((await other.search(asked, first.next)).total, first.total)
    await world.pool.query(`update semantic_sets set made_at = made_at - interval '5 minutes'`)
    const anew = await search.search(asked, null)
    t.equal(anew.total, first.total + 1, 'after five minutes the question is asked anew')
    t.ok(
      anew.rows.some(row => row.title === 'fiets trein'),
      'with what is new',
    )
    t.equal((await other.search(asked, first.next)).total, first.total, 'its cursors are good for five more')
    await world.pool.query(`update semantic_sets set made_at = made_at - interval '5 minutes'`)
    await t.rejects(search.search(asked, first.next), SetExpired)
    await world.pool.query('delete from semantic_sets')
    const again = await other.search(asked, null)
    t.same(again.next, anew.next, 'unchanged data gives the same cursor')
  },
)

t.test('a vector whose article is gone is left out (decision 29)', async t => {
  const before = await search.search(query('melk'), null)
  const [gone] = before.rows
  await world.pool.query('delete from articles where seq = $1', [gone!.seq])
  const after = await search.search(query('melk'), null)
  t.equal(after.total, before.total - 1)
  t.notOk(after.rows.some(row => row.seq === gone!.seq))
})
