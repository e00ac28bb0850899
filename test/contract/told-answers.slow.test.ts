import t, { type Test } from 'tap'
import { openIndex } from '#search/index'
import { startTelling } from '#services/api/desk/telling'
import { noteDelivered, takeMessages } from '#services/notifier/message'
import { openCopyGroups } from '#shared/copies/pass'
import { putAlert } from '#shared/desk/alerts/alerts'
import { createLogger } from '#shared/log/logger'
import { createKey } from '#shared/plans/keys'
import { createPool, type Pool, readRow } from '#shared/postgres/pool'
import { keepAlert } from '#test/alerts'
import { createTestPool, PATIENT } from '#test/database'
import { until } from '#test/fleet'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import { PLAN } from './api.ts'

/*
 * A message is an answer that waits. It ends with its question, and with the history of the
 * database from which it was read.
 */

const log = createLogger('test', 'silent')

/** A database with an alert on `q=brug`, and articles that it has not looked at. */
async function begin(test: Pick<Test, 'teardown'>, ...titles: string[]) {
  const { database, pool: own } = await createTestPool(test)
  // The functions of this schema are found before those of the catalogue.
  const settings = { search_path: 'public,pg_catalog' }
  const pool: Pool = createPool(database.url, 'test', () => {}, { ...PATIENT, settings })
  test.teardown(() => pool.end())
  const { key } = await createKey(own, 'test', PLAN)
  const alert = await keepAlert(own, key.id, 'q=brug', { to: 'http://127.0.0.1:9/' })
  const put = (withinDays: number | null, when = 'at once') =>
    putAlert(own, key.id, alert.searchId, { ...alert, when, withinDays })
  const { indexer, write } = openTestWriter(own, 3_600_000)
  await write(titles.map((title, at) => newArticle(at, { title })))
  await indexer.close()
  const index = openIndex(pool)
  test.teardown(() => index.close())
  const messages = async () =>
    (
      await own.query<{ id: string; seqs: string[]; more: number }>(
        'select message_id as id, seqs, more from alert_messages where delivered_at is null',
      )
    ).rows
  const place = async () =>
    (await readRow<{ seq: bigint }>(own, 'select seq from search_alerts'))!.seq
  const tell = async (told: Pick<typeof index, 'collect' | 'articles'> = index) => {
    const telling = startTelling(pool, told, log)
    const isLooked = "search_alerts where due_at > now() + interval '10 s'"
    const isDone = async () => (await messages()).length > 0 || (await database.count(isLooked)) > 0
    await until(isDone, 20_000).finally(telling.close)
  }
  return { pool: own, put, index, messages, place, tell }
}

t.test('numbers of another history are never written', async t => {
  const { index, messages, place, tell } = await begin(t, 'brug een', 'brug twee')
  await tell({
    collect: index.collect,
    articles: async seqs => (await index.articles(seqs)).map(one => ({ ...one, id: 'art_lost' })),
  })
  t.same([await messages(), await place()], [[], 0n], 'another article has the number')
})

t.test('a place of another history is never written', async t => {
  const { pool, index, messages, place, tell } = await begin(t, 'iets anders')
  await tell({
    articles: index.articles,
    async collect(query, create, range) {
      const found = await index.collect(query, create, range)
      await pool.query(
        "create or replace function pg_walfile_name(pg_lsn) returns text language sql as $$select '00000009'$$",
      )
      return found
    },
  })
  t.same([await messages(), await place()], [[], 0n], 'the primary has another timeline')
})

t.test('who searches for too long moves no place past the message of another process', async t => {
  const { pool, index, messages, place, tell } = await begin(t)
  const { indexer, write } = openTestWriter(pool, 3_600_000)
  t.teardown(() => indexer.close())
  const body = Array.from({ length: 120 }, (_, at) => `woord${at}`).join(' ')
  await write([newArticle(0, { title: 'brug', body })])
  await openCopyGroups(pool).pass(new AbortController().signal)
  const slow = Promise.withResolvers<void>()
  const searched = Promise.withResolvers<void>()
  const late = startTelling(
    pool,
    {
      articles: index.articles,
      async collect(query, create, range) {
        const found = await index.collect(query, create, range)
        searched.resolve()
        await slow.promise
        return found
      },
    },
    log,
  )
  await searched.promise
  await pool.query('update search_alerts set due_at = now()')
  await tell()
  t.same((await messages()).length, 1)
  slow.resolve()
  await late.close()
  t.equal(await place(), 0n, 'if the message is withdrawn, its article is found again')
})

