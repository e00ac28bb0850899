import t from 'tap'
import { openIndex } from '#search/index'
import { createLogger } from '#shared/log/logger'
import { createPool } from '#shared/postgres/pool'
import { startWarmUp } from './health.ts'

t.test('a process that cannot become warm counts as ready after a while', async t => {
  // No server listens at this address.
  const pool = createPool('postgres://nobody@127.0.0.1:1/nothing', 'test', () => {})
  const index = openIndex(pool)
  t.teardown(async () => {
    await index.close()
    await pool.end()
  })
  const warmUp = startWarmUp(index, createLogger('api', 'silent'), { limit: 200 })
  t.notOk(warmUp.isOver())
  await warmUp.soon(50)
  t.notOk(warmUp.isWarm())
  await warmUp.soon(300)
  t.ok(warmUp.isOver())
  t.notOk(warmUp.isWarm())
})
