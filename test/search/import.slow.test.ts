import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { whileAway } from '#scripts/articles/while-away'
import { openIndex } from '#search/index'
import { openImporter } from '#search/indexing/import'
import type { ArticleWriter, Importer, Indexer } from '#search/types'
import { countOf, type Pool, readColumn } from '#shared/postgres/pool'
import { createTestPool, holdLock, lockWaits } from '#test/database'
import { until } from '#test/fleet'
import { isWhole } from '#test/script'
import { EVERYTHING } from './poller.ts'
import { newArticle, openTestWriter, shortArticles } from './short-articles.ts'

const SIZES = { most: 250, least: 20, text: 10_000_000 }

type Patiently = <T>(work: () => Promise<T>) => Promise<T>

const whilePostgresIsAway: Patiently = work =>
  whileAway(work, { say: () => {}, signal: new AbortController().signal })

type Options = Partial<Parameters<typeof openImporter>[0]>

const open = async (test: Pick<Test, 'teardown'>, options?: Options) =>
  openBeside(test, (await createTestPool(test)).pool, options)

function openBeside(test: Pick<Test, 'teardown'>, pool: Pool, options: Options = {}) {
  const { writer, indexer } = openTestWriter(pool)
  const counts = { indexed: 0, known: 0 }
  const importer = openImporter({
    pool,
    writer,
    indexer,
    embedDelay: 0,
    sizes: SIZES,
    ...options,
    written({ indexed, known }) {
      counts.indexed += indexed
      counts.known += known
    },
  })
  test.teardown(() => indexer.close())
  return { pool, indexer, writer, importer, counts }
}

/** Waits until a segment is built. */
const built = (pool: Pool) =>
  until(async () => (await pool.query('select from segments_ahead')).rowCount! > 0, 60_000)

/** What is wrong with the segments, and with what searches find of articles of `newArticle`. */
async function faultsOf(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ first: number; last: number; whole: boolean }>(
    `select first_seq::int as first, last_seq::int as last, digest = sha256(convert_to(ids, 'UTF8')) as whole
     from segments, lateral (select string_agg(id, E'\\n' order by seq) as ids from articles
                             where seq between first_seq and last_seq) held
     order by first_seq`,
  )
  const index = openIndex(pool)
  const faults = rows.flatMap(({ first, last, whole }, at) => [
    ...(first === (rows[at - 1]?.last ?? 0) + 1 ? [] : [`a gap before ${first}`]),
    ...(whole ? [] : [`${first} to ${last} holds other articles`]),
  ])
  const titles = await pool.query<{ title: string }>('select title from article_texts order by seq')
  for (const { title } of titles.rows) {
    const words = [title.replace('Gemeente ', '')]
    const found = await index.search({ ...EVERYTHING, match: { kind: 'keyword', words } })
    if (found.rows.map(row => row.title).join() !== title)
      faults.push(`"${title}" finds ${found.rows.map(row => row.title).join() || 'nothing'}`)
  }
  await index.close()
  const left = await pool.query('select from segments_ahead')
  return [...faults.slice(0, 5), ...(left.rowCount === 0 ? [] : ['a segment is left ahead'])]
}

t.test(
  'decision 41: an article of a segment, and one beside it, keep the bounds of their file',
  async t => {
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
    const most =
      'select max(n)::int from (select count(*) as n from articles group by ingested_at) as of_a_stamp'
    t.equal(await countOf(pool, most), 100)
  },
)

t.test('an import of millions of articles finds a partition for each', async t => {
  const { pool, importer, counts } = await open(t)
  await importer.add(shortArticles(0, 250))
  await importer.flush()
  await pool.query('update ingest_clock set last_seq = 4194300')
  await pool.query(
    `insert into segments (first_seq, last_seq, bucket_bits, undated, columns) values (251, 4194300, 0, 0, '')`,
  )
  await importer.add(shortArticles(250, 250))
  await importer.flush()
  t.same(counts, { indexed: 500, known: 0 })
})

