import t, { type Test } from 'tap'
import { openIndex } from '../../search/index.ts'
import { makeSegments, openIndexer } from '../../search/indexer.ts'
import { openImporter } from '../../search/indexing/import.ts'
import { openArticleWriter } from '../../search/indexing/writer.ts'
import { createTestPool } from '../database.ts'
import { EVERYTHING } from './poller.ts'
import { shortArticles } from './short-articles.ts'

t.setTimeout(120_000)

const SIZES = { most: 250, least: 20, text: 10_000_000 }

type Patiently = <T>(work: () => Promise<T>) => Promise<T>

async function open(test: Pick<Test, 'teardown'>, patiently?: Patiently) {
  const { pool } = await createTestPool(test)
  const indexer = openIndexer(pool)
  const writer = openArticleWriter({ pool, indexer, embedDelay: 0 })
  const counts = { indexed: 0, known: 0 }
  const importer = openImporter({
    ...{ pool, writer, indexer, embedDelay: 0, sizes: SIZES, ...(patiently && { patiently }) },
    written({ indexed, known }) {
      counts.indexed += indexed
      counts.known += known
    },
  })
  test.teardown(() => indexer.close())
  return { pool, writer, importer, counts }
}

t.test('an import stores a segment with its articles, and covers what others wrote before', async t => {
  const { pool, writer, importer, counts } = await open(t)
  await writer.write(shortArticles(0, 30))
  await importer.add(shortArticles(1_000, 250))
  await importer.flush()
  await writer.write(shortArticles(2_000, 5))
  await importer.add(shortArticles(3_000, 510))
  await importer.flush()
  t.same(counts, { indexed: 760, known: 0 })
  const { rows } = await pool.query('select first_seq::int as first, last_seq::int as last from segments order by 1')
  t.same(rows, [
    { first: 1, last: 30 },
    { first: 31, last: 280 },
    { first: 281, last: 285 },
    { first: 286, last: 535 },
    { first: 536, last: 785 },
  ])
  const stamps = await pool.query<{ n: number; last: bigint; first: bigint }>(
    'select count(*)::int as n, max(seq) as last, min(seq) as first from articles group by ingested_at order by ingested_at',
  )
  t.ok(stamps.rows.every(({ n }) => n <= 100))
  t.ok(
    stamps.rows.every(({ first }, at) => at === 0 || first > stamps.rows[at - 1]!.last),
    'stamps grow with numbers',
  )
  const index = openIndex(pool)
  t.teardown(() => index.close())
  t.equal(await index.count(EVERYTHING), 795)
  const { rows: newest } = await index.search({ ...EVERYTHING, sort: 'ingested_at', order: 'desc', perPage: 60 })
  t.same(
    newest.map(({ title }) => title).sort(),
    (await pool.query<{ title: string }>('select title from article_texts order by seq desc limit 60')).rows
      .map(({ title }) => title)
      .sort(),
  )
  t.equal((await pool.query('select from segments_ahead')).rowCount, 0)
  t.equal(await makeSegments(pool), 0)
})

t.test('decision 41: an article of a segment, and one beside it, keep the bounds of their archive', async t => {
  const { pool, importer } = await open(t)
  const rights = { bounded: true, vector: false }
  const [first, ...others] = shortArticles(1_000, 250)
  const [single] = shortArticles(2_000, 1)
  await importer.add([{ ...first!, snippet: 'Kort', rights }, ...others])
  await importer.writeSingly([{ ...single!, snippet: null, rights }])
  await importer.flush()
  const { rows } = await pool.query(
    `select t.snippet, r.snippet as bounded, r.vector, e.seq is not null as promised
       from article_rights r join articles a using (id) join article_texts t using (seq) left join embeddings e using (seq)
      order by t.snippet`,
  )
  t.same(rows, [
    { snippet: 'Kort', bounded: true, vector: false, promised: false },
    { snippet: null, bounded: true, vector: false, promised: false },
  ])
  t.equal((await pool.query('select from embeddings')).rowCount, 249)
})

t.test('articles that others write while their segment is built are known', async t => {
  const { pool, writer, importer, counts } = await open(t)
  const articles = shortArticles(0, 250)
  // Its segment is stored ahead for a second.
  await importer.add(articles)
  await writer.write(articles.slice(0, 40))
  await importer.flush()
  t.same(counts, { indexed: 210, known: 40 })
  await importer.add(articles)
  await importer.flush()
  t.same(counts, { indexed: 210, known: 290 })
  const { rows } = await pool.query('select count(*)::int as n, max(seq)::int as last from articles')
  t.same(rows, [{ n: 250, last: 250 }])
})

t.test('articles whose commit was not heard of are not reported as known when they are tried again', async t => {
  const { pool, importer, counts } = await open(t, async work => {
    await work()
    return work()
  })
  const articles = shortArticles(0, 265)
  await importer.add(articles)
  await importer.flush()
  t.same(counts, { indexed: 265, known: 0 }, 'a segment, and articles that make none')
  await importer.add(articles)
  await importer.flush()
  t.same(counts, { indexed: 265, known: 265 })
  const { rows } = await pool.query('select count(*)::int as n from articles')
  t.same(rows, [{ n: 265 }])
})
