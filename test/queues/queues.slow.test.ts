import t from 'tap'
import { createLogger } from '#shared/log/logger'
import { openQueues, type Queues } from '#shared/queues/queues'
import { createTestDatabase } from '#test/database'
import { until } from '#test/fleet'
import { startRedis } from './redis.ts'

const log = createLogger('test', 'silent')
const database = await createTestDatabase(t)
const redis = await startRedis()
t.teardown(() => redis.stop())

for (const store of ['Postgres', 'Redis'] as const) {
  const skip = store === 'Redis' && redis.url === null ? 'no redis-server on this machine' : false
  const open = (): Queues =>
    openQueues(
      { DATABASE_URL: database.url, REDIS_URL: store === 'Redis' ? (redis.url ?? '') : '' },
      log,
    )

  t.test(
    `${store}: a key that waits is not queued twice, and counts show it`,
    { skip },
    async t => {
      const queues = open()
      await queues.add('normalise', [
        { key: 'a', data: { pageNo: 'a' } },
        { key: 'a', data: { pageNo: 'a' } },
        { key: 'b', data: { pageNo: 'b' } },
      ])
      t.match((await queues.counts()).normalise, { waiting: 2, active: 0, delayed: 0, failed: 0 })
      await queues.drain('normalise')
      t.match((await queues.counts()).normalise, { waiting: 0 })
      await queues.close()
    },
  )

  t.test(
    `${store}: a message that is done or failed does not stop the next with its key`,
    { skip },
    async t => {
      const queues = open()
      let calls = 0
      const worker = queues.work(
        'normalise',
        async () => {
          calls += 1
          if (calls === 1) throw new Error('fails the first time')
        },
        { concurrency: 1 },
      )
      for (const expected of [1, 2, 3]) {
        await queues.add('normalise', [{ key: '7', data: { pageNo: '7' } }])
        await until(() => calls === expected, 60_000)
        await until(async () => {
          const { waiting, active, failed } = (await queues.counts()).normalise
          return waiting + active + failed === 0
        }, 60_000)
      }
      t.equal(calls, 3)
      await worker.close()
      await queues.close()
    },
  )
  t.test(
    `${store}: a worker that closes waits for what is in hand and tells it so`,
    { skip },
    async t => {
      const queues = open()
      let told = false
      let finished = false
      let started = false
      const worker = queues.work(
        'embed',
        async (_data, signal) => {
          started = true
          await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
          told = true
          await new Promise(resolve => setTimeout(resolve, 50))
          finished = true
        },
        { concurrency: 1 },
      )
      await queues.add('embed', [{ key: '1', data: { seqs: ['1'] } }])
      await until(() => started, 60_000)
      await worker.close()
      t.ok(told, 'the processor was told')
      t.ok(finished, 'and waited for')
      await queues.close()
    },
  )

  t.test(`${store}: a message whose worker fell silent is given to another`, { skip }, async t => {
    const queues = open()
    const taken: string[] = []
    let release = () => {}
    const hang = new Promise<void>(resolve => {
      release = resolve
    })
    const first = queues.work(
      'normalise',
      async () => {
        taken.push('first')
        await hang
      },
      { concurrency: 1, lockDuration: 1_000 },
    )
    await queues.add('normalise', [{ key: 'slow', data: { pageNo: 'slow' } }])
    await until(() => taken.length === 1, 60_000)
    await first.close(true) // as a killed process would: the lock is no longer renewed
    const second = queues.work('normalise', async () => void taken.push('second'), {
      concurrency: 1,
      lockDuration: 1_000,
    })
    await until(() => taken.includes('second'), 60_000)
    t.same(taken, ['first', 'second'])
    release()
    await second.close()
    await queues.close()
  })
}

const skip = redis.url === null && 'no redis-server on this machine'
t.test('Redis: a flushed store takes new messages at once', { skip }, async t => {
  const queues = openQueues({ DATABASE_URL: database.url, REDIS_URL: redis.url ?? '' }, log)
  const seen: string[] = []
  const worker = queues.work('normalise', async ({ pageNo }) => void seen.push(pageNo), {
    concurrency: 2,
  })
  await queues.add('normalise', [{ key: 'one', data: { pageNo: 'one' } }])
  await until(() => seen.length === 1, 60_000)
  redis.flush()
  await queues.add('normalise', [{ key: 'two', data: { pageNo: 'two' } }])
  await until(() => seen.includes('two'), 60_000)
  t.same(seen, ['one', 'two'])
  await worker.close()
  await queues.close()
})
