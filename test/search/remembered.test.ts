import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type ArticleQuery, INDEX_STATE, type IndexState, openIndex } from '#search/index'
import { makeSegments } from '#search/indexer'
import type { NewArticle } from '#search/types'
import { repeatEvery } from '#shared/process/repeat'
import { createRandom } from '#test/faults/random'
import { openArchiveIndex } from './archive-index.ts'
import { overheard } from './overheard.ts'
import { EVERYTHING } from './poller.ts'
import { randomArticles } from './random-articles.ts'
import { newArticle } from './short-articles.ts'

const MINOR = 16n

/** An index, and a search of it on a pool whose statements are heard. */
async function openHeard(test: Test, refuse?: (text: string) => boolean) {
  const index = await openArchiveIndex(test)
  const heard = overheard(index.pool, refuse)
  return { index, ...heard, search: openIndex(heard.db).search }
}

/** Articles with a word of their own each. */
const articles = (from: number, count: number, publishedAt: Date): NewArticle[] =>
  Array.from({ length: count }, (_, at) =>
    newArticle(from + at, { body: `Een bericht met woord${from + at} erin.`, publishedAt }),
  )
const words = (...required: string[]): ArticleQuery => ({
  ...EVERYTHING,
  searchIn: 'title_body',
  match: { kind: 'boolean', required: required.map(word => [word]), excluded: [] },
})

t.test('new articles are shown without being read once more', async t => {
  const { index, names, search } = await openHeard(t)
  await index.add(articles(0, 40, new Date('2026-03-01T12:00:00Z')))
  const kept = await search(EVERYTHING)
  t.notOk(names.includes('search-stored'), `asked: ${[...new Set(names)].join(', ')}`)
  // As another process shows them, which finds them in a segment and reads them.
  await makeSegments(index.pool, { flushed: 8n, merged: 256n })
  const other = overheard(index.pool)
  t.same(kept, await openIndex(other.db).search(EVERYTHING))
  t.ok(other.names.includes('search-stored'))
})

t.test('names that cannot be read when articles come are read when they are shown', async t => {
  let refused = 0
  const { index, names, search } = await openHeard(
    t,
    text => text.includes('from publishers') && refused++ === 0,
  )
  await index.add(articles(0, 20, new Date('2026-03-01T12:00:00Z')))
  const page = await search(EVERYTHING)
  t.equal(page.total, 20)
  t.equal(page.rows[0]!.outlet.name, 'Voorbeeld')
  t.ok(refused > 1)
  t.equal(names.filter(name => name === 'search-new').length, 1, 'what was read is kept')
})

t.test('no list of a new small segment is waited for once it is read whole', async t => {
  const { index, names, search } = await openHeard(t)
  await index.add(articles(0, 32, new Date('2026-03-01T12:00:00Z')))
  t.equal(await makeSegments(index.pool, { flushed: MINOR, merged: 256n }), 2)
  await search(EVERYTHING)
  t.ok(names.includes('search-dictionary'))
  // Each time for a word that nobody asked for yet.
  for (let attempt = 0; attempt === 0 || names.includes('search-buckets'); attempt++) {
    await setTimeout(20)
    names.length = 0
    await search(words('gemeente', `ander${attempt}`))
  }
  names.length = 0
  for (let number = 0; number < 32; number++) {
    const { rows, total } = await search(words('gemeente', `woord${number}`))
    t.equal(total, 1)
    t.equal(rows[0]!.title, `Gemeente woord${number}`)
  }
  t.equal((await search(words('gemeente', 'woord99'))).total, 0)
  t.notOk(names.includes('search-buckets'), `asked: ${[...new Set(names)].join(', ')}`)
})

t.test('an article of a day that had none is found by the next search', async t => {
  const { index, names, search } = await openHeard(t)
  t.equal((await search(EVERYTHING)).total, 0)
  for (const [number, day] of ['2026-03-01', '2026-03-04', '2025-11-30'].entries()) {
    await index.add(articles(number, 1, new Date(`${day}T12:00:00Z`)))
    names.length = 0
    t.equal((await search(EVERYTHING)).total, number + 1, day)
    t.equal((await search(EVERYTHING)).total, number + 1, day)
    t.equal(names.filter(name => name === 'search-days').length, 1, 'days are read once')
  }
})

