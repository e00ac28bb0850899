import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createTestPool } from '../test/database.ts'
import { newArticle, openTestWriter } from '../test/search/short-articles.ts'
import { indexText } from './analysis/index.ts'
import DAMAGES from './damages.json' with { type: 'json' }
import { makeSegments } from './indexer.ts'
import type { NumberedRow } from './store/postgres-checks.ts'
import { glanceAtIndex, type Verified, verifyIndex } from './verify.ts'

const { pool } = await createTestPool(t)
const { indexer, write } = openTestWriter(pool)
t.teardown(() => indexer.close())
const articles = Array.from({ length: 20 }, (_, at) =>
  newArticle(at, {
    body: `Bericht ${at} over een brug`,
    authors: at < 10 ? ['Jan Jansen'] : [],
  }),
)
await write(articles)
// An import brought the time of one article, and of another nobody knows. One snippet is bounded.
await pool.query(`
  update articles set own_time = true, ingested_at = ingested_at - interval '1 ms' where seq = 15;
  update articles set own_time = null, ingested_at = ingested_at - interval '1 ms' where seq = 13;
  insert into article_rights (id, snippet, article_seq) select id, true, seq from articles where seq = 14;
  update article_texts set snippet = 'Bericht' where seq = 14`)
// Segments of eight articles each. Four have none.
await makeSegments(pool, { flushed: 8n, merged: 64n })

/**
 * What `verifyIndex` finds, with the kinds of it.
 *
 * @param wrong what the caller finds in its own data of articles 3 and 20
 */
async function verified(
  sample: { count: number; seed: number } | null = null,
  wrong: NumberedRow['faults'] = [],
) {
  const found: string[] = []
  let seen = 0
  const counts: Verified = await verifyIndex({
    pool,
    tokenise: async texts => texts.map(({ title, body }) => indexText(title, body)),
    sample,
    found: (kind, text, more) => found.push(`${kind}: ${text}${more ? `, ${more} more` : ''}`),
    progress() {},
    async also(_client, rows) {
      await pause(1)
      seen += rows.length
      for (const { seq, faults } of rows) if (seq === 3n || seq === 20n) faults.push(...wrong)
    },
    signal: new AbortController().signal,
  })
  return { counts, found, seen }
}

t.test('a sound index has no fault, and all of it is compared', async t => {
  const { counts: all, found, seen } = await verified()
  t.match(all, { articles: 20, segments: 2, unordered: 1 })
  t.equal(seen, 20, 'all rows are given to others, too')
  t.same(found, [])
  t.same(await glanceAtIndex(pool), [])
  const { counts } = await verified({ count: 1, seed: 3 })
  t.ok(counts.articles < 20, 'a sample is a part')
})

t.test('what the caller finds is told with the rest', async t => {
  const { found } = await verified(null, [['agencies', 'lack agencies']])
  t.same(found, ['agencies: articles 3 lack agencies', 'agencies: articles 20 lack agencies'])
})

t.test('each damage is named, with its articles or its segment', async t => {
  let before: string[] = []
  // One after another.
  for (const { sql, says } of DAMAGES) {
    const said = new RegExp(says)
    t.notOk(
      before.find(line => said.test(line)),
      `before ${sql}`,
    )
    await pool.query(`begin; set constraints all deferred; ${sql}; commit`)
    before = (await verified()).found
    t.ok(
      before.find(line => said.test(line)),
      `${sql}: ${before.join('\n')}`,
    )
  }
  t.match((await glanceAtIndex(pool)).join(), /segment/, 'a glance sees ranges and the clock')
  t.equal((await verified()).counts.unordered, 1, 'what is no article has no time')
})
