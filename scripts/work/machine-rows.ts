import { counted } from '../../shared/log/counted.ts'
import type { ArchiveIndexFigures, Machines, PostgresServers, VectorNodes } from '../../shared/status/figures.ts'
import { ACTIVE } from '../../shared/vectors/cluster.ts'

const MB = 1_000_000

/** Machines and the roles of servers, as rows of the table; few where all is on one machine. */
export function machineRows({ hosts, postgres, vectors, redis, archiveIndex }: Machines): [string, string][] {
  return [
    ...(hosts ?? []).map(({ host, ...counts }): [string, string] => [
      `host ${host}`,
      Object.entries(counts)
        .filter(([, count]) => count > 0)
        .map(([service, count]) => `${service} ${count}`)
        .join(', '),
    ]),
    ...(postgres === null ? [] : postgresRows(postgres)),
    ...(vectors === null ? [] : [['qdrant', vectorText(vectors)] satisfies [string, string]]),
    ...(redis === null
      ? []
      : [['redis', `${redis.role}, replicas ${redis.replicas.length}`] satisfies [string, string]]),
    ...(archiveIndex === null ? [] : [['archive index', archiveText(archiveIndex)] satisfies [string, string]]),
  ]
}

function postgresRows({ role, mayLook, standbys, slots, archive }: PostgresServers): [string, string][] {
  const archiving = archive === null ? 'log not archived' : archive.failing ? 'archiving fails' : 'log archived'
  return [
    ['postgres', `${role}, standbys ${standbys.length}, ${archiving}`],
    ...standbys.map(({ name, host, sync, lagBytes, lagSeconds }): [string, string] => [
      '  standby',
      mayLook
        ? `${name} at ${host}${sync ? ', synchronous' : ''}, behind ${((lagBytes ?? 0) / MB).toFixed(1)} MB, ${(lagSeconds ?? 0).toFixed(1)} s`
        : 'hidden from this account: grant pg_monitor to it',
    ]),
    ...slots.map(({ name, active, heldBytes, lost }): [string, string] => [
      '  slot',
      `${name}${active ? '' : ', not in use'}, ${lost ? 'lost' : `keeps ${(heldBytes / MB).toFixed(1)} MB`}`,
    ]),
  ]
}

function archiveText({ indices, articles, backlog, health }: ArchiveIndexFigures): string {
  const nodes =
    health === null
      ? 'OpenSearch does not answer'
      : `nodes ${health.nodes}, copies ${health.active}, unassigned ${health.unassigned}`
  return `${counted(articles, 'article')} in ${counted(indices, 'index', 'indices')}, due ${backlog}, ${nodes}`
}

function vectorText({ nodes, unreachable, shards }: VectorNodes): string {
  if (nodes.length === 0) return 'a single node'
  const copies = shards.flatMap(shard => shard.copies)
  const active = copies.filter(({ state }) => state === ACTIVE).length
  return `nodes ${nodes.length}, unreachable ${unreachable.length}, shards ${shards.length}, copies ${copies.length}, active ${active}`
}