t.test('a query that is asked again is matched only where its page comes from', async t => {
  const index = await openArchiveIndex(t)
  const START = Date.UTC(2026, 2, 1)
  const minute = (number: number) => new Date(START + number * 60_000)
  await index.add(
    Array.from({ length: 160 }, (_, number) => articles(number, 1, minute(number))[0]!),
  )
  t.ok((await makeSegments(index.pool, { flushed: MINOR, merged: MINOR })) >= 10)
  const { db, names } = overheard(index.pool)
  // Posting lists are not kept, so each segment that is matched reads them anew.
  const { search } = openIndex(db, { caches: { postings: 1 } })
  const ask = async (bounds: Partial<ArticleQuery>, word = 'bericht') => {
    names.length = 0
    return search({ ...words(word), perPage: 3, ...bounds }, null, { first: 1, prefetch: 0 })
  }
  const reads = () => names.filter(name => name === 'search-buckets').length

  t.equal((await ask({})).total, 160)
  t.ok(reads() > 1, `${reads()} reads of lists`)
  t.equal((await ask({})).total, 160)
  t.equal(reads(), 1, 'the newest segment alone')
  for (const order of ['desc', 'asc'] as const) {
    for (let number = 0; number < 160; number += 7) {
      const after = minute(number)
      const before = new Date(minute(150).getTime() - 1)
      const reach = { ...EVERYTHING.reach, publishedAfter: after, publishedBefore: before }
      const { total, rows } = await ask({ order, reach })
      t.equal(total, Math.max(0, 150 - number), `from minute ${number}, ${order}`)
      t.equal(rows.length, Math.min(3, total))
    }
  }

  // Articles without a date belong to no range of dates, and to all of history. Their segment has
  // others too, and lies after the page.
  const undated = articles(160, 8, minute(0)).map(article => ({ ...article, publishedAt: null }))
  await index.add([...undated, ...articles(168, 8, minute(1)), ...articles(176, 16, minute(200))])
  await makeSegments(index.pool, { flushed: MINOR, merged: MINOR })
  const sinceTheBeginning = { ...EVERYTHING.reach, publishedAfter: minute(0) }
  for (const time of ['first', 'second', 'third']) {
    t.equal((await ask({ reach: sinceTheBeginning })).total, 184, `with a date, the ${time} time`)
    t.equal((await ask({})).total, 192, `with or without, the ${time} time`)
  }

  t.equal((await ask({}, 'woord159')).total, 1)
  t.equal((await ask({}, 'woord159')).total, 1)
  t.equal(reads(), 1, 'no other segment has the word')
})

const READING = 'search-new'

t.test('new articles are read ahead, so that no search waits for them', async t => {
  const { index, db, names } = await openHeard(t)
  const failures: unknown[] = []
  const warm = openIndex(db)
  void warm.warm(repeatEvery, error => failures.push(error))
  await index.add(randomArticles(createRandom(3), 40))
  while (names.filter(name => name === READING).length === 0) await setTimeout(20)
  // Whatever was indexed before a look was read by it, so after two whole looks nothing is left.
  const looks = () => names.filter(name => name === 'search-snapshot').length
  for (const before = looks(); looks() < before + 3; ) await setTimeout(20)
  await warm.close()
  names.length = 0
  const page = await warm.search(EVERYTHING)
  t.ok(page.total > 30)
  t.equal(page.total, (await index.search.search(EVERYTHING)).total)
  t.notOk(names.includes(READING), `asked: ${names.join(', ')}`)
  t.same(failures, [])
})

t.test(
  'a search takes the state that its caller has read, also when segments have changed since',
  async t => {
    const { index, names, search } = await openHeard(t)
    const readState = async () => {
      const { rows } = await index.pool.query<IndexState>(
        `select ${INDEX_STATE.columns} from ${INDEX_STATE.tables}`,
      )
      return rows[0]!
    }
    const ask = async (state?: IndexState) => {
      names.length = 0
      const { total } = await search(EVERYTHING, null, { state })
      return { total, read: names.includes('search-snapshot') }
    }
    const random = createRandom(7)
    const first = await index.add(randomArticles(random, 40))
    const before = await readState()
    const old = await ask(before)
    t.ok(old.total > 0 && old.total <= first.length)
    t.notOk(old.read)

    await index.add(randomArticles(random, 40))
    t.same(await ask(before), old, 'the state decides which articles are seen')
    const all = await ask()
    t.ok(all.read && all.total > old.total)
    t.same(await ask(await readState()), { total: all.total, read: false })

    await makeSegments(index.pool, { flushed: 16n, merged: 256n })
    await ask()
    t.same(await ask(before), old, 'the same articles lie in other segments by now')
  },
)
