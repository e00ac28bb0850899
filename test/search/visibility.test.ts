import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import type { ArticleQuery, Position, SearchIndex, SearchPage, SearchSizes } from '../../search/index.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { createTestDatabase } from '../database.ts'
import { openTestReading, type TestReading } from '../standbys/reading.ts'
import { EVERYTHING, startPoller } from './poller.ts'
import { makeTestSegments, openTestIndex } from './store.ts'
import { startWriters } from './writers.ts'

const DURATION = 8_000

/**
 * Writers for a while, some of them killed, with a poller beside them; which articles it has not
 * seen.
 */
async function pollWhileWriting(
  url: string,
  { pool, standbys }: Omit<TestReading, 'close'>,
  kills: number,
  importing = Infinity,
) {
  const writers = startWriters(url, 8, DURATION, importing)
  const poller = startPoller(openTestIndex(pool, standbys))
  for (let kill = 0; kill < kills; kill++) {
    await setTimeout(DURATION / (kills + 1))
    writers.killOne()
  }
  await writers.done
  await poller.finish()
  const { rows } = await pool.query<{ id: string }>('select id from articles')
  return { missed: rows.filter(({ id }) => !poller.seen.has(id)).length, all: rows.length, disorder: poller.disorder }
}

t.test('decision 23: a poller misses nothing of eight writers, some of them killed', { timeout: 120_000 }, async t => {
  const database = await createTestDatabase(t)
  const { pool, standbys } = openTestReading(t, database.url)
  const { missed, all, disorder } = await pollWhileWriting(database.url, { pool, standbys }, 4)
  t.comment(`${all} articles`)
  t.ok(all > 30, `writers write: ${all}`)
  t.equal(missed, 0)
  t.same(disorder, [])
  const { rows } = await pool.query(
    'select count(*)::int as late from articles a join articles b on b.seq = a.seq + 1 where b.ingested_at < a.ingested_at or a.ingested_at > now()',
  )
  t.same(rows, [{ late: 0 }], 'times grow with the numbers and none is ahead of the clock')
  const gaps = await pool.query('select count(*)::int = max(seq) as whole from articles')
  t.same(gaps.rows, [{ whole: true }], 'numbers have no gaps, whoever was killed')
})

t.test('decision 23: a poller misses nothing beside imports, some of them killed', { timeout: 120_000 }, async t => {
  const database = await createTestDatabase(t)
  const { pool, standbys } = openTestReading(t, database.url)
  let writing = true
  const flushing = (async () => {
    while (writing) {
      // An import may be quicker; the next attempt starts from what it has stored.
      await makeTestSegments(pool, { flushed: 32n, merged: 256n }).catch(() => {})
      await setTimeout(50)
    }
  })()
  const { missed, all, disorder } = await pollWhileWriting(database.url, { pool, standbys }, 4, 2)
  writing = false
  await flushing
  const { rows } = await pool.query<{ first: bigint; last: bigint }>(
    'select first_seq as first, last_seq as last from segments order by first_seq',
  )
  t.comment(`${all} articles, ${rows.length} segments`)
  t.same(disorder, [])
  t.equal(missed, 0)
  t.ok(
    rows.every(({ first }, at) => first === (rows[at - 1]?.last ?? 0n) + 1n),
    'segments have no gaps and no article twice',
  )
  const counted = await openTestIndex(pool, standbys).count(EVERYTHING)
  t.equal(counted, all)
})

t.test('decision 23: the same poller misses articles that are stamped with now()', { timeout: 120_000 }, async t => {
  const database = await createTestDatabase(t)
  await database.query(`
    create function stamp_with_now() returns trigger language plpgsql as
      'begin new.ingested_at = date_trunc(''milliseconds'', now()); return new; end'`)
  await database.query('create trigger stamp before insert on articles for each row execute function stamp_with_now()')
  const { pool, standbys } = openTestReading(t, database.url)
  const { missed, all } = await pollWhileWriting(database.url, { pool, standbys }, 0)
  t.comment(`${missed} of ${all} articles missed`)
  t.ok(missed > 0)
})

t.test(
  'decision 22: pages are the set of the start, while writers write and segments are made',
  { timeout: 120_000 },
  async t => {
    const database = await createTestDatabase(t)
    const { pool, standbys } = openTestReading(t, database.url)
    const { search } = openTestIndex(pool, standbys)
    const writers = startWriters(database.url, 4, DURATION, 2)
    let writing = true
    const finished = writers.done.then(() => {
      writing = false
    })
    const flushing = (async () => {
      for (let flushed = 4n; writing; flushed = flushed === 4n ? 8n : 4n) {
        // An import may be quicker; the next attempt starts from what it has stored.
        await makeTestSegments(pool, { flushed, merged: 8n * flushed }).catch(() => {})
        await setTimeout(50)
      }
    })()
    let sequences = 0
    const askAll = async () => {
      while (writing) {
        const query = queryOf(sequences)
        const pages = await readSequence(search, query)
        if (pages.watermark === 0n) continue
        sequences++
        const difference = differenceOf(pages, await idsInOrder(pool, query, pages.watermark))
        if (difference !== null) t.fail(`sequence ${sequences}: ${difference}`)
      }
    }
    // Several at a time read the same fresh articles, and drop what others may still need.
    await Promise.all([flushing, finished, askAll(), askAll(), askAll(), askAll()])
    t.comment(`${sequences} sequences`)
    t.ok(sequences > 2, `${sequences} sequences`)
  },
)

/** Page sizes, axes and directions in turn. */
const queryOf = (sequence: number): ArticleQuery => ({
  ...EVERYTHING,
  perPage: [1, 7, 50][sequence % 3]!,
  sort: sequence % 2 === 0 ? 'published_at' : 'ingested_at',
  order: sequence % 4 < 2 ? 'desc' : 'asc',
})

const SMALL_SIZES: SearchSizes = {
  cap: 10_000,
  memory: { segment: 8n, words: 500 },
  first: 100,
  prefetch: 100,
}
const MOST_PAGES = 40

interface Sequence {
  ids: string[]
  totals: Set<number>
  /** 0: one page held all. */
  watermark: bigint
  isWhole: boolean
}

async function readSequence(search: SearchIndex['search'], query: ArticleQuery): Promise<Sequence> {
  const sequence: Sequence = { ids: [], totals: new Set(), watermark: 0n, isWhole: false }
  let position: Position | null = null
  for (let pages = 0; pages < MOST_PAGES && !sequence.isWhole; pages++) {
    const page: SearchPage = await search(query, position, SMALL_SIZES)
    sequence.ids.push(...page.rows.map(row => row.id))
    sequence.totals.add(page.total)
    position = page.next
    sequence.watermark = position?.watermark ?? sequence.watermark
    sequence.isWhole = position === null
  }
  return sequence
}

/** @param expected what was visible at the watermark */
function differenceOf({ ids, totals, isWhole }: Sequence, expected: string[]): string | null {
  if (totals.size !== 1 || !totals.has(expected.length)) return `totals ${[...totals]} of ${expected.length}`
  const due = isWhole ? expected : expected.slice(0, ids.length)
  return ids.join() === due.join() ? null : 'pages differ from the set of the start'
}

/** Straight from the table: what was visible at the watermark, by decision 14 and 17. */
async function idsInOrder(pool: Pool, { sort, order }: ArticleQuery, watermark: bigint): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from articles where seq <= $1 ${sort === 'ingested_at' ? 'and ingested_at is not null' : ''}
     order by ${sort} ${order} nulls last, id collate "C" ${order}`,
    [watermark],
  )
  return rows.map(row => row.id)
}
