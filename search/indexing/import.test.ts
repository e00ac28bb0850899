import t, { type Test } from 'tap'
import { createTestPool } from '../../test/database.ts'
import { EVERYTHING } from '../../test/search/poller.ts'
import { openTestWriter, shortArticles } from '../../test/search/short-articles.ts'
import { openIndex } from '../index.ts'
import type { Indexer } from '../types.ts'
import { openImporter } from './import.ts'

/** An importer of small segments, with what it was told to have written. */
async function open(
  test: Pick<Test, 'teardown'>,
  change: (indexer: Indexer) => object = () => ({}),
) {
  const { pool } = await createTestPool(test)
  const { writer, indexer } = openTestWriter(pool)
  test.teardown(() => indexer.close())
  const counts = { indexed: 0, known: 0, removed: 0 }
  const importer = openImporter({
    pool,
    writer,
    indexer,
    embedDelay: 0,
    ahead: 0,
    sizes: { most: 20, least: 5, text: 10_000 },
    ...change(indexer),
    written(more) {
      for (const name of ['indexed', 'known', 'removed'] as const) counts[name] += more[name]
    },
  })
  const ranges = async () =>
    (
      await pool.query<{ range: string }>(
        "select first_seq || '-' || last_seq as range from segments order by first_seq",
      )
    ).rows.map(({ range }) => range)
  const find = async () => {
    const index = openIndex(pool)
    return await index.count(EVERYTHING).finally(() => index.close())
  }
  return { pool, writer, importer, counts, ranges, find }
}

t.test('an import makes segments of its articles, and one of what others wrote before', async t => {
  const { pool, writer, importer, counts, ranges, find } = await open(t)
  await writer.write(shortArticles(0, 3))
  // A killed import has left it.
  await pool.query(
    `insert into segments_ahead (segment_no, kind, stored_at, first_seq, last_seq, bucket_bits, undated, columns)
     values (1000000, 'import', now() - interval '1 hour', 1, 9, 0, 0, '')`,
  )
  await importer.add(shortArticles(100, 45))
  t.equal(importer.waiting(), 5, 'two segments are full')
  await importer.flush()
  t.same(counts, { indexed: 45, known: 0, removed: 0 })
  t.same(await ranges(), ['1-3', '4-23', '24-43', '44-48'])
  t.equal(await find(), 48)
  t.equal((await pool.query('select from segments_ahead')).rowCount, 0)
  const falls =
    'select from articles a join articles b on a.seq < b.seq and a.ingested_at > b.ingested_at'
  t.equal((await pool.query(falls)).rowCount, 0, 'stamps grow with numbers')
})

t.test('few articles are written one by one, and known ones are left out', async t => {
  const { writer, importer, counts, ranges, find } = await open(t)
  await writer.write(shortArticles(100, 10))
  await importer.add(shortArticles(100, 14))
  await importer.flush()
  t.same(counts, { indexed: 4, known: 10, removed: 0 })
  t.same(await ranges(), [], 'four are too few for a segment')
  await importer.add(shortArticles(112, 8))
  await importer.flush()
  t.same(counts, { indexed: 10, known: 12, removed: 0 })
  t.same(await ranges(), ['1-14', '15-20'])
  t.equal(await find(), 20)
})

t.test('a segment whose articles others write meanwhile is built anew without them', async t => {
  let meanwhile: (() => Promise<unknown>) | null = null
  const { writer, importer, counts, ranges, find } = await open(t, indexer => ({
    indexer: {
      imported: {
        ...indexer.imported,
        async cover() {
          const write = meanwhile
          meanwhile = null
          await write?.()
          await indexer.imported.cover()
        },
      },
    },
  }))
  meanwhile = () => writer.write(shortArticles(100, 3))
  await importer.add(shortArticles(100, 20))
  await importer.flush()
  t.same(counts, { indexed: 17, known: 3, removed: 0 })
  t.same(await ranges(), ['1-3', '4-20'])
  t.equal(await find(), 20)
})

t.test('work that fails is told to the caller, and nothing of it is left', async t => {
  const { pool, importer, counts, find } = await open(t, indexer => ({
    indexer: {
      imported: { ...indexer.imported, cover: () => Promise.reject(new Error('no room')) },
    },
  }))
  await importer.add(shortArticles(100, 20))
  await t.rejects(importer.flush(), { message: 'no room' })
  await importer.stop()
  t.same(counts, { indexed: 0, known: 0, removed: 0 })
  t.equal((await pool.query('select from segments_ahead')).rowCount, 0)
  t.equal(await find(), 0)
})

t.test('after a stop nothing more is written', async t => {
  const { importer, counts, find } = await open(t, () => ({
    sizes: { most: 3, least: 5, text: 10_000 },
  }))
  await importer.add(shortArticles(100, 3))
  const adding = importer.add(shortArticles(103, 6))
  await importer.stop()
  t.same(counts, { indexed: 3, known: 0, removed: 0 }, 'what was being written is told')
  await adding
  await importer.flush()
  t.equal(await find(), 3)
})
