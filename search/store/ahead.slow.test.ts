import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { repeatEvery } from '../../shared/process/repeat.ts'
import { createRandom } from '../../test/faults/random.ts'
import {
  type ArchiveIndex,
  FEW,
  openArchiveIndex,
  openFlushed,
} from '../../test/search/archive-index.ts'
import { overheard } from '../../test/search/overheard.ts'
import { EVERYTHING } from '../../test/search/poller.ts'
import { randomArticles } from '../../test/search/random-articles.ts'
import { shortArticles } from '../../test/search/short-articles.ts'
import { indexText } from '../analysis/index.ts'
import { readSegmentAhead } from '../cache/segment-cache.ts'
import { type ArticleQuery, openIndex } from '../index.ts'
import { makeSegments, readIndexSize } from '../indexer.ts'
import { createSegmentBuilder } from '../segment/builder.ts'
import { verifyIndex } from '../verify.ts'
import { postgresArticles } from './postgres-articles.ts'
import { openSegmentWriter } from './postgres-segment-writer.ts'
import { openSegmentStore } from './postgres-segments.ts'
import { openReads, type SegmentMeta, type SegmentStore } from './segment-store.ts'

/** In ms. Even on a busy machine, a process can read a segment of a few articles in this time. */
const AHEAD = 2_000

const WORD: ArticleQuery = { ...EVERYTHING, match: { kind: 'keyword', words: ['gemeente'] } }

const rowsOf = async (index: ArchiveIndex, table: string) =>
  Number(
    (await index.database.query(`select count(distinct segment_no) as rows from ${table}`))[0]!
      .rows,
  )

async function isPrepared(index: ArchiveIndex): Promise<void> {
  while ((await rowsOf(index, 'segments_ahead')) === 0) await setTimeout(10)
}

t.test('a segment is not used while it is stored ahead', async t => {
  const index = await openArchiveIndex(t)
  await index.add(shortArticles(0, 20))
  const made = makeSegments(index.pool, FEW, { ahead: AHEAD })
  await isPrepared(index)
  t.equal(await rowsOf(index, 'segments'), 0)
  t.equal((await index.search.search(WORD)).total, 20)
  t.equal(index.search.stats().covered, 0n)
  t.equal(await made, 1)
  t.same([await rowsOf(index, 'segments'), await rowsOf(index, 'segments_ahead')], [1, 0])
  t.equal((await index.search.search(WORD)).total, 20)
  t.equal(index.search.stats().covered, 16n)
})

t.test(
  'a process that reads ahead has a segment in memory when searches begin to use it',
  async t => {
    const index = await openArchiveIndex(t)
    await index.add(shortArticles(0, 16))
    await makeSegments(index.pool, FEW)
    const { db, names } = overheard(index.pool)
    const failures: unknown[] = []
    const search = openIndex(db)
    t.teardown(() => search.close())
    await search.warm(repeatEvery, error => failures.push(error))
    await search.search(WORD)
    await index.add(shortArticles(16, 16))
    await makeSegments(index.pool, FEW, { ahead: AHEAD })
    names.length = 0
    t.equal((await search.search(WORD)).total, 32)
    t.equal(search.stats().covered, 32n)
    t.ok(names.includes('search-snapshot'))
    const read = ['search-buckets', 'search-columns', 'search-dictionary'].filter(name =>
      names.includes(name),
    )
    t.same(read, [], `asked: ${names.join(', ')}`)
    t.same(failures, [])
  },
)

async function segmentAhead(store: SegmentStore): Promise<SegmentMeta> {
  for (;;) {
    const [ahead] = await store.readAhead()
    if (ahead !== undefined) return ahead
    await setTimeout(10)
  }
}

t.test('a segment that goes while it is read is not taken for an empty one', async t => {
  const index = await openFlushed(t, 42)
  const store = openSegmentStore(openReads(index.pool))
  const before = await index.search.count(EVERYTHING)
  const merging = makeSegments(index.pool, FEW, { kinds: ['merge'], ahead: 2_000 })
  merging.catch(() => {})
  const ahead = await segmentAhead(store)
  const remove = async () => {
    await index.database.query('delete from segments_ahead')
    await openSegmentWriter(index.pool).removeUnused()
  }
  const slow: SegmentStore = {
    ...store,
    async readDictionary(segment, version) {
      await remove()
      return store.readDictionary(segment, version)
    },
  }
  t.equal(await readSegmentAhead(slow, ahead, 64, () => []), null)
  t.equal(await readSegmentAhead(store, ahead, 64, () => []), null)
  await t.rejects(merging, /removed a segment/)
  t.equal(await index.search.count(EVERYTHING), before)
  t.equal(await makeSegments(index.pool, FEW, { ahead: 1 }), 1)
})

