import t from 'tap'
import { parseExpression, TooFrequent } from '#search/index'
import { makeSegments } from '#search/indexer'
import type { SearchIndex } from '#search/types'
import { clearRemoved, removeArticles } from '#shared/removals/remove'
import { createRandom } from '#test/faults/random'
import { FEW, openArchiveIndex, openFlushed } from './archive-index.ts'
import { differences, queryOf } from './comparison.ts'
import { EVERYTHING } from './poller.ts'
import { randomArticles } from './random-articles.ts'
import { newArticle } from './short-articles.ts'
import { met, openTestIndex } from './store.ts'

const asking = (q: string) => {
  const query = queryOf({ ...EVERYTHING, q, search: 'expression', searchIn: 'title_body' })
  if (query === null) throw new Error(`${q} is refused: ${JSON.stringify(parseExpression(q))}`)
  return query
}

const wordsOf = async (search: SearchIndex, q: string) =>
  (await search.words(asking(q))).map(({ word, count }) => `${word} ${count}`)

const found = async (search: SearchIndex, q: string) => (await search.search(asking(q))).total

const TITLES = [
  'De nachttrein rijdt',
  'Treinen en trams',
  'De hogesnelheidstrein',
  'De trein',
  'Een bus',
]

t.test('a part of words stands for the words of segments and of memory', async t => {
  const { add, search, pool } = await openArchiveIndex(t)
  await add(TITLES.slice(0, 3).map((title, at) => newArticle(at, { title, body: null })))
  await makeSegments(pool, { flushed: 3n, merged: 64n })
  await add(TITLES.slice(3).map((title, at) => newArticle(3 + at, { title, body: null })))
  t.same(await wordsOf(search, '*trein*'), [
    'hogesnelheidstrein 1',
    'nachttrein 1',
    'trein 1',
    'treinen 1',
  ])
  t.same(await wordsOf(search, 'trein*'), ['trein 1', 'treinen 1'])
  t.same(await wordsOf(search, '*trein'), ['hogesnelheidstrein 1', 'nachttrein 1', 'trein 1'])
  t.same(await wordsOf(search, '*vliegtuig*'), [])
  t.equal(await found(search, '*trein NOT trein*'), 2)
  t.equal(await found(search, '"de *trein" -rijdt'), 2)
  t.equal(await found(search, '(*sneltrein OR tram*) NEAR/1 treinen'), 1)
  t.equal(await found(search, 'vliegtuig*'), 0)
})

t.test('segments of an earlier version have no lexicon, and answer the same', async t => {
  const { add, search, pool, database } = await openArchiveIndex(t)
  const known = await add(randomArticles(createRandom(3), 120))
  await makeSegments(pool, FEW)
  const before = await wordsOf(search, '*een*')
  t.ok(before.length > 0)
  const removed = await database.query(
    `delete from segment_buckets where bucket >= 65536 returning segment_no`,
  )
  t.ok(removed.length > 1)
  const fresh = openTestIndex(pool)
  t.teardown(() => fresh.close())
  t.same(await wordsOf(fresh, '*een*'), before)
  t.same(await differences(fresh, known, createRandom(4), 30), [])
})

t.test('an article that is taken out brings no word back', async t => {
  const { add, search, pool } = await openArchiveIndex(t)
  const known = await add(TITLES.map((title, at) => newArticle(at, { title, body: null })))
  await makeSegments(pool, { flushed: 4n, merged: 64n })
  t.equal((await wordsOf(search, '*trein*')).length, 4)
  await removeArticles(pool, [known[0]!], 'a court has ordered it')
  const left = ['hogesnelheidstrein 1', 'trein 1', 'treinen 1']
  t.same(await wordsOf(search, '*trein*'), left)
  await clearRemoved(pool, [], new AbortController().signal)
  t.same(await wordsOf(search, '*trein*'), left)
  const { rows } = await pool.query<{ block: Buffer }>(
    `select block from segment_buckets where bucket >= 65536`,
  )
  t.equal(rows.length, 1)
})

t.test('words that are read anew are read on when segments change meanwhile', async t => {
  const { add, pool } = await openFlushed(t, 5)
  const { rows: known } = await pool.query<{ seq: bigint; id: string }>(
    'select seq, id from articles order by seq limit 3',
  )
  const clear = async (at: number) => {
    await removeArticles(pool, [known[at]!], 'a court has ordered it')
    await clearRemoved(pool, [], new AbortController().signal)
  }
  const flush = async () => {
    await add(randomArticles(createRandom(6), 30))
    await makeSegments(pool, FEW, { kinds: ['flush'] })
  }
  let read = 0
  let change = async () => {}
  const search = openTestIndex(
    met(pool, async (name, ask) => {
      if (name === 'search-lexicon' && ++read === 3) await change()
      return ask()
    }),
  )
  t.teardown(() => search.close())
  const segments = async () =>
    (await pool.query<{ count: number }>('select count(*)::int from segments')).rows[0]!.count
  for (const [at, { meanwhile, again }] of [
    // The lexicon that was refused is read again.
    { meanwhile: flush, again: 1 },
    // Two more are read again, because the first segment has lost an article.
    { meanwhile: () => clear(2), again: 3 },
  ].entries()) {
    change = async () => {}
    await wordsOf(search, '*een*')
    await clear(at)
    read = 0
    change = meanwhile
    const words = await wordsOf(search, '*een*')
    t.equal(read, (await segments()) + again)
    const fresh = openTestIndex(pool)
    t.teardown(() => fresh.close())
    t.same(words, await wordsOf(fresh, '*een*'))
    t.equal(await search.price(asking('*een*')), await fresh.price(asking('*een*')))
  }
})

t.test('more than 5,000 words are refused, by a number that all processes agree on', async t => {
  const { add, search, pool } = await openArchiveIndex(t)
  const body = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => `kabel${from + at}`).join(' ')
  const [first, second] = await add([
    newArticle(0, { title: 'Kabels', body: body(0, 3_000) }),
    newArticle(1, { title: 'Meer kabels', body: body(2_500, 4_998) }),
  ])
  t.equal(await found(search, 'kabel*'), 2)
  const page = await search.search({ ...asking('kabel*'), perPage: 1 })
  const third = await add([newArticle(2, { title: 'Nog meer', body: body(4_998, 5_001) })])
  const refused = (index: SearchIndex) =>
    index.search(asking('kabel*')).then(
      () => 'answered',
      error => (error instanceof TooFrequent ? error.message : String(error)),
    )
  t.match(await refused(search), /stand for 5002 words, and 5000 are the most/)
  t.equal((await search.search({ ...asking('kabel*'), perPage: 1 }, page.next)).rows.length, 1)
  await makeSegments(pool, { flushed: 3n, merged: 64n })
  t.match(await refused(search), /stand for 5002 words/)
  await removeArticles(pool, third, 'a court has ordered it')
  t.match(
    await refused(search),
    /stand for 5002 words/,
    'segments have its words until it is cleared',
  )
  await clearRemoved(pool, [], new AbortController().signal)
  // The words are read anew beside a search that has many parts.
  const parts = asking(Array.from({ length: 20 }, (_, at) => `kabel4${at}*`).join(' OR '))
  const [answered, price] = await Promise.all([refused(search), search.price(parts)])
  t.equal(answered, 'answered', 'words of removed articles are forgotten')
  const fresh = openTestIndex(pool)
  t.teardown(() => fresh.close())
  t.equal(price, await fresh.price(parts))
  t.equal(await search.price(asking('kabel*')), 4_999)
  t.equal(await fresh.price(asking('kabel*')), 4_999)
  t.ok(first && second)
})
