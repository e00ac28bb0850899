import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { INDEX_STATE, type IndexState, type SearchIndex } from '#search/index'
import { readRow } from '#shared/postgres/pool'
import { createTestDatabase, type TestDatabase } from '#test/database'
import { createRandom } from '#test/faults/random'
import { isWhole } from '#test/script'
import { openTestReading } from '#test/standbys/reading'
import { openArchiveIndex } from './archive-index.ts'
import { EVERYTHING, startPoller } from './poller.ts'
import { randomArticles } from './random-articles.ts'
import { makeTestSegments, openTestIndex } from './store.ts'
import { startWriters } from './writers.ts'
import { unlessOvertaken } from './writing.ts'

const DURATION = isWhole ? 8_000 : 5_000

/**
 * Writers for a while, some of them killed, with a poller beside them, while segments are made;
 * which articles it has not seen.
 *
 * @param importing every so manyth writer is an import
 */
async function pollWhileWriting(t: Test, database: TestDatabase, kills: number, importing: number) {
  const { pool, standbys } = openTestReading(t, database.url)
  const index = openTestIndex(pool, standbys)
  const writers = startWriters(database.url, 8, DURATION, importing)
  const poller = startPoller(index)
  let writing = true
  const flushing = (async () => {
    while (writing) {
      await makeTestSegments(pool, { flushed: 32n, merged: 256n }).catch(unlessOvertaken)
      await setTimeout(50)
    }
  })()
  for (let kill = 0; kill < kills; kill++) {
    await setTimeout(DURATION / (kills + 1))
    writers.killOne()
  }
  await writers.done
  writing = false
  await flushing
  await poller.finish()
  const { rows } = await pool.query<{ id: string }>('select id from articles')
  const missed = rows.filter(({ id }) => !poller.seen.has(id)).length
  t.comment(`${missed} of ${rows.length} articles missed`)
  return { index, missed, all: rows.length, disorder: poller.disorder }
}

t.test(
  'decision 23: a poller misses nothing of writers and imports, some of them killed',
  async t => {
    const database = await createTestDatabase(t)
    const { index, missed, all, disorder } = await pollWhileWriting(t, database, 4, 2)
    t.ok(all > 30, `writers write: ${all}`)
    t.equal(missed, 0)
    t.same(disorder, [])
    t.same(
      await database.query(
        'select from articles a join articles b on b.seq = a.seq + 1 where b.ingested_at < a.ingested_at or a.ingested_at > now()',
      ),
      [],
      'times grow with the numbers and none is ahead of the clock',
    )
    const gaps = await database.query('select count(*)::int = max(seq) as whole from articles')
    t.same(gaps, [{ whole: true }], 'numbers have no gaps, whoever was killed')
    const rows = await database.query(
      'select first_seq as first, last_seq as last from segments order by first_seq',
    )
    t.ok(
      rows.length > 0 &&
        rows.every(({ first }, at) => Number(first) === Number(rows[at - 1]?.last ?? 0) + 1),
      `${rows.length} segments have no gaps and no article twice`,
    )
    t.equal(await index.count(EVERYTHING), all)
  },
)

t.test('decision 23: the same poller misses articles that are stamped with now()', async t => {
  const database = await createTestDatabase(t)
  await database.query(`
    create function stamp_with_now() returns trigger language plpgsql as
      'begin new.ingested_at = date_trunc(''milliseconds'', now()); return new; end'`)
  await database.query(
    'create trigger stamp before insert on articles for each row execute function stamp_with_now()',
  )
  t.ok((await pollWhileWriting(t, database, 0, Infinity)).missed > 0)
})

t.test('a state of a history that was undone hides no article that gets its numbers', async t => {
  const { pool, search, add } = await openArchiveIndex(t)
  const total = async (index: SearchIndex, state?: IndexState) =>
    (await index.search(EVERYTHING, null, state && { state })).total
  await add(randomArticles(createRandom(1), 5))
  const state = (await readRow<IndexState>(
    pool,
    `select ${INDEX_STATE.columns} from ${INDEX_STATE.tables}`,
  ))!
  const before = await total(search, { ...state, lastSeq: state.lastSeq + 20n })
  await add(randomArticles(createRandom(3), 20))
  const fresh = openTestIndex(pool)
  const all = await total(fresh)
  await fresh.close()
  t.ok(all > before + 5, `${before} articles, then ${all}`)
  t.equal(await total(search), all)
})
