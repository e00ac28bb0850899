import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { search } from '../../search/execute/search.ts'
import { sealArticles } from '../../search/merge/flush-and-merge.ts'
import type { ArticleQuery } from '../../search/query/article-query.ts'
import type { NewArticle } from '../../shared/articles/article.ts'
import { openArchiveIndex } from './archive-index.ts'
import { overheard } from './overheard.ts'
import { EVERYTHING } from './poller.ts'

const MINOR = 16n

/** Articles with a word of their own each. */
const articles = (from: number, count: number, publishedAt: Date): NewArticle[] =>
  Array.from({ length: count }, (_, at) => ({
    title: `Gemeente woord${from + at}`,
    body: `Een bericht met woord${from + at} erin.`,
    url: `https://example.org/${from + at}`,
    addresses: [`https://example.org/${from + at}`],
    publishedAt,
    authors: [],
    outlet: { name: 'Voorbeeld', domain: 'example.org' },
    country: 'NL',
    language: 'nl',
  }))

const words = (...required: string[]): ArticleQuery => ({
  ...EVERYTHING,
  searchIn: 'title_body',
  match: { kind: 'boolean', required: required.map(word => [word]), excluded: [] },
})

t.test('what was shown is not read again', { timeout: 60_000 }, async t => {
  const index = await openArchiveIndex()
  t.teardown(() => index.close())
  const { db, names } = overheard(index.pool)
  await index.add(articles(0, 40, new Date('2026-03-01T12:00:00Z')))
  await sealArticles(index.pool, { minor: MINOR, major: 256n })
  const first = await search(db, EVERYTHING, null)
  t.ok(names.includes('search-rows'))
  names.length = 0
  const second = await search(db, EVERYTHING, null)
  t.same(second, first)
  t.same(names, ['search-prelude'], 'neither rows, nor the ids of those that came together, nor the days')
})

t.test('new articles are shown without being read once more', { timeout: 60_000 }, async t => {
  const index = await openArchiveIndex()
  t.teardown(() => index.close())
  const { db, names } = overheard(index.pool)
  await index.add(articles(0, 40, new Date('2026-03-01T12:00:00Z')))
  const kept = await search(db, EVERYTHING, null)
  t.notOk(names.includes('search-rows'), `asked: ${[...new Set(names)].join(', ')}`)
  // As another process shows them, which finds them in a segment and reads them.
  await sealArticles(index.pool, { minor: 8n, major: 256n })
  const other = overheard(index.pool)
  t.same(kept, await search(other.db, EVERYTHING, null))
  t.ok(other.names.includes('search-rows'))
})

t.test('names that cannot be read when articles come are read when they are shown', { timeout: 60_000 }, async t => {
  const index = await openArchiveIndex()
  t.teardown(() => index.close())
  let refused = 0
  const { db, names } = overheard(index.pool, text => text.includes('from publishers') && refused++ === 0)
  await index.add(articles(0, 20, new Date('2026-03-01T12:00:00Z')))
  const page = await search(db, EVERYTHING, null)
  t.equal(page.total, 20)
  t.equal(page.rows[0]!.outlet.name, 'Voorbeeld')
  t.ok(refused > 1)
  t.equal(names.filter(name => name === 'search-fresh').length, 1, 'what was read is kept')
})

t.test('no list of a new small segment is waited for once it is read whole', { timeout: 60_000 }, async t => {
  const index = await openArchiveIndex()
  t.teardown(() => index.close())
  const { db, names } = overheard(index.pool)
  await index.add(articles(0, 32, new Date('2026-03-01T12:00:00Z')))
  t.equal(await sealArticles(index.pool, { minor: MINOR, major: 256n }), 2)
  await search(db, EVERYTHING, null)
  t.ok(names.includes('search-dictionary'))
  // Each time for a word that nobody asked for yet.
  for (let attempt = 0; attempt === 0 || names.includes('search-buckets'); attempt++) {
    await setTimeout(20)
    names.length = 0
    await search(db, words('gemeente', `ander${attempt}`), null)
  }
  names.length = 0
  for (let number = 0; number < 32; number++) {
    const { rows, total } = await search(db, words('gemeente', `woord${number}`), null)
    t.equal(total, 1)
    t.equal(rows[0]!.title, `Gemeente woord${number}`)
  }
  t.equal((await search(db, words('gemeente', 'woord99'), null)).total, 0)
  t.notOk(names.includes('search-buckets'), `asked: ${[...new Set(names)].join(', ')}`)
})

t.test('an article of a day that had none is found by the next search', { timeout: 60_000 }, async t => {
  const index = await openArchiveIndex()
  t.teardown(() => index.close())
  const { db, names } = overheard(index.pool)
  t.equal((await search(db, EVERYTHING, null)).total, 0)
  for (const [number, day] of ['2026-03-01', '2026-03-04', '2025-11-30'].entries()) {
    await index.add(articles(number, 1, new Date(`${day}T12:00:00Z`)))
    names.length = 0
    t.equal((await search(db, EVERYTHING, null)).total, number + 1, day)
    t.equal((await search(db, EVERYTHING, null)).total, number + 1, day)
    t.equal(names.filter(name => name === 'search-days').length, 1, 'days are read once')
  }
})
