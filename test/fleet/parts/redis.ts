import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { trustOf } from '#shared/config/tls'
import { certify } from '#test/crawler/certificates'
import { until } from '#test/fleet'
import type { Box } from '#test/fleet/hosts/box'
import type { Host } from '#test/fleet/hosts/host'
import { debianTool } from '#test/fleet/programs/debian'
import { operatorsFile, operatorsLines, operatorsSettings } from './operators-file.ts'

const START_MS = 60_000
const ANSWER_MS = 2_000
const NAME = operatorsSettings('systemd/perscope.env').REDIS_SENTINEL_NAME ?? ''
const PASSWORD = 'of-the-run'
const SENTINEL_PASSWORD = 'of-the-sentinels'

/** A host with Redis and a Sentinel. */
export interface RedisMember {
  host: Host
  /** The Redis of this host, as HOST:PORT. */
  address: string
  /** What Redis says of its role; null: it does not answer. */
  role(): Promise<'master' | 'replica' | null>
  /** Whether Redis takes a write. */
  takesWrites(): Promise<boolean>
  /**
   * Whether the Sentinel takes part. One that was paused looks on for 30 s first ("tilt mode").
   */
  takesPart(): Promise<boolean>
  /** Whom this host's Sentinel takes for the master, as HOST:PORT; null: it does not answer. */
  master(): Promise<string | null>
}

/** How the members are reached. */
interface Access {
  port: number
  sentinelPort: number
  /** The first master. */
  first: string
  /** With TLS, the file of the authority; null: plain connections. */
  authority: string | null
}

export interface RedisGroup {
  members: RedisMember[]
  settings: {
    REDIS_SENTINELS: string
    REDIS_SENTINEL_NAME: string
    REDIS_SENTINEL_PASSWORD: string
    REDIS_PASSWORD: string
    TLS_CA_FILE: string
  }
}

/**
 * Starts Redis and Sentinel on each host (`infra/ha/redis`): the first is the master.
 *
 * @param secured with TLS alone, also between the members
 * @returns the members, and the settings that lead services to them
 */
export async function startRedis(
  box: Box,
  hosts: readonly Host[],
  secured: boolean,
): Promise<RedisGroup> {
  const server = await debianTool('redis-server', 'redis-server')
  const authority = secured ? await certifyHosts(box, hosts) : null
  const access: Access = {
    port: box.network.port(6379),
    sentinelPort: box.network.port(26_379),
    first: hosts[0]?.address ?? '',
    authority,
  }
  for (const host of hosts) await startMember(host, server, access)
  const members = hosts.map(host => memberAt(host, access))
  await until(
    async () => (await Promise.all(hosts.map(host => knowsAll(host, access)))).every(Boolean),
    START_MS,
    'The Sentinels do not find each other; see their logs.',
  )
  const scheme = secured ? 'rediss://' : ''
  return {
    members,
    settings: {
      REDIS_SENTINELS: hosts
        .map(({ address }) => `${scheme}${address}:${access.sentinelPort}`)
        .join(','),
      REDIS_SENTINEL_NAME: NAME,
      REDIS_SENTINEL_PASSWORD: SENTINEL_PASSWORD,
      REDIS_PASSWORD: PASSWORD,
      TLS_CA_FILE: authority ?? '',
    },
  }
}

/** Gives each host a certificate of one private authority. */
async function certifyHosts(box: Box, hosts: readonly Host[]): Promise<string> {
  const issuer = certify({ name: 'Authority of the run', issuer: null, authority: true })
  const file = join(box.folder, 'authority.pem')
  await writeFile(file, issuer.certificate)
  for (const { name, address, folder } of hosts) {
    const { certificate, key } = certify({ name, issuer, hosts: [address] })
    await writeFile(join(folder, 'host.pem'), certificate)
    await writeFile(join(folder, 'host.key'), key)
  }
  return file
}

/**
 * Writes the host's own two files from those of `infra/ha/redis`, and starts both programs.
 */