t.test(
  'a segment is not used when another process has stored one of the same articles',
  async t => {
    const index = await openFlushed(t, 43)
    const merging = makeSegments(index.pool, FEW, { kinds: ['merge'], ahead: 1_500 })
    merging.catch(() => {})
    const store = openSegmentStore(openReads(index.pool))
    await segmentAhead(store)
    // This stands for a process of another version, which does not hold the same lock.
    await index.database.query('update segments set segment_no = default where first_seq = 17')
    const before = await store.readMeta(0n)
    await t.rejects(merging, /another process stored segments/)
    t.same((await store.readMeta(0n)).segments, before.segments)
  },
)

const numbers = async (index: ArchiveIndex, table: string) =>
  (await index.database.query(`select distinct segment_no as no from ${table} order by no`)).map(
    row => row.no,
  )

t.test(
  'of replaced segments nothing stays, and nothing of those that a killed process left',
  async t => {
    const index = await openFlushed(t, 31)
    const flushed = await numbers(index, 'segments')
    t.equal(flushed.length, 4)
    const [first] = flushed
    // These buckets need more than one step each, and lie on both sides of the numbers in use.
    await index.database.query(
      `insert into segment_buckets select no, bucket, '' from unnest(array[-7, 1000000]) no, generate_series(0, 700) bucket`,
    )
    await index.database.query(
      'create table kept as select * from segment_buckets where segment_no = $1',
      [first],
    )
    const before = await index.search.count(EVERYTHING)

    await makeSegments(index.pool, FEW, { kinds: ['merge'] })
    const merged = await numbers(index, 'segments')
    t.equal(merged.length, 1)
    t.notOk(flushed.includes(merged[0]))
    t.same(await numbers(index, 'segment_buckets'), merged)
    t.equal(await index.search.count(EVERYTHING), before)

    // As if a process was killed before it removed the buckets, and had stored a segment ahead.
    await index.database.query('insert into segment_buckets select * from kept')
    await index.database.query(
      `insert into segments_ahead select 1000000, 'flush', now(), 65, 80, bucket_bits, first_published, last_published,
       first_ingested, last_ingested, undated, columns from segments`,
    )
    await index.database.query(
      'insert into segment_buckets select 1000000, bucket, block from segment_buckets join segments using (segment_no)',
    )
    await index.add(shortArticles(0, 16))
    await makeSegments(index.pool, FEW, { ahead: 1 })
    t.same(await numbers(index, 'segment_buckets'), await numbers(index, 'segments'))
    t.same(await numbers(index, 'segments_ahead'), [])
  },
)

t.test(
  'operators are told how many segments are stored, and how many articles have none',
  async t => {
    const index = await openArchiveIndex(t)
    t.match(await readIndexSize(index.pool), { segments: 0, backlog: 0 })
    const { length } = await index.add(randomArticles(createRandom(5), 40))
    t.match(await readIndexSize(index.pool), { segments: 0, backlog: length })
    await makeSegments(index.pool, { flushed: 16n, merged: 256n })
    const segments = Math.floor(length / 16)
    t.match(await readIndexSize(index.pool), { segments, backlog: length - segments * 16 })
  },
)

t.test('a segment that a former version made is verified by the rule of that version', async t => {
  const { pool, add } = await openArchiveIndex(t)
  const range = { first: 1n, last: 600n }
  await add(randomArticles(createRandom(1), Number(range.last)))
  const source = postgresArticles(openReads(pool))
  const articles = await source.readSources(range)
  const [former, now] = [2, undefined].map(rule =>
    createSegmentBuilder(articles, range.first, { rule }),
  )
  for await (const { seq, title, body } of source.readWords(range))
    for (const builder of [former!, now!]) builder.addWords(seq, title, body)
  const built = await former!.build()
  t.notSame(built.buckets, (await now!.build()).buckets, 'it has other lists than a new one')
  await openSegmentWriter(pool).replace({ range, articles, built })
  const differs: string[] = []
  const verified = await verifyIndex({
    pool,
    sample: null,
    progress() {},
    signal: new AbortController().signal,
    tokenise: async texts => texts.map(({ title, body }) => indexText(title, body)),
    found: (_, text) => differs.push(text),
  })
  t.same([verified.segments, differs.filter(text => text.includes('segment'))], [1, []])
})
