import { once } from 'node:events'
import t from 'tap'
import { WORD_RULES } from '#search/analysis/index'
import { readPlace } from '#services/api/desk/place'
import { createQuestionSets } from '#services/api/semantic/candidate-sets'
import { NO_PERMITS } from '#services/api/semantic/query'
import { boundArticles } from '#shared/articles/bounds'
import { openCopyGroups, openGroupCheck } from '#shared/copies/pass'
import { keepCitation } from '#shared/desk/citations'
import { createKey } from '#shared/plans/keys'
import { createPool, type Pool, readColumn, transaction } from '#shared/postgres/pool'
import { PLAN } from '#test/contract/api'
import { createTestDatabase, PATIENT } from '#test/database'
import { generatedTexts } from '#test/search/copy-histories'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import { openDoor } from './door.ts'
import { startTestCluster } from './servers.ts'

/*
 * An asynchronous failover undoes article 23, and another article gets its number. What was read of
 * the one is never written for the other.
 */

const cluster = await startTestCluster(1)
t.teardown(() => cluster.stop())
process.env.DATABASE_URL = cluster.url
process.env.TEST_SUPERUSER_URL = cluster.primary.in(cluster.url)
const database = await createTestDatabase()
const door = await openDoor(() => new URL(cluster.current().url))
t.teardown(() => door.close())
const open = () => createPool(door.to(database.url), 'test', () => {}, PATIENT)
const pool = open()
t.teardown(() => pool.end())

const REACH = { historyStart: new Date(0), publishedAfter: null, publishedBefore: null }
const texts = generatedTexts(24).map(text => [...text, ...text].join('\n'))
async function write(...keys: number[]): Promise<void> {
  const { indexer, writer } = openTestWriter(pool)
  await writer.write(
    keys.map(key => newArticle(key, { title: `brug ${key}`, body: texts[key]!, snippet: 'brug' })),
  )
  await indexer.close()
}

/** A pool of which the next transaction waits, with all its other connections ended. */
function halted(): { pool: Pool; reached: Promise<void>; go(): void } {
  const pool = open()
  t.teardown(() => pool.end())
  const reached = Promise.withResolvers<void>()
  const going = Promise.withResolvers<void>()
  const { connect } = pool
  let transactions = 0
  // Statements that are no part of a transaction call this with a callback.
  pool.connect = function halting(...given: unknown[]) {
    // The first one has the lock of the pass.
    if (given.length > 0 || transactions++ !== 1) return Reflect.apply(connect, pool, given)
    reached.resolve()
    return going.promise.then(() => Reflect.apply(connect, pool, given))
  }
  return { pool, reached: reached.promise, go: going.resolve }
}

t.test('nothing is written that was read of an article which a failover has undone', async t => {
  await write(...Array.from({ length: 22 }, (_, at) => at))
  const never = new AbortController().signal
  await openCopyGroups(pool).pass(never)
  const { key } = await createKey(pool, 'test', PLAN)
  const [standby] = cluster.standbys
  const replayed = async () => (await standby!.query('select pg_last_wal_replay_lsn() as at'))[0]
  await cluster.primary.query('select pg_switch_wal()')
  const [{ at } = { at: '' }] = await cluster.primary.query('select pg_current_wal_lsn() as at')
  while (String((await replayed())?.at) < String(at)) await new Promise(setImmediate)
  standby!.pause()
  await cluster.primary.query('select pg_terminate_backend(pid) from pg_stat_replication')

  await write(22)
  const passing = halted()
  const groups = openCopyGroups(passing.pool)
  const passed = groups.pass(never)
  await passing.reached
  const asked = await createQuestionSets(pool, {
    serving: async () => null,
    nearest: async () => [{ seq: 23n, id: '', score: 0.9 }],
  }).find({ text: 'brug', planCountries: PLAN.countries, reach: REACH }, NO_PERMITS)
  const place = await readPlace(pool, [22n, 23n])
  t.same([place.seq, place.ids.size], [23n, 2])
  const ended = once(pool, 'error')
  door.shut()
  await ended
  await cluster.failOver()
  door.open()
  await write(23)
  const after = await readPlace(pool, [22n, 23n])
  t.same([after.seq, after.ids.get(22n)], [23n, place.ids.get(22n)])
  t.not(after.ids.get(23n), place.ids.get(23n), 'number 23 is another article')
  t.not(after.history, place.history)

  passing.go()
  await passed
  await groups.pass(never)
  t.equal(
    (await readColumn(pool, 'select id from copy_sketches where seq = 23'))[0],
    after.ids.get(23n),
  )
  const faults: string[] = []
  const { next } = openGroupCheck(pool)
  for (let seq: number | null = 0; seq !== null; ) seq = await next(seq, text => faults.push(text))
  t.same(faults, [], 'the groups are those of the articles that are there')

  await t.rejects(asked!.keep(), { name: 'VectorFailure' })
  t.same(await readColumn(pool, 'select seqs from semantic_sets'), [])

  const cited = (ids: ReadonlyMap<bigint, string>) =>
    [...ids].map(([seq, id]) => ({ seq, id, mark: 1 }))
  const made = {
    digest: 'c'.repeat(64),
    search: 'q=brug',
    countries: PLAN.countries,
    since: new Date(0),
    watermark: 23n,
    asOf: place.at,
    rules: WORD_RULES,
    model: null,
    bias: null,
  }
  for (const [articles, history] of [
    [cited(place.ids), place.history],
    [cited(place.ids), after.history],
    [cited(after.ids), place.history],
  ] as const)
    await t.rejects(keepCitation(pool, key.id, made, { articles, history }), {
      name: 'OtherArticles',
    })
  t.match(
    await keepCitation(pool, key.id, made, {
      articles: cited(after.ids),
      history: after.history,
    }),
    { isNew: true },
  )

  const bounds = cited(place.ids).map(one => ({
    ...one,
    pageNo: null,
    snippet: '',
    isBounded: true,
    hasVector: false,
  }))
  const bounded = await transaction(pool, client => boundArticles(client, bounds))
  t.same(
    bounded.map(({ seq }) => seq),
    [22n],
  )
  t.same(await readColumn(pool, "select seq from article_texts where snippet = ''"), [22n])
  t.same(await readColumn(pool, 'select seq from embeddings where seq > 21'), [23n])
})