async function startMember(
  host: Host,
  { command, env }: { command: string; env: NodeJS.ProcessEnv },
  access: Access,
): Promise<void> {
  const { address, folder } = host
  const { port, sentinelPort, first } = access
  const redis = join(folder, 'redis.conf')
  await writeFile(
    redis,
    lines(
      ...operatorsLines('redis/redis-host.conf', {
        include: operatorsFile('redis/redis.conf'),
        dir: folder,
        bind: address,
        requirepass: PASSWORD,
        masterauth: PASSWORD,
        'replica-announce-ip': address,
      }),
      ...portLines(host, port, access),
      ...(address === first ? [] : [`replicaof ${first} ${port}`]),
    ),
  )
  const sentinel = join(folder, 'sentinel.conf')
  await writeFile(
    sentinel,
    lines(
      ...operatorsLines('redis/sentinel-host.conf', {
        include: operatorsFile('redis/sentinel.conf'),
        dir: folder,
        bind: address,
        requirepass: SENTINEL_PASSWORD,
        'sentinel sentinel-pass': SENTINEL_PASSWORD,
        'sentinel announce-ip': address,
        'sentinel monitor': `${NAME} ${first} ${port} 2`,
        'sentinel auth-pass': `${NAME} ${PASSWORD}`,
      }),
      ...portLines(host, sentinelPort, access),
    ),
  )
  await host.start({ name: 'redis', command, args: [redis], env })
  await host.start({ name: 'sentinel', command, args: [sentinel, '--sentinel'], env })
}

function portLines({ folder }: Host, port: number, { authority }: Access): string[] {
  if (authority === null) return [`port ${port}`]
  return [
    'port 0',
    `tls-port ${port}`,
    'tls-replication yes',
    'tls-auth-clients no',
    `tls-cert-file ${join(folder, 'host.pem')}`,
    `tls-key-file ${join(folder, 'host.key')}`,
    `tls-ca-cert-file ${authority}`,
  ]
}

const lines = (...all: string[]) => `${all.join('\n')}\n`

function memberAt(host: Host, access: Access): RedisMember {
  const { port, sentinelPort } = access
  const toRedis = { host: host.address, port, password: PASSWORD, authority: access.authority }
  const toSentinel = { ...toRedis, port: sentinelPort, password: SENTINEL_PASSWORD }
  return {
    host,
    address: `${host.address}:${port}`,
    async role() {
      const text = await say(toRedis, 'info', 'replication')
      if (typeof text !== 'string') return null
      return text.includes('role:master') ? 'master' : 'replica'
    },
    takesWrites: async () => (await say(toRedis, 'set', 'fleet-probe', '1')) === 'OK',
    async takesPart() {
      const text = await say(toSentinel, 'info', 'sentinel')
      return typeof text === 'string' && text.includes('sentinel_tilt:0')
    },
    async master() {
      const answer = await say(toSentinel, 'sentinel', 'get-master-addr-by-name', NAME)
      return Array.isArray(answer) ? answer.join(':') : null
    },
  }
}

async function knowsAll(
  { address }: Host,
  { sentinelPort: port, authority }: Access,
): Promise<boolean> {
  const at = { host: address, port, password: SENTINEL_PASSWORD, authority }
  const sentinels = await say(at, 'sentinel', 'sentinels', NAME)
  const replicas = await say(at, 'sentinel', 'replicas', NAME)
  return (
    Array.isArray(sentinels) &&
    sentinels.length === 2 &&
    Array.isArray(replicas) &&
    replicas.length === 2
  )
}

/** One command on a connection of its own; null: no answer in time. */
async function say(
  { authority, ...at }: { host: string; port: number; password: string; authority: string | null },
  command: string,
  ...args: string[]
): Promise<unknown> {
  const client = new Redis({
    ...at,
    lazyConnect: true,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
    connectTimeout: ANSWER_MS,
    commandTimeout: ANSWER_MS,
    enableReadyCheck: false,
    ...(authority === null ? {} : { tls: trustOf({ TLS_CA_FILE: authority }) }),
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return await client.call(command, ...args)
  } catch {
    return null
  } finally {
    client.disconnect()
  }
}

/** The member that the Sentinels of most hosts take for the master. */
export async function masterOf(members: readonly RedisMember[]): Promise<RedisMember | null> {
  const said = await Promise.all(members.map(member => member.master()))
  return (
    members.find(
      ({ address }) => said.filter(one => one === address).length * 2 > members.length,
    ) ?? null
  )
}
