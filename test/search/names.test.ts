import t from 'tap'
import type { ArticleQuery } from '#search/index'
import { authorId } from '#search/indexer'
import type { NewArticle } from '#search/types'
import { openArchiveIndex } from './archive-index.ts'
import { overheard } from './overheard.ts'
import { EVERYTHING } from './poller.ts'
import { newArticle } from './short-articles.ts'
import { makeTestSegments, openTestIndex } from './store.ts'

/** Articles with one author each. */
const articles = (from: number, authors: string[]): NewArticle[] =>
  authors.map((author, at) => newArticle(from + at, { authors: [author] }))
const by = (author: string): ArticleQuery => ({ ...EVERYTHING, author })

const people = (count: number) => Array.from({ length: count }, (_, at) => `Jan van Naam${at}`)

t.test('an author whose number was given out early and becomes visible late is found', async t => {
  const index = await openArchiveIndex(t)
  const { search } = index
  // A number is taken, and its transaction goes on while others take later ones.
  const client = await index.pool.connect()
  await client.query('begin')
  await client.query(
    "insert into authors (id, outlet, name, folded_name) values ($1, 'example.org', $2, $3)",
    [authorId('example.org', 'Late Laura'), 'Late Laura', 'late laura'],
  )
  await index.add(articles(0, people(20)))
  t.equal((await search.search(by('van'))).total, 20)
  t.equal((await search.search(by('laur'))).total, 0)
  const other = openTestIndex(index.pool)
  t.equal((await other.search(by('laur'))).total, 0)
  await client.query('commit')
  client.release()
  await index.add(articles(20, ['Late Laura', 'Nieuwe Nora']))
  t.equal((await search.search(by('laur'))).total, 1, 'in memory')
  t.equal((await search.search(by('ora'))).total, 1, 'a new one')
  await makeTestSegments(index.pool, { flushed: 2n, merged: 16n })
  t.equal((await search.search(by('laur'))).total, 1, 'in a segment')
  t.equal(
    (await other.search(by('laur'))).total,
    1,
    'in a segment, in a process that never had it in memory',
  )
  t.equal((await search.search(by('a'))).total, 22)
  t.same(
    await openTestIndex(index.pool).search(by('laur')),
    await search.search(by('laur')),
    'in another process',
  )
})

t.test('names are read once, and a part that was asked for costs the snapshot alone', async t => {
  const index = await openArchiveIndex(t)
  await index.add(articles(0, people(40)))
  await makeTestSegments(index.pool, { flushed: 8n, merged: 64n })
  await index.add(articles(40, ['Piet Pieters']))
  const { db, names } = overheard(index.pool)
  const { search, stats } = openTestIndex(db)
  t.equal((await search(by('an v'))).total, 40)
  t.ok(names.includes('search-author-names-after'))
  const read = (text: string) => names.filter(name => name.startsWith(text)).length
  names.length = 0
  t.equal((await search(by('AN V'))).total, 40)
  t.same(names, ['search-snapshot'])
  t.equal((await search(by('piet'))).total, 1)
  t.equal((await search({ ...by('a'), outlet: '.org' })).total, 40)
  t.equal(read('search-author-names'), 0)
  names.length = 0
  // The names of new articles alone.
  await index.add(articles(41, ['Johan van den Berg']))
  t.equal((await search(by('n v'))).total, 41)
  t.equal((await search(by('n v'))).total, 41)
  t.equal(read('search-author-names-by-no'), 1)
  t.equal(read('search-author-names-after'), 0)
  t.ok(stats().names.count > 42 && stats().names.bytes > 1_000)
  const { used, limit } = stats().caches.names
  t.ok(used > 0 && used < limit)
})
