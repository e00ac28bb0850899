import t from 'tap'
import { makeSegments } from '../../search/indexer.ts'
import { randomArticles } from './archive.ts'
import { type ArchiveIndex, openArchiveIndex } from './archive-index.ts'
import { EVERYTHING } from './poller.ts'
import { createRandom } from './random.ts'

const SIZES = { flushed: 16n, merged: 64n }

const numbers = async (index: ArchiveIndex, table: string) =>
  (await index.database.query(`select distinct segment_no as no from ${table} order by no`)).map(row => row.no)

t.test('of replaced segments nothing stays, and nothing of those that a killed process left', async t => {
  const index = await openArchiveIndex(t)
  await makeSegments(index.pool, SIZES)
  const articles = randomArticles(createRandom(31), 200)
  for (let added = 0, at = 0; added < 64; at++) {
    added += (await index.add(articles.slice(at, at + 1))).length
    if (added % 16 === 0) await makeSegments(index.pool, SIZES, { kinds: ['flush'] })
  }
  const flushed = await numbers(index, 'segments')
  t.equal(flushed.length, 4)
  const [first] = flushed
  // More than one step removes at a time, on both sides of the numbers in use.
  await index.database.query(
    `insert into segment_buckets select no, bucket, '' from unnest(array[-7, 1000000]) no, generate_series(0, 700) bucket`,
  )
  await index.database.query('create table kept as select * from segment_buckets where segment_no = $1', [first])
  const before = await index.search.count(EVERYTHING)

  await makeSegments(index.pool, SIZES, { kinds: ['merge'] })
  const merged = await numbers(index, 'segments')
  t.equal(merged.length, 1)
  t.notOk(flushed.includes(merged[0]))
  t.same(await numbers(index, 'segment_buckets'), merged)
  t.equal(await index.search.count(EVERYTHING), before)

  // A process was killed before it removed them.
  await index.database.query('insert into segment_buckets select * from kept')
  for (let added = 0, at = 100; added < 16; at++) added += (await index.add(articles.slice(at, at + 1))).length
  await makeSegments(index.pool, SIZES)
  t.same(await numbers(index, 'segment_buckets'), await numbers(index, 'segments'))
})