t.test('a burst is searched once, and told whole', async t => {
  const wanted = Array.from({ length: 250 }, (_, at) => `brug ${at}`)
  const { pool, index, messages, place, tell } = await begin(t, ...wanted)
  let searches = 0
  const told: string[] = []
  while (told.length < wanted.length) {
    await pool.query('update search_alerts set due_at = now()')
    await tell({
      articles: index.articles,
      collect(query, create, range) {
        searches++
        return index.collect(query, create, range)
      },
    })
    const [{ id } = { id: '' }] = await messages()
    const [taken] = await takeMessages(pool, [id])
    told.push(...taken!.seqs.map(String))
    await noteDelivered(pool, taken!, taken!.ids)
  }
  t.same(
    told,
    wanted.map((_, at) => String(at + 1)),
  )
  t.equal(searches, 1)
  t.equal(await place(), 250n)
})

t.test('a digest tells one message of a burst, and counts the rest', async t => {
  const titles = Array.from({ length: 250 }, (_, at) => `brug ${at}`)
  const { pool, put, messages, place, tell } = await begin(t, ...titles)
  await put(null, '03:00')
  await pool.query('update search_alerts set due_at = now()')
  await tell()
  const [{ id, seqs, more } = { id: '', seqs: [], more: 0 }] = await messages()
  t.same([seqs.length, more], [100, 150])
  const [taken] = await takeMessages(pool, [id])
  await noteDelivered(pool, taken!, taken!.ids)
  t.equal(await place(), 250n, 'the next digest has none of them')
})

const ofDaysAgo = (number: number, days: number) =>
  newArticle(number, { title: 'brug', publishedAt: new Date(Date.now() - days * 86_400_000) })

t.test('what is new is told behind all that came late, and it alone counts', async t => {
  const { pool, put, tell } = await begin(t)
  const { indexer, write } = openTestWriter(pool, 3_600_000)
  t.teardown(() => indexer.close())
  // More than one search looks at.
  for (let from = 0; from < 10_500; from += 3_500)
    await write(Array.from({ length: 3_500 }, (_, at) => ofDaysAgo(from + at, 31)))
  const written = await write([ofDaysAgo(10_500, 29), ofDaysAgo(10_501, 0)])
  for (const when of ['03:00', 'at once']) {
    await put(30, when)
    await pool.query('update search_alerts set due_at = now()')
    await tell()
    const { rows } = await pool.query<{ id: string }>(
      'select id, more, found from alert_messages m join articles a on a.seq = any (m.seqs) order by a.seq',
    )
    t.same(
      rows,
      written.map(one => ({ id: one!.id, more: 0, found: 2 })),
      when,
    )
    await pool.query('delete from alert_messages')
  }
})

t.test('other days are another question: what waits is withdrawn, and found anew', async t => {
  const { pool, put, messages, place, tell } = await begin(t)
  const { indexer, write } = openTestWriter(pool, 3_600_000)
  t.teardown(() => indexer.close())
  await write(Array.from({ length: 151 }, (_, at) => ofDaysAgo(at, at === 130 ? 0 : 31)))
  await tell()
  const [{ id: first, seqs } = { id: '', seqs: [] }] = await messages()
  t.equal(seqs.length, 100)
  const [taken] = await takeMessages(pool, [first])
  await put(7)
  await noteDelivered(pool, taken!, taken!.ids)
  t.equal(await place(), 0n, 'what was on its way moves nothing')
  await tell()
  const [second] = await messages()
  t.same(second?.seqs, ['131'], 'nor is the rest of it told')
  await put(null)
  t.same(await takeMessages(pool, [second!.id]), [], 'what waits is withdrawn')
  t.same(await messages(), [])
})
