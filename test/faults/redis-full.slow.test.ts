import { execFileSync } from 'node:child_process'
import t from 'tap'
import { QUICK_CRAWL, startFleet, until } from '#test/fleet'
import { startRedis } from '#test/queues/redis'
import { startSite } from './site/site.ts'

const redis = await startRedis()

const skip = redis.url === null ? 'no redis-server on this machine' : false

t.test(
  'a Redis at its memory limit: work waits in Postgres, and goes on by itself',
  { skip },
  async t => {
    const url = redis.url ?? ''
    const limit = (memory: string) =>
      execFileSync('redis-cli', ['-p', new URL(url).port, 'config', 'set', 'maxmemory', memory], {
        env: { ...process.env, REDISCLI_AUTH: new URL(url).password },
      })
    const site = await startSite(1)
    t.teardown(() => Promise.all([site.close(), redis.stop()]))
    const { database, fleet } = await startFleet(t, { REDIS_URL: url, ...QUICK_CRAWL })
    await fleet.sync(site.catalogue)
    const articles = () => database.count('articles')

    await fleet.start('crawler')
    await fleet.start('normaliser')
    site.print(5)
    await until(async () => (await articles()) === 5, 90_000)

    limit('1mb')
    site.print(20)
    await new Promise(resolve => setTimeout(resolve, 8_000))
    const before = await articles()
    t.ok(before < 25, `${before} of 25 articles while nothing can be queued`)
    for (const { service, process, log } of fleet.members) {
      t.equal(process.exitCode, null, `the ${service} waits`)
      const warnings = log()
        .split('\n')
        .filter(line => line.includes('"level":"warn"'))
      t.ok(warnings.length <= 6, `the ${service} complains ${warnings.length} times`)
      t.match(warnings.join('\n'), /OOM command not allowed/, 'and says why')
    }

    limit('0')
    await until(async () => (await articles()) === 25, 60_000, fleet.logs)
    t.same(
      await database.query('select url from article_texts group by url having count(*) > 1'),
      [],
    )
  },
)
