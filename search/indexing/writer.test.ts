import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { createPool, transaction } from '../../shared/postgres/pool.ts'
import { createTestPool, holdLock, lockWaits } from '../../test/database.ts'
import { until } from '../../test/fleet.ts'
import { newArticle, openTestWriter } from '../../test/search/short-articles.ts'
import { openDoor } from '../../test/standbys/door.ts'
import type { NewArticle } from './new-article.ts'
import { openArticleWriter, takeNumbers } from './writer.ts'

const { database, pool } = await createTestPool(t)

const article = (address: string, more: Partial<NewArticle> = {}): NewArticle =>
  newArticle(0, {
    url: `https://${address}`,
    addresses: [address],
    title: `Titel van ${address}`,
    authors: ['Jan Jansen'],
    ...more,
  })
const { writer, indexer } = openTestWriter(pool)
const index = (articles: NewArticle[], embedDelay = 0) =>
  openArticleWriter({ pool, indexer, embedDelay }).write(articles)
const rows = async (sql: string, values: unknown[] = []) => (await pool.query(sql, values)).rows

t.test(
  'decision 37: an article known by any of its addresses is known by all of them from then on',
  async t => {
    const [first] = await index([
      article('a.example/1', { addresses: ['a.example/1', 'a.example/amp/1'] }),
    ])
    t.equal(first?.outcome, 'indexed')
    const again = await index([
      article('a.example/2', { addresses: ['a.example/2', 'a.example/amp/1'], title: 'Gewijzigd' }),
      article('a.example/2', { title: 'Weer anders' }),
    ])
    t.same(again, [
      { outcome: 'known', id: first?.id },
      { outcome: 'known', id: first?.id },
    ])
    t.same(
      await rows('select title from article_texts where url like $1', ['https://a.example/%']),
      [{ title: 'Titel van a.example/1' }],
    )
  },
)

t.test('decision 37: of several sightings in one batch the first is the article', async t => {
  const results = await index([
    article('b.example/1'),
    article('b.example/1', { title: 'Nog eens' }),
    article('b.example/2'),
  ])
  t.match(results, [{ outcome: 'indexed' }, { outcome: 'known' }, { outcome: 'indexed' }])
  t.equal(results[0]?.id, results[1]?.id)
})

t.test(
  'decision 37: two outlets that print the same text at the same address are two articles',
  async t => {
    const results = await index([
      article('wire.example/1'),
      article('wire.example/1', { outlet: { name: 'Anders', domain: 'anders.example' } }),
    ])
    t.match(results, [{ outcome: 'indexed' }, { outcome: 'indexed' }])
    t.not(results[0]?.id, results[1]?.id)
  },
)

t.test('an id is kept when it is free, and derived from outlet and address otherwise', async t => {
  const [kept, derived, taken] = await index([
    article('c.example/1', { id: 'my-id' }),
    article('c.example/2'),
    article('c.example/3', { id: 'my-id' }),
  ])
  t.equal(kept?.id, 'my-id')
  t.match(derived?.id, /^[0-9a-z]{24}$/)
  t.match(taken?.id, /^[0-9a-z]{24}$/)
  t.same(
    await index([article('c.example/3')]),
    [{ outcome: 'known', id: taken?.id }],
    'its addresses know its id',
  )
})

t.test(
  'the scheduled embedding, and more work of the caller, share the articles’ transaction',
  async t => {
    const before = await rows('select last_seq from ingest_clock')
    const failing = writer.write([article('f.example/1'), article('f.example/2')], {
      async within(client, results) {
        t.match(results, [{ outcome: 'indexed' }, { outcome: 'indexed' }])
        await client.query(
          "insert into authors (id, outlet, name, folded_name) values ('within', 'x', 'x', 'x')",
        )
        throw new Error('thought better of it')
      },
    })
    await t.rejects(failing, { message: 'thought better of it' })
    t.same(await rows('select last_seq from ingest_clock'), before)
    t.same(await rows("select id from authors where id = 'within'"), [])
    t.same(await rows("select address from article_addresses where address like 'f.example/%'"), [])

    const [made] = await index([article('f.example/1')], 3_600_000)
    const seq = made?.outcome === 'indexed' ? made.seq : 0n
    const [due] = await rows(
      "select due_at > now() + interval '59 minutes' as later from embeddings where seq = $1",
      [seq],
    )
    t.same(due, { later: true })
  },
)

