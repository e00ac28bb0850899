import t from 'tap'
import { createWorld, query } from './world.ts'

const WORDS = ['water', 'brug', 'trein', 'koning', 'melk', 'fiets']
const textOf = (number: number) =>
  WORDS.filter((_, bit) => (number >> bit) & 1).join(' ') || 'niets'

const world = await createWorld(t)
await world.fleet.start('embedder')
await world.index(Array.from({ length: 90 }, (_, n) => ({ title: textOf(n % 64) })))
await world.embedded(90)
const search = await world.openSearch()
const other = await world.openSearch()

// Held here: decision 21, decision 28.
t.test(
  'decision 28: a set stays as it is for new articles, with the same cursor in every process',
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
    const hasNew = anew.rows.some(row => row.title === 'fiets trein')
    t.ok(hasNew, 'with what is new')
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
