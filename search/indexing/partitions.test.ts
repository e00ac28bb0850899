import t from 'tap'
import { createPool } from '../../shared/postgres/pool.ts'
import { createTestDatabase } from '../../test/database.ts'
import { ensurePartitions, PARTITION_SIZE } from './writer.ts'

t.test('there is always a partition for the articles to come, made before it is needed', async t => {
  const database = await createTestDatabase()
  const pool = createPool(database.url, 'test', () => {})
  t.teardown(async () => {
    await pool.end()
    await database.drop()
  })
  const names = async () => {
    const { rows } = await pool.query<{ name: string }>(
      "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'articles'::regclass order by 1",
    )
    return rows.map(row => row.name)
  }
  const insert = (seq: bigint) =>
    pool.query("insert into articles values ($1, $2, null, null, 1, '{}', 'NL', 'nl')", [seq, `id${seq}`])

  t.equal(await ensurePartitions(pool, 0n), PARTITION_SIZE)
  t.same(await names(), ['articles_p0'])
  await t.rejects(insert(PARTITION_SIZE), { message: /no partition/ })
  const nearlyFull = PARTITION_SIZE - 1_000n
  // Two processes at once, then again: each finds it done.
  const rooms = await Promise.all([ensurePartitions(pool, nearlyFull), ensurePartitions(pool, nearlyFull)])
  t.same(rooms, [2n * PARTITION_SIZE, 2n * PARTITION_SIZE])
  t.equal(await ensurePartitions(pool, nearlyFull), 2n * PARTITION_SIZE)
  t.same(await names(), ['articles_p0', 'articles_p1'])
  await insert(PARTITION_SIZE - 1n)
  await insert(PARTITION_SIZE)
  t.same((await pool.query('select seq from articles order by seq')).rows, [
    { seq: PARTITION_SIZE - 1n },
    { seq: PARTITION_SIZE },
  ])
})
