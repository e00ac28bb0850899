import t from 'tap'
import { redisConnection, usesRedis } from './redis.ts'

const SENTINELS = {
  REDIS_URL: '',
  REDIS_SENTINEL_NAME: 'perscope',
  REDIS_SENTINELS: ['10.0.0.1', 'two:7', '[::1]:8'],
}

t.test('an address or Sentinels lead to Redis', async t => {
  t.notOk(usesRedis({ REDIS_URL: '' }))
  t.ok(usesRedis({ REDIS_URL: 'redis://one' }))
  t.ok(usesRedis(SENTINELS))
  t.match(redisConnection({ REDIS_URL: 'redis://one' }, true), {
    url: 'redis://one',
    maxRetriesPerRequest: null,
  })
  t.match(redisConnection({ ...SENTINELS, REDIS_URL: 'redis://one' }, true), {
    url: undefined,
    name: 'perscope',
    sentinels: [
      { host: '10.0.0.1', port: 26_379 },
      { host: 'two', port: 7 },
      { host: '::1', port: 8 },
    ],
  })
})

t.test('commands of producers do not wait for a Redis that is away', async t => {
  t.match(redisConnection(SENTINELS, false), { maxRetriesPerRequest: 1, enableOfflineQueue: false })
  t.match(redisConnection({ REDIS_URL: 'redis://one' }, false), { maxRetriesPerRequest: 3 })
})

t.test('entries that cannot be used are refused with what to write', async t => {
  for (const entry of ['http://one', 'redis://:secret@one', 'a b', '']) {
    t.throws(() => redisConnection({ ...SENTINELS, REDIS_SENTINELS: [entry] }, true), {
      name: 'ConfigError',
      message: /^REDIS_SENTINELS (?!.*secret).*write host:port/,
    })
  }
  t.throws(
    () => redisConnection({ ...SENTINELS, REDIS_SENTINELS: ['rediss://one', 'two'] }, true),
    {
      message: /before all or none/,
    },
  )
})