t.test(
  'articles whose commit was not heard of are not reported as known when they are tried again',
  async t => {
    const { pool, importer, counts } = await open(t, {
      async patiently(work) {
        await work()
        return work()
      },
    })
    const articles = shortArticles(0, 265)
    await importer.add(articles)
    await importer.flush()
    t.same(counts, { indexed: 265, known: 0 }, 'a segment, and articles that make none')
    await importer.add(articles)
    await importer.flush()
    t.same(counts, { indexed: 265, known: 265 })
    t.equal(await countOf(pool, 'select count(*)::int from articles'), 265)
  },
)

t.test('tasks of one thread at a time each get the segment of their own articles', async t => {
  const { pool, indexer } = await open(t)
  const built = await Promise.all(
    [3, 5, 7].map(count => {
      const sources = shortArticles(0, count).map((article, at) => ({
        seq: BigInt(at + 1),
        id: `${count}-${at}`,
        published: at,
        ingested: null,
        publisherNo: 1,
        authorNos: [],
        country: article.country,
        language: article.language,
        section: null,
        kind: null,
        access: null,
      }))
      const words = sources.map(() => '')
      return indexer.imported.build({ sources, titles: words, bodies: words })
    }),
  )
  const { rows } = await pool.query<{ no: number; n: number }>(
    'select segment_no as no, last_seq::int as n from segments_ahead',
  )
  const counts = built.map(({ no }) => rows.find(row => row.no === no)?.n)
  t.same(counts, [3, 5, 7])
})

t.test('a thread may be ended at any moment of its start', async t => {
  const { pool } = await createTestPool(t)
  for (let ms = 0; ms < 400; ms += isWhole ? 15 : 60) {
    const { indexer } = openTestWriter(pool)
    const building = indexer.imported.build({ sources: [], titles: [], bodies: [] }).catch(() => {})
    await setTimeout(ms)
    await indexer.close()
    await building
  }
  t.pass('Node has not died')
})

interface Encounter {
  /** Articles of the segment that stand in the one before. */
  again?: number
  before?: (writer: ArticleWriter, other: Importer) => Promise<unknown>
  after?: (writer: ArticleWriter, other: Importer) => Promise<unknown>
}

/** What makes a segment be built again: in it, or beside it, before it is built and after. */
const encounters: Record<string, Encounter> = {
  'articles that stand again in the following segment': { again: 15 },
  'an article with the id of another one': {
    before: writer => writer.write([newArticle(500, { id: 'taken' })]),
  },
  'articles that a crawler writes meanwhile': {
    after: writer => writer.write(shortArticles(300, 15)),
  },
  'articles that another import has, too': {
    before: (_, other) => other.add(shortArticles(300, 250)),
    after: (_, other) => other.flush(),
  },
}
for (const [what, { again = 0, before, after }] of Object.entries(encounters)) {
  t.test(`${what}: each segment holds its own articles`, async t => {
    const { pool, writer, importer, counts } = await open(t)
    const other = openBeside(t, pool)
    await importer.add(shortArticles(0, 250))
    await before?.(writer, other.importer)
    const second = [...shortArticles(0, again), ...shortArticles(250, 250 - again)]
    second[100] = { ...second[100]!, id: 'taken' }
    await importer.add(second)
    await after?.(writer, other.importer)
    // The thread cannot end a segment from now on, so that what is built again meets it.
    const release = await holdLock(pool, 'lock table segment_buckets in share mode')
    const adding = importer.add(shortArticles(500, 250))
    await setTimeout(3_000)
    await release()
    await adding
    await importer.flush()
    t.same(await faultsOf(pool), [])
    t.equal(counts.indexed + counts.known, 750)
    t.equal(await countOf(pool, 'select count(*)::int from articles'), 750 - again)
  })
}

