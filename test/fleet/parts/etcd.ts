import { join } from 'node:path'
import { until } from '#test/fleet'
import type { Box } from '#test/fleet/hosts/box'
import type { Host } from '#test/fleet/hosts/host'
import { debianTool } from '#test/fleet/programs/debian'
import { filledSettings, operatorsSettings } from './operators-file.ts'

const START_MS = 60_000
const ANSWER_MS = 2_000

/** One member of a cluster of etcd. */
export interface EtcdMember {
  host: Host
  url: string
  put(key: string, value: string): Promise<void>
  get(key: string): Promise<string | null>
  isLeader(): Promise<boolean>
}

/** Starts a member of one cluster on each host (`infra/ha/postgres/etcd.env`). */
export async function startEtcd(box: Box, hosts: readonly Host[]): Promise<EtcdMember[]> {
  const { command, env } = await debianTool('etcd', 'etcd-server')
  const peerOf = (host: Host) => `http://${host.address}:${box.network.port(2380)}`
  const urlOf = (host: Host) => `http://${host.address}:${box.network.port(2379)}`
  for (const host of hosts) {
    await host.start({
      name: 'etcd',
      command,
      // The disk of the run need not survive the machine, and it is shared with all else.
      args: ['--unsafe-no-fsync'],
      env: {
        ...env,
        ...operatorsSettings('postgres/etcd.env'),
        ...filledSettings('postgres/etcd-host.env', {
          ETCD_NAME: host.name,
          ETCD_DATA_DIR: join(host.folder, 'etcd'),
          ETCD_LISTEN_CLIENT_URLS: urlOf(host),
          ETCD_ADVERTISE_CLIENT_URLS: urlOf(host),
          ETCD_LISTEN_PEER_URLS: peerOf(host),
          ETCD_INITIAL_ADVERTISE_PEER_URLS: peerOf(host),
          ETCD_INITIAL_CLUSTER: hosts.map(each => `${each.name}=${peerOf(each)}`).join(','),
        }),
      },
    })
  }
  const members = hosts.map(host => memberAt(host, urlOf(host)))
  for (const member of members) {
    const works = async () => (await member.get('started')) === null
    await until(works, START_MS, () => `etcd did not start on ${member.host.name}.`)
  }
  return members
}

function memberAt(host: Host, url: string): EtcdMember {
  /** The JSON form of etcd's API (gRPC gateway); keys and values are in base64. */
  async function call(path: string, body: unknown): Promise<unknown> {
    const answer = await fetch(`${url}/v3/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    if (!answer.ok)
      throw new Error(`etcd on ${host.name} says ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return {
    host,
    url,
    async put(key, value) {
      await call('kv/put', { key: base64(key), value: base64(value) })
    },
    async get(key) {
      const value = fieldOf(await call('kv/range', { key: base64(key) }), 'kvs', 0, 'value')
      return typeof value === 'string' ? Buffer.from(value, 'base64').toString() : null
    },
    async isLeader() {
      const status = await call('maintenance/status', {})
      return fieldOf(status, 'leader') === fieldOf(status, 'header', 'member_id')
    },
  }
}

/** What stands in JSON at the end of these steps; undefined when a step leads nowhere. */
function fieldOf(json: unknown, ...steps: (string | number)[]): unknown {
  let at: unknown = json
  for (const step of steps) {
    if (typeof at !== 'object' || at === null) return undefined
    at = Reflect.get(at, step)
  }
  return at
}
