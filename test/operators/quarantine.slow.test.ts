import t from 'tap'
import { openCopyGroups } from '#shared/copies/pass'
import { createTestPool } from '#test/database'
import { runScript } from '#test/script'
import { sentence } from '#test/search/copy-histories'
import { newArticle, openTestWriter } from '#test/search/short-articles'

t.test(
  'an article whose vector is given up leaves its group, and its copies find another',
  async t => {
    const { database, pool } = await createTestPool(t)
    const { indexer, write } = openTestWriter(pool)
    t.teardown(() => indexer.close())
    const body = sentence(90)
    const articles = [1, 2, 3].map(number => newArticle(number, { body }))
    await write(articles)
    const groups = openCopyGroups(pool)
    const { signal } = new AbortController()
    const firsts = async () => {
      await groups.pass(signal)
      const rows = await database.query(
        'select first_seq::int as first from copy_sketches order by seq',
      )
      return rows.map(({ first }) => first)
    }
    t.same(await firsts(), [1, 1, 1])
    await pool.query('update embeddings set failed_at = now() where seq = 1')
    const env = { DATABASE_URL: database.url, REDIS_URL: '' }
    const { code, out, err } = await runScript(
      'queues',
      ['drain', 'quarantine', '--all', '--json'],
      env,
    )
    t.equal(code, 0, err)
    t.match(JSON.parse(out), { count: 1 })
    t.same(await firsts(), [null, 2, 2])
    t.equal(await database.count('article_rights where not vector and article_seq = 1'), 1)
    t.equal(await database.count('embeddings where seq = 1'), 0)
    await pool.query(`
      update embeddings set failed_at = now() where seq = 2;
      update embeddings set embedded_at = now() where seq = 3`)
    const retry = (...words: string[]) => runScript('queues', ['retry', ...words], env)
    t.match(await retry('page:999', 'embedding:1', 'embedding:2', 'embedding:3'), {
      code: 1,
      err: /^Gave back 1 of 4: embedding:2\.\npage:999 is unknown\.\n.*:1 is unknown\.\n.*:3 has its vector/m,
    })
    const again = await retry('embedding:2', '--json')
    t.same(JSON.parse(again.out), {
      action: 'retry',
      count: 0,
      dry_run: false,
      ids: [],
      left: [{ id: 'embedding:2', why: 'has not failed: it waits for the embedder' }],
    })
  },
)