t.test('a segment of other articles is refused, and one that ends above the clock', async t => {
  const { pool, importer, counts } = await open(t)
  await importer.add(shortArticles(0, 250))
  await built(pool)
  await pool.query("update segments_ahead set digest = sha256('others')")
  await t.rejects(
    importer.flush(),
    /segment \d+ was made of other articles than those it would stand for/,
  )
  t.same((await pool.query('select from articles')).rowCount, 0, 'nothing is written')
  const former = openBeside(t, pool)
  await former.importer.add(shortArticles(0, 250))
  await built(pool)
  await pool.query('update segments_ahead set digest = null')
  await former.importer.flush()
  t.same([counts.indexed, former.counts.indexed], [0, 250], 'one of a former version is used')
  await t.rejects(
    pool.query(
      `insert into segments (first_seq, last_seq, bucket_bits, undated, columns) values (251, 251, 0, 0, '')`,
    ),
    /segment \d+ ends at article 251, above the clock/,
  )
})
t.test(
  'an import whose rows take too long for the clock writes them singly, and tries again later',
  async t => {
    const { pool, writer, importer, counts } = await open(t, {
      holdsClock: 1_000,
      patiently: whilePostgresIsAway,
    })
    await pool.query(
      `create function dawdle() returns trigger language plpgsql as 'begin perform pg_sleep(0.01); return new; end';
   create trigger dawdle before insert on article_words for each row execute function dawdle()`,
    )
    const [first, ...others] = shortArticles(0, 500)
    await writer.write([first!])
    await importer.add([first!, ...others])
    await importer.flush()
    t.same(counts, { indexed: 499, known: 1 })
    await pool.query('drop trigger dawdle on article_words')
    const ends = () => readColumn(pool, 'select last_seq::int from segments order by 1')
    // A busy machine may be too slow for the clock once more.
    let last = 500
    for (; last < 2_000 && (await ends()).length === 0; last += 250) {
      await setTimeout(10_000)
      await importer.add(shortArticles(last, 250))
      await importer.flush()
    }
    t.same(await ends(), [last - 250, last])
    t.same(await faultsOf(pool), [])
  },
)

t.test(
  'an import goes on when Postgres ends the connections of its thread, and its own',
  async t => {
    const { pool, importer, counts } = await open(t, { patiently: whilePostgresIsAway })
    const steps: [held: string, ended: string][] = [
      ['segments', 'test'],
      ['segment_buckets', 'indexer'],
    ]
    for (const [step, [held, ended]] of steps.entries()) {
      const release = await holdLock(pool, `lock table ${held} in access exclusive mode`)
      const adding = importer.add(shortArticles(step * 250, 250))
      adding.catch(() => {}) // awaited below
      await until(async () => (await lockWaits(pool)) > 0, 30_000)
      await pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
         and wait_event_type = 'Lock' and application_name like 'perscope ' || $1 || ' %'`,
        [ended],
      )
      await release()
      await adding
    }
    await importer.flush()
    t.same(counts, { indexed: 500, known: 0 })
    t.same(await faultsOf(pool), [])
  },
)

t.test(
  'what others have written is made a segment before the clock is taken, or the import writes singly',
  async t => {
    const { pool, indexer, writer, importer, counts } = await open(t)
    await writer.write(shortArticles(10_000, 2_100))
    await importer.add(shortArticles(0, 250))
    await importer.flush()
    const { rows } = await pool.query(
      'select last_seq::int as last, count(*) over (partition by sealed_at)::int as at_once from segments order by 1',
    )
    t.same(rows, [
      { last: 2_100, at_once: 1 },
      { last: 2_350, at_once: 1 },
    ])
    // `cover` does nothing here, as if other processes wrote faster than the import covers their
    // articles.
    const hasty: Indexer = { ...indexer, imported: { ...indexer.imported, cover: async () => {} } }
    const late = openImporter({
      pool,
      writer,
      indexer: hasty,
      embedDelay: 0,
      sizes: SIZES,
      written: () => {},
    })
    await writer.write(shortArticles(20_000, 4_100))
    await late.add(shortArticles(500, 250))
    await late.flush()
    t.equal((await pool.query('select from segments')).rowCount, 2)
    t.equal((await pool.query('select from articles where seq > 6450')).rowCount, 250)
    t.equal((await pool.query('select from segments_ahead')).rowCount, 0)
    t.same(counts, { indexed: 250, known: 0 })
  },
)
