import type { RedisServers } from '../status/figures.ts'
import { type RedisSettings, redisConnection, usesRedis } from './redis.ts'

const TIMEOUT = 3_000

/** @returns null when the queues are in Postgres */
export async function readRedis(config: RedisSettings): Promise<RedisServers | null> {
  if (!usesRedis(config)) return null
  const { Redis } = await import('ioredis')
  const { url, ...options } = redisConnection(config, false)
  const once = {
    ...options,
    lazyConnect: true,
    connectTimeout: TIMEOUT,
    commandTimeout: TIMEOUT,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
  }
  const redis = url === undefined ? new Redis(once) : new Redis(url, once)
  // Without a listener it would write to standard error.
  redis.on('error', () => {})
  try {
    await redis.connect()
    const host = redis.stream.remoteAddress ?? null
    return { host, ...replicationOf(await redis.info('replication')) }
  } finally {
    redis.disconnect()
  }
}

/** Reads the section "replication" of Redis' INFO. */
function replicationOf(info: string): Omit<RedisServers, 'host'> {
  const values = new Map<string, string>()
  for (const line of info.split('\r\n')) {
    const [name = '', ...rest] = line.split(':')
    values.set(name, rest.join(':'))
  }
  const written = Number(values.get('master_repl_offset') ?? 0)
  const replicas: RedisServers['replicas'] = []
  for (const [name, value] of values) {
    if (!/^slave\d+$/.test(name)) continue
    const fields = new Map(
      value.split(',').map(field => [field.split('=')[0] ?? '', field.slice(field.indexOf('=') + 1)]),
    )
    replicas.push({
      host: `${fields.get('ip')}:${fields.get('port')}`,
      online: fields.get('state') === 'online',
      lagBytes: Math.max(0, written - Number(fields.get('offset') ?? 0)),
    })
  }
  return { role: values.get('role') === 'slave' ? 'replica' : 'master', replicas }
}
