import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createLogger } from '../../shared/log/logger.ts'
import { openQueues } from '../../shared/queues/queues.ts'
import { createTestDatabase } from '../database.ts'
import { openLinkTo } from '../fleet/links/link.ts'
import { until } from '../fleet.ts'

const log = createLogger('test', 'silent')
const database = await createTestDatabase(t)

t.test(
  'who starts while Postgres does not let anybody in works as soon as it does, and stays alive until then',
  async t => {
    t.setTimeout(240_000)
    const door = await openLinkTo(database.url)
    door.break()
    t.teardown(() => door.close())
    const queues = openQueues({ DATABASE_URL: door.url, REDIS_URL: '' }, log)
    const seen: string[] = []
    const worker = queues.work('normalise', async ({ pageNo }) => void seen.push(pageNo), { concurrency: 2 })
    const add = () => queues.add('normalise', [{ key: 'a', data: { pageNo: 'a' } }])
    await t.rejects(add())
    // The event loop must be free: BullMQ's worker left alone would keep it for ever.
    const began = performance.now()
    for (let n = 0; n < 10; n++) await sleep(50)
    t.ok(performance.now() - began < 3_000, 'the process goes on')

    door.mend()
    await until(async () => {
      await add()
      return seen.length > 0
    }, 60_000)
    t.same(seen[0], 'a')
    await worker.close()
    await queues.close()
  },
)