t.test('large batches are cut so that nobody holds the clock for long', async t => {
  const write = async (count: number, more: Partial<NewArticle> = {}) => {
    const sizes: number[] = []
    const articles = Array.from({ length: count }, (_, number) =>
      article(`h.example/${count}/${number}`, more),
    )
    const results = await writer.write(articles, {
      async within(_, outcomes) {
        sizes.push(outcomes.length)
      },
    })
    t.equal(new Set(results.map(result => result.id)).size, count)
    return sizes
  }
  t.same(await write(120), [50, 50, 20])
  t.same(await write(3, { body: 'woord '.repeat(150_000) }), [1, 1, 1])
})

t.test(
  'decision 23: stamps go on from the last one where the clock is behind it, as on a new primary',
  async t => {
    await rows(
      "update ingest_clock set last_at = date_trunc('milliseconds', now()) + interval '1 hour'",
    )
    const ahead = (await rows('select last_at from ingest_clock'))[0]?.last_at.getTime()
    const ids: (string | undefined)[] = []
    for (const number of [1, 2]) ids.push((await index([article(`late.example/${number}`)]))[0]?.id)
    const found = await rows('select ingested_at from articles where id = any($1) order by seq', [
      ids,
    ])
    const stamps = found.map(({ ingested_at }) => ingested_at.getTime() - ahead)
    t.same(stamps, [1, 2])
  },
)

t.test('an import may wait for the clock for long, and holds it for a bounded time', async t => {
  const limit = 2_000
  const release = await holdLock(pool, 'select from ingest_clock for update')
  const waiting = transaction(pool, async client => {
    const taking = takeNumbers(client, 1, 1, limit)
    taking.catch(() => {}) // awaited below
    await until(async () => (await lockWaits(pool)) > 0, 30_000)
    await setTimeout(limit + 1_000)
    await release()
    await taking
  })
  await t.resolves(waiting, 'the time of waiting does not count')
  const [before] = await rows('select last_seq from ingest_clock')
  await t.rejects(
    transaction(pool, async client => {
      await takeNumbers(client, 1, 1, limit)
      await client.query('select pg_sleep(10)')
    }),
    /transaction timeout|terminat/i,
  )
  t.same(await rows('select last_seq from ingest_clock'), [before])
  await pool.query('update ingest_clock set last_seq = last_seq - 1')
})

t.test(
  'who waits for the clock ends a process that was stopped between two messages of a statement',
  async t => {
    const limit = 2_000
    const going = Promise.withResolvers<'pass'>()
    let isStopped = false
    const door = await openDoor(
      () => new URL(database.url),
      () => (isStopped ? going.promise : 'pass'),
    )
    const own = createPool(door.to(database.url), 'stopped', () => {}, {
      max: 1,
      statementTimeout: 0,
    })
    const stopped = transaction(own, async client => {
      await takeNumbers(client, 1, 1, limit)
      await client.query('set local transaction_timeout = 0') // as before Postgres 17
      isStopped = true
      await client.query('select $1::int', [1])
    })
    stopped.catch(() => {}) // awaited below
    await until(() => isStopped, 30_000)
    const [before] = await rows('select last_seq from ingest_clock')
    const writer = openArticleWriter({
      pool,
      indexer: openTestWriter(pool).indexer,
      embedDelay: 0,
      holdsClock: limit,
    })
    const [written] = await writer.write([newArticle(900)])
    t.match(written, { outcome: 'indexed', seq: before.last_seq + 1n })
    going.resolve('pass')
    await t.rejects(stopped, /terminat/)
    await own.end()
    await door.close()
  },
)
