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
