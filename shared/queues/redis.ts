import type { RedisOptions } from 'bullmq'
import type { RedisOptions as ClientOptions } from 'ioredis'
import { type Config, ConfigError } from '#shared/config/config'
import { trustOf } from '#shared/config/tls'
import type { RedisServers } from '#shared/figures'

/**
 * The settings that lead to the Redis of the queues: its address, or Sentinels that know the
 * address.
 */
export type RedisSettings = Pick<Config, 'REDIS_URL'> &
  Partial<
    Pick<
      Config,
      | 'REDIS_SENTINELS'
      | 'REDIS_SENTINEL_NAME'
      | 'REDIS_SENTINEL_PASSWORD'
      | 'REDIS_PASSWORD'
      | 'TLS_CA_FILE'
    >
  >

/** Whether the work queues are in Redis. Otherwise they are in Postgres. */
export const usesRedis = ({ REDIS_URL, REDIS_SENTINELS = [] }: RedisSettings): boolean =>
  REDIS_URL !== '' || REDIS_SENTINELS.length > 0

/** The most ms to open a connection, also to a Sentinel. */
const CONNECT = 3_000
/**
 * When Redis has answered no command for this many ms, the connection is made anew. A host that
 * vanished does not end its connections, and the kernel keeps them for a quarter of an hour.
 */
const SILENCE = 5_000
/** Seconds that an idle worker of BullMQ waits within one command. Must be well below SILENCE. */
export const IDLE_WAIT = 2
/**
 * The fewest ms between two attempts to connect. A random part is added, so that processes do not
 * all try at once.
 */
const AGAIN = 500
const again = () => Math.round(AGAIN * (1 + Math.random()))

/**
 * Options for a connection to the Redis of the queues.
 *
 * @param waits true: commands wait while Redis is away, for workers; false: commands soon fail
 * @throws ConfigError
 */
export function redisConnection(config: RedisSettings, waits: boolean): RedisOptions {
  const trust = trustOf({ TLS_CA_FILE: config.TLS_CA_FILE ?? '' })
  const options = {
    connectTimeout: CONNECT,
    socketTimeout: SILENCE,
    retryStrategy: again,
    // A previous master gives these errors: it is a replica now, or is cut off from its replicas. A
    // new connection reaches the present master through Sentinels or the proxy.
    reconnectOnError: error => /^(READONLY|NOREPLICAS) /.test(error.message),
  } satisfies ClientOptions
  const sentinels = readSentinels(config.REDIS_SENTINELS ?? [])
  if (sentinels === null) {
    return {
      ...options,
      url: config.REDIS_URL,
      maxRetriesPerRequest: waits ? null : 3,
      ...(config.REDIS_URL.startsWith('rediss:') ? { tls: trust } : {}),
    }
  }
  return {
    ...options,
    // ioredis sends no empty password.
    password: config.REDIS_PASSWORD ?? '',
    sentinelPassword: config.REDIS_SENTINEL_PASSWORD ?? '',
    sentinels: sentinels.hosts,
    name: config.REDIS_SENTINEL_NAME ?? '',
    sentinelCommandTimeout: CONNECT,
    sentinelRetryStrategy: again,
    // Only the Sentinels in the settings are asked. Sentinels tell each other addresses that may be
    // of another network, and that their certificates do not have.
    updateSentinels: false,
    // Without these options, ioredis keeps commands for ever while no Sentinel answers.
    ...(waits
      ? { maxRetriesPerRequest: null }
      : { maxRetriesPerRequest: 1, enableOfflineQueue: false }),
    ...(sentinels.secure ? { tls: trust, sentinelTLS: trust, enableTLSForSentinelMode: true } : {}),
  } satisfies ClientOptions
}

interface Sentinels {
  hosts: { host: string; port: number }[]
  secure: boolean
}

const PORT = 26_379

/** @returns null: the settings name no Sentinel */
function readSentinels(list: string[]): Sentinels | null {
  if (list.length === 0) return null
  const urls = list.map(text => {
    const whole = text.includes('://') ? text : `redis://${text}`
    const url = URL.canParse(whole) ? new URL(whole) : null
    if (
      url === null ||
      !/^rediss?:$/.test(url.protocol) ||
      url.hostname === '' ||
      url.username ||
      url.password
    ) {
      throw new ConfigError(
        'REDIS_SENTINELS has an entry that cannot be used; write host:port or rediss://host:port, without a password.',
      )
    }
    return url
  })
  const secure = urls.filter(({ protocol }) => protocol === 'rediss:').length
  if (secure > 0 && secure < urls.length)
    throw new ConfigError(
      'REDIS_SENTINELS mixes entries with and without rediss://; write it before all or none.',
    )
  return {
    hosts: urls.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(port) || PORT,
    })),
    secure: secure > 0,
  }
}

const TIMEOUT = 3_000

/** Reads the master and the replicas from Redis. @returns null: the queues are in Postgres */
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
  // Only this listener gets the reason of a failed connection, for instance a wrong password.
  const met: Error[] = []
  redis.on('error', error => met.push(error))
  try {
    await redis.connect()
    const host = redis.stream.remoteAddress ?? null
    return { host, ...replicationOf(await redis.info('replication')) }
  } catch (error) {
    throw met[0] ?? error
  } finally {
    redis.disconnect()
  }
}

/** Reads the section "replication" of Redis' INFO. */
function replicationOf(info: string): Omit<RedisServers, 'host'> {
  const fieldOf = (name: string, text: string) =>
    new RegExp(`(?:^|,)${name}[:=]([^,\r\n]*)`, 'm').exec(text)?.[1]
  const written = Number(fieldOf('master_repl_offset', info) ?? 0)
  const replicas = Array.from(info.matchAll(/^slave\d+:(.*)$/gm), ([, fields = '']) => ({
    host: `${fieldOf('ip', fields)}:${fieldOf('port', fields)}`,
    online: fieldOf('state', fields) === 'online',
    lagBytes: Math.max(0, written - Number(fieldOf('offset', fields) ?? 0)),
  }))
  return { role: fieldOf('role', info) === 'slave' ? 'replica' : 'master', replicas }
}
