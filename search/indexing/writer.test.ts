import t from 'tap'
import { createTestPool } from '../../test/database.ts'
import { newArticle } from '../../test/search/short-articles.ts'
import { openIndexer } from '../indexer.ts'
import type { NewArticle } from './article.ts'
import { openArticleWriter } from './writer.ts'

const { pool } = await createTestPool(t)

const article = (address: string, more: Partial<NewArticle> = {}): NewArticle =>
  newArticle(0, {
    url: `https://${address}`,
    addresses: [address],
    title: `Titel van ${address}`,
    authors: ['Jan Jansen'],
    ...more,
  })
const indexer = openIndexer(pool)
const writer = openArticleWriter({ pool, indexer, embedDelay: 0 })
const index = (articles: NewArticle[], embedDelay = 0) =>
  openArticleWriter({ pool, indexer, embedDelay }).write(articles)
const rows = async (sql: string, values: unknown[] = []) => (await pool.query(sql, values)).rows

t.test('decision 37: an article known by any of its addresses is known by all of them from then on', async t => {
  const [first] = await index([article('a.example/1', { addresses: ['a.example/1', 'a.example/amp/1'] })])
  t.equal(first?.outcome, 'indexed')
  const again = await index([
    article('a.example/2', { addresses: ['a.example/2', 'a.example/amp/1'], title: 'Gewijzigd' }),
    article('a.example/2', { title: 'Weer anders' }),
  ])
  t.same(again, [
    { outcome: 'known', id: first?.id },
    { outcome: 'known', id: first?.id },
  ])
  t.same(await rows('select title from article_texts where url like $1', ['https://a.example/%']), [
    { title: 'Titel van a.example/1' },
  ])
})

t.test('decision 37: of several sightings in one batch the first is the article', async t => {
  const results = await index([
    article('b.example/1'),
    article('b.example/1', { title: 'Nog eens' }),
    article('b.example/2'),
  ])
  t.same(
    results.map(result => result.outcome),
    ['indexed', 'known', 'indexed'],
  )
  t.equal(results[0]?.id, results[1]?.id)
})

t.test('decision 37: two outlets that print the same text at the same address are two articles', async t => {
  const results = await index([
    article('wire.example/1'),
    article('wire.example/1', { outlet: { name: 'Anders', domain: 'anders.example' } }),
  ])
  t.same(
    results.map(result => result.outcome),
    ['indexed', 'indexed'],
  )
  t.not(results[0]?.id, results[1]?.id)
})

t.test('an id is kept when it is free, and derived from outlet and address otherwise', async t => {
  const [kept, derived, taken] = await index([
    article('c.example/1', { id: 'my-id' }),
    article('c.example/2'),
    article('c.example/3', { id: 'my-id' }),
  ])
  t.equal(kept?.id, 'my-id')
  t.match(derived?.id, /^[0-9a-z]{24}$/)
  t.match(taken?.id, /^[0-9a-z]{24}$/)
  t.same(await index([article('c.example/3')]), [{ outcome: 'known', id: taken?.id }], 'its addresses know its id')
})

t.test('decision 23: an archive’s own ingestion time is kept, a null too', async t => {
  const own = new Date('2019-12-31T23:59:59.999Z')
  const results = await index([
    article('e.example/1', { ingestedAt: own }),
    article('e.example/2', { ingestedAt: null }),
  ])
  const found = await rows('select ingested_at from articles where id = any($1) order by seq', [
    results.map(one => one.id),
  ])
  t.same(found, [{ ingested_at: own }, { ingested_at: null }])
})

t.test('the scheduled embedding, and more work of the caller, share the articles’ transaction', async t => {
  const before = await rows('select last_seq from ingest_clock')
  const failing = writer.write([article('f.example/1'), article('f.example/2')], {
    async within(client, results) {
      t.same(
        results.map(result => result.outcome),
        ['indexed', 'indexed'],
      )
      await client.query("insert into authors (id, outlet, name, folded_name) values ('within', 'x', 'x', 'x')")
      throw new Error('thought better of it')
    },
  })
  await t.rejects(failing, { message: 'thought better of it' })
  t.same(await rows('select last_seq from ingest_clock'), before)
  t.same(await rows("select id from authors where id = 'within'"), [])
  t.same(await rows("select address from article_addresses where address like 'f.example/%'"), [])

  const [made] = await index([article('f.example/1')], 3_600_000)
  const seq = made?.outcome === 'indexed' ? made.seq : 0n
  const [due] = await rows("select due_at > now() + interval '59 minutes' as later from embeddings where seq = $1", [
    seq,
  ])
  t.same(due, { later: true })
})

t.test('characters that Postgres cannot store are left out of texts', async t => {
  const [made] = await index([article('g.example/1', { title: 'een\0twee \ud800drie', body: 'vier\0\udc00vijf' })])
  const [text] = await rows('select title, body from article_texts join articles using (seq) where id = $1', [made?.id])
  t.same(text, { title: 'een twee \ufffddrie', body: 'vier \ufffdvijf' })
})

t.test('large batches are cut so that nobody holds the clock for long', async t => {
  const articles = Array.from({ length: 120 }, (_, number) => article(`h.example/${number}`))
  const sizes: number[] = []
  const results = await writer.write(articles, {
    async within(_, outcomes) {
      sizes.push(outcomes.length)
    },
  })
  t.same(sizes, [50, 50, 20])
  t.equal(new Set(results.map(result => result.id)).size, 120)
  const long = Array.from({ length: 3 }, (_, number) =>
    article(`i.example/${number}`, { body: 'woord '.repeat(150_000) }),
  )
  sizes.length = 0
  await writer.write(long, {
    async within(_, outcomes) {
      sizes.push(outcomes.length)
    },
  })
  t.same(sizes, [1, 1, 1])
})

t.test('decision 23: stamps go on from the last one where the clock is behind it, as on a new primary', async t => {
  await rows("update ingest_clock set last_at = date_trunc('milliseconds', now()) + interval '1 hour'")
  const ahead = (await rows('select last_at from ingest_clock'))[0]?.last_at.getTime()
  const ids: (string | undefined)[] = []
  for (const number of [1, 2]) ids.push((await index([article(`late.example/${number}`)]))[0]?.id)
  const found = await rows('select ingested_at from articles where id = any($1) order by seq', [ids])
  t.same(
    found.map(({ ingested_at }) => ingested_at.getTime() - ahead),
    [1, 2],
  )
})
