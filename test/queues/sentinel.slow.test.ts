import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createLogger } from '#shared/log/logger'
import { openQueues } from '#shared/queues/queues'
import { freePort, until } from '#test/fleet'
import { startRedis } from './redis.ts'

const redis = await startRedis()
t.teardown(redis.stop)

const skip = redis.url === null && 'no redis-server on this machine'
t.test(
  'while no Sentinel answers, producers fail in time and workers wait; then both work',
  { skip },
  async t => {
    const { port, password } = new URL(redis.url ?? '')
    const sentinelPort = await freePort()
    const queues = openQueues(
      {
        DATABASE_URL: '',
        REDIS_URL: 'redis://127.0.0.1:1',
        REDIS_SENTINELS: [`127.0.0.1:${sentinelPort}`],
        REDIS_SENTINEL_NAME: 'of-the-test',
        REDIS_SENTINEL_PASSWORD: 'secret',
        REDIS_PASSWORD: password,
      },
      createLogger('test', 'silent'),
    )
    const seen: string[] = []
    const worker = queues.work('normalise', async ({ pageNo }) => void seen.push(pageNo), {
      concurrency: 1,
    })
    t.teardown(() => worker.close(true))
    const add = () => queues.add('normalise', [{ key: 'a', data: { pageNo: 'a' } }])
    await t.rejects(add(), {
      message: /does not answer within 10 s \(All sentinels are unreachable/,
    })

    const stop = await startSentinel(sentinelPort, port)
    t.teardown(stop)
    await until(async () => {
      await add()
      return seen.length > 0
    }, 60_000)
    t.equal(seen[0], 'a')
    // A worker takes its first message before the connection on which it waits for more is made.
    await until(() => redis.waiting() === 1, 60_000)

    await stop()
    await until(async () => {
      await add()
      return seen.length > 1
    }, 60_000)
    t.equal(seen[1], 'a', 'a lost Sentinel does not disturb what is connected')
    await worker.close()
    await queues.close()
  },
)

async function startSentinel(port: number, redisPort: string): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'perscope-sentinel-'))
  const file = join(folder, 'sentinel.conf')
  const { password } = new URL(redis.url ?? '')
  await writeFile(
    file,
    [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      'requirepass secret',
      `sentinel monitor of-the-test 127.0.0.1 ${redisPort} 1`,
      `sentinel auth-pass of-the-test ${password}`,
    ].join('\n'),
  )
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
  const gone = new Promise(resolve => child.once('exit', resolve))
  return async () => {
    child.kill('SIGKILL')
    await gone
    await rm(folder, { recursive: true, force: true })
  }
}
