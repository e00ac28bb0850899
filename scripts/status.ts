import { createLogger } from '../shared/log/logger.ts'
import { counted, printableLine } from '../shared/log/printable.ts'
import { createPool } from '../shared/postgres/pool.ts'
import { runCommand } from '../shared/process/command.ts'
import { openQueues } from '../shared/queues/queues.ts'
import type { ArchiveIndexFigures, Cause, Machines, PostgresServers, VectorNodes } from '../shared/status/figures.ts'
import { readStatus, type Status } from '../shared/status/status.ts'
import { ACTIVE } from '../shared/vectors/cluster.ts'
import { metricsOfStart } from './start/services.ts'
import { causesNow } from './terminal/causes.ts'

const MB = 1_000_000

await runCommand(
  {
    name: 'status',
    about: 'Shows the contents of the index and the open work.',
    usage: ['', '[--json]'],
    options: { json: { type: 'boolean', about: 'prints one JSON object' } },
    needs: ['DATABASE_URL'],
  },
  async ({ config, options, print }) => {
    const log = createLogger('status', 'silent')
    const pool = createPool(config.DATABASE_URL, 'status', () => {}, { mayBeStandby: true })
    const queues = openQueues(config, log)
    try {
      const status = await readStatus(pool, queues, config)
      const metrics = await metricsOfStart(config)
      const causes = await causesNow(config, pool, { thoroughly: false })
      print(
        options.json === true ? JSON.stringify({ ...status, metrics, causes }) : statusTable(status, metrics, causes),
      )
    } finally {
      await queues.close()
      await pool.end()
    }
  },
)

/**
 * The status for people: one short table.
 *
 * @param metrics address of each service's metrics
 * @param causes what is wrong
 */
function statusTable(status: Status, metrics: Record<string, string>, causes: Cause[]): string {
  const number = (n: number) => n.toLocaleString('en')
  const rows: [string, string][] = [
    ['articles', `${number(status.articles)}, newest indexed ${status.newest.ingested_at ?? 'never'}`],
    [
      'embedded',
      `${number(status.embedded)}, promised ${number(status.embeddings.promised)}, due ${number(status.embeddings.due)}, failed ${number(status.embeddings.failed)}`,
    ],
    [
      'pages',
      `waiting ${number(status.pages.waiting)}, done ${number(status.pages.done)}, refused ${number(status.pages.refused)}, failed ${number(status.pages.failed)}`,
    ],
    ...Object.entries(status.reasons).map(([reason, n]): [string, string] => [`  ${printableLine(reason)}`, number(n)]),
    ...Object.entries(status.queues).map(([name, { waiting, active, delayed, failed }]): [string, string] => [
      `queue ${name}`,
      `waiting ${number(waiting)}, active ${number(active)}, delayed ${number(delayed)}, failed ${number(failed)}`,
    ]),
    ['index', `segments ${number(status.index.segments)}, articles without one ${number(status.index.backlog)}`],
    [
      'outlets',
      `healthy ${status.outlets.healthy}, silent ${status.outlets.silent}, blocked ${status.outlets.blocked}, failing ${status.outlets.failing}`,
    ],
    ['gaps', gapsInWords(status.gaps)],
    ...machineRows(status.machines),
    ...causes.map(({ level, text }): [string, string] => [level === 'bad' ? 'WRONG' : 'look at', printableLine(text)]),
    ...Object.entries(metrics).map(([service, address]): [string, string] => [`metrics ${service}`, address]),
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join('\n')
}

function gapsInWords({ feeds, outlets, count, latest }: Status['gaps']): string {
  if (latest === null) return 'no feed rolled on unseen in the last seven days'
  const whose = `${counted(feeds, 'feed')} of ${counted(outlets, 'outlet')}`
  return `in the last seven days ${whose} rolled on unseen, ${count}×, last at ${latest}`
}

/** Machines and the roles of servers, as rows of the table; few where all is on one machine. */
function machineRows({ hosts, postgres, vectors, redis, archiveIndex }: Machines): [string, string][] {
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
