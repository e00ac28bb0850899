import t from 'tap'
import { claimDue } from '#services/embedder/due-dispatcher'
import { createTestPool } from '#test/database'

const { pool } = await createTestPool(t)

const promise = (count: number) =>
  pool.query(
    `insert into embeddings (seq, due_at)
     select coalesce((select max(seq) from embeddings), 0) + n, now() - interval '1 minute'
       from generate_series(1, $1::int) n`,
    [count],
  )

t.test('a claim takes at most what it may, whatever Postgres plans for', async t => {
  // Autovacuum would correct the statistics in the middle of the test.
  await pool.query('alter table embeddings set (autovacuum_enabled = off)')
  for (const known of [0, 1, 2, 5]) {
    await pool.query('delete from embeddings')
    await promise(known)
    await pool.query('vacuum analyze embeddings')
    await promise(100)
    t.equal((await claimDue(pool, 10)).length, 10, `statistics of ${known}`)
    t.equal(
      (await pool.query('select from embeddings where claimed_until is not null')).rowCount,
      10,
    )
  }
})
