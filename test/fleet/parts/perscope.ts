import { freePort, runScript } from '#test/fleet'
import type { Box } from '#test/fleet/hosts/box'
import type { Host } from '#test/fleet/hosts/host'
import { openLink } from '#test/fleet/links/link'
import { startWordModel } from '#test/semantic/word-model'
import { startTestServers } from '#test/servers'
import { startPostgresProxy } from './haproxy.ts'
import { askSuperuser, PASSWORD, type PatroniMember } from './patroni.ts'
import { startService } from './services.ts'

/** Perscope on hosts of its own, before a Postgres of several members. */
export interface Perscope {
  hosts: Host[]
  /** Addresses of the APIs, one a host. */
  apis: string[]
  /** The environment of commands that the runner runs; they use the first host's HAProxy. */
  env: { DATABASE_URL: string; REDIS_URL: string; DATA_DIR: string; LOG_LEVEL: string }
  databaseUrl: string
  /** The same through the HAProxy of that host. */
  databaseUrlOn(host: Host): string
  stop(): Promise<void>
}

export const DATABASE = 'perscope'

const metricsPort = (box: Box) => String(box.network.port(9101))

/** Statements of searches that standbys answered, of all APIs since they started. */
export async function readsOfStandbys(box: Box, { hosts }: Perscope): Promise<number> {
  let sum = 0
  for (const { address } of hosts) {
    const text = await (await fetch(`http://${address}:${metricsPort(box)}/metrics`)).text()
    sum += Number(
      /^perscope_read_statements_total\{[^}]*server="standby"[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0,
    )
  }
  return sum
}

/** Makes the database and its schema, and starts the services: an API and workers on each host. */
export async function startPerscope(
  box: Box,
  members: readonly PatroniMember[],
): Promise<Perscope> {
  const stops: (() => Promise<unknown>)[] = []
  const servers = await startVectors(box, stops)
  const hosts = await Promise.all(['app1', 'app2'].map(name => box.addHost(name)))
  const proxies = await Promise.all(hosts.map(host => startPostgresProxy(box, host, members)))
  const url = (address: string) => `postgres://${DATABASE}:${PASSWORD}@${address}/${DATABASE}`
  const databaseUrl = url(proxies[0]?.primary ?? '')
  await makeDatabase(members)
  const env = { ...process.env, REDIS_URL: '', DATA_DIR: box.folder, LOG_LEVEL: 'info', ...servers }
  await runScript({ ...env, DATABASE_URL: databaseUrl }, 'migrate')
  const apis: string[] = []
  for (const [index, host] of hosts.entries()) {
    const own = {
      ...servers,
      REDIS_URL: '',
      DATA_DIR: host.folder,
      DATABASE_URL: url(proxies[index]?.primary ?? ''),
    }
    const read = { DATABASE_READ_URL: url(proxies[index]?.standbys ?? '') }
    apis.push(
      await startService(box, host, 'api', 'api', {
        ...own,
        ...read,
        METRICS_PORT: metricsPort(box),
      }),
    )
    await startService(box, host, 'crawler', 'crawler', own)
    await startService(box, host, 'normaliser', 'normaliser', own)
    await startService(box, host, 'notifier', 'notifier', own)
    if (index === 0) await startService(box, host, 'embedder', 'embedder', own)
  }
  return {
    hosts,
    apis,
    env: { ...env, DATABASE_URL: databaseUrl },
    databaseUrl,
    databaseUrlOn: (host: Host) => url(proxies[hosts.indexOf(host)]?.primary ?? ''),
    async stop(): Promise<void> {
      for (const stop of stops) await stop()
    },
  }
}

/** Qdrant and a model on the runner's side, which hosts reach through proxies. */
async function startVectors(
  box: Box,
  stops: (() => Promise<unknown>)[],
): Promise<Record<string, string>> {
  const servers = await startTestServers({ servers: ['qdrant'] })
  stops.push(() => servers.stop())
  const model = await startWordModel(null)
  stops.push(() => model.stop())
  const reachable = async (address: string) => {
    const to = new URL(address)
    const at = { address: await box.network.runnerAddress(), port: await freePort() }
    const link = await openLink(at, { address: to.hostname, port: Number(to.port) })
    stops.unshift(() => link.close())
    to.host = `${at.address}:${at.port}`
    return to.href
  }
  return {
    QDRANT_URL: await reachable(servers.addresses.QDRANT_URL ?? ''),
    QDRANT_API_KEY: servers.settings.QDRANT_API_KEY ?? '',
    EMBEDDINGS_URL: await reachable(model.url),
    EMBEDDINGS_API: 'openai',
    EMBEDDINGS_API_KEY: '',
    EMBEDDINGS_MODEL: 'words',
  }
}

/** Makes the role and the database, as docs/several-machines.md says. */
export async function makeDatabase(members: readonly PatroniMember[]): Promise<void> {
  const [first] = members
  if (!first) throw new Error('There is no member of Postgres.')
  await askSuperuser(first, `create role ${DATABASE} login password '${PASSWORD}'`)
  await askSuperuser(first, `create database ${DATABASE} owner ${DATABASE}`)
}
