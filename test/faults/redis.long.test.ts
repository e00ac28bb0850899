import t from 'tap'
import { hasRedis } from '#test/queues/redis'
import { proveChaos } from './prove.ts'

// The same as short.slow.test.ts with the queues on Redis, which is killed, flushed and lost as
// well.
if (hasRedis())
  await proveChaos({ seconds: 120, seed: 21434, redis: true, rate: 2, imported: 3800 })
else t.pass('there is no redis-server on this machine', { skip: true })
