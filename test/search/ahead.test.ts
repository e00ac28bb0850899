import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { type ArticleQuery, openIndex } from '../../search/index.ts'
import { makeSegments, type SegmentSizes } from '../../search/indexer.ts'
import { type ArchiveIndex, openArchiveIndex } from './archive-index.ts'
import { overheard } from './overheard.ts'
import { EVERYTHING } from './poller.ts'
import { shortArticles } from './short-articles.ts'

t.setTimeout(280_000)

const SIZES: SegmentSizes = { flushed: 16n, merged: 64n }
/** ms; enough for a process to read a segment of some articles on a busy machine. */
const AHEAD = 2_000

const WORD: ArticleQuery = { ...EVERYTHING, match: { kind: 'keyword', words: ['gemeente'] } }

const rowsOf = async (index: ArchiveIndex, table: string) =>
  Number((await index.database.query(`select count(distinct segment_no) as rows from ${table}`))[0]!.rows)

async function isPrepared(index: ArchiveIndex): Promise<void> {
  while ((await rowsOf(index, 'segments_ahead')) === 0) await setTimeout(10)
}

t.test('a segment is not used while it is stored ahead', async t => {
  const index = await openArchiveIndex(t)
  await index.add(shortArticles(0, 20))
  const made = makeSegments(index.pool, SIZES, { ahead: AHEAD })
  await isPrepared(index)
  t.equal(await rowsOf(index, 'segments'), 0)
  t.equal((await index.search.search(WORD)).total, 20)
  t.equal(index.search.stats().covered, 0n)
  t.equal(await made, 1)
  t.same([await rowsOf(index, 'segments'), await rowsOf(index, 'segments_ahead')], [1, 0])
  t.equal((await index.search.search(WORD)).total, 20)
  t.equal(index.search.stats().covered, 16n)
})

t.test('several are made one after the other, each in its turn', async t => {
  const index = await openArchiveIndex(t)
  await index.add(shortArticles(0, 150))
  const made: string[] = []
  const options = {
    ahead: 20,
    onMade: (one: { kind: string; articles: number }) => made.push(`${one.kind} ${one.articles}`),
  }
  t.equal(await makeSegments(index.pool, { flushed: 16n, merged: 256n }, options), 9)
  t.same(made, Array(9).fill('flush 16'))
  await index.add(shortArticles(150, 120))
  t.equal(await makeSegments(index.pool, { flushed: 16n, merged: 256n }, options), 8)
  t.same(made.slice(9), [...Array(7).fill('flush 16'), 'merge 256'])
  t.equal(await index.search.count(WORD), 270)
})

t.test('what a killed process has stored ahead goes with the next segment', async t => {
  const index = await openArchiveIndex(t)
  await index.add(shortArticles(0, 16))
  await makeSegments(index.pool, SIZES)
  await index.database.query(
    `insert into segments_ahead select 1000000, 'flush', now(), 17, 32, bucket_bits, first_published, last_published,
       first_ingested, last_ingested, undated, columns from segments`,
  )
  await index.database.query('insert into segment_buckets select 1000000, bucket, block from segment_buckets')
  await index.add(shortArticles(16, 16))
  t.equal(await makeSegments(index.pool, SIZES, { ahead: 1 }), 1)
  t.same([await rowsOf(index, 'segments_ahead'), await rowsOf(index, 'segment_buckets')], [0, 2])
  t.equal(await index.search.count(WORD), 32)
})

t.test('a process that reads ahead has a segment in memory when searches begin to use it', async t => {
  const index = await openArchiveIndex(t)
  await index.add(shortArticles(0, 16))
  await makeSegments(index.pool, SIZES)
  const { db, names } = overheard(index.pool)
  const failures: unknown[] = []
  const search = openIndex(db)
  t.teardown(() => search.close())
  await search.warm(error => failures.push(error))
  await search.search(WORD)
  await index.add(shortArticles(16, 16))
  await makeSegments(index.pool, SIZES, { ahead: AHEAD })
  names.length = 0
  t.equal((await search.search(WORD)).total, 32)
  t.equal(search.stats().covered, 32n)
  t.ok(names.includes('search-snapshot'))
  const read = ['search-buckets', 'search-columns', 'search-dictionary'].filter(name => names.includes(name))
  t.same(read, [], `asked: ${names.join(', ')}`)
  t.same(failures, [])
})
