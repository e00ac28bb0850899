import type { Cause, Machines } from '#shared/figures'
import { createLogger } from '#shared/log/logger'
import { counted, printableLine } from '#shared/log/printable'
import { backFillInWords } from '#shared/outlets/back-fills'
import { runCommand } from '#shared/process/command'
import { openQueues } from '#shared/queues/queues'
import { causesOf } from '#status/causes'
import { readStatus, type Status } from '#status/status'
import { serversInWords } from '#status/words'
import { metricsOfStart } from './start/services.ts'
import { factsNow } from './terminal/causes.ts'
import { columns } from './terminal/terminal.ts'

await runCommand(
  {
    name: 'status',
    about: 'Shows the contents of the index and the open work.',
    usage: ['', '[--json]'],
    options: { json: { about: 'prints one JSON object' } },
    needs: ['DATABASE_URL'],
  },
  async ({ config, options, print, openPool }) => {
    const pool = openPool({ mayBeStandby: true })
    const queues = openQueues(config, createLogger('status', 'silent'), true)
    try {
      // What is away costs each of them a wait.
      const [status, metrics, causes] = await Promise.all([
        readStatus(pool, queues, config),
        metricsOfStart(config),
        factsNow(config, pool, false).then(causesOf),
      ])
      print(
        options.json === true
          ? JSON.stringify({ ...status, metrics, causes })
          : statusTable(status, metrics, causes),
      )
    } finally {
      await queues.close()
    }
  },
)

/**
 * The status for people: one short table.
 *
 * @param metrics address of each service's metrics
 * @param causes sentences about troubles
 */
function statusTable(status: Status, metrics: Record<string, string>, causes: Cause[]): string {
  const number = (n: number) => n.toLocaleString('en')
  const inWords = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, n]) => `${name} ${number(n)}`)
      .join(', ')
  const { embeddings, index, looks, outlets, removals } = status
  const { promised, due, failed } = embeddings
  const { resting: _, ...pages } = status.pages
  const { healthy, silent, blocked, failing } = outlets
  return columns([
    [
      'articles',
      `${number(status.articles)}, newest indexed ${status.newest.ingested_at ?? 'never'}`,
    ],
    ['embedded', `${number(status.embedded)}, ${inWords({ promised, due, failed })}`],
    ['pages', inWords(pages)],
    ...Object.entries(status.reasons).map(([reason, n]) => [
      `  ${printableLine(reason)}`,
      number(n),
    ]),
    ...Object.entries(status.queues ?? {}).map(([name, counts]) => [
      `queue ${name}`,
      inWords({ ...counts }),
    ]),
    [
      'second looks',
      `pages in the last day ${number(looks.asked)}, answers to be judged ${number(looks.waiting)}`,
    ],
    ...status.back.map(one => [`past of ${one.domain}`, backFillInWords(one)]),
    ['taken out', `still to be cleared ${number(removals.waiting)}`],
    [
      'index',
      `segments ${number(index.segments)}, newer articles in memory ${number(index.backlog)}`,
    ],
    ['outlets', inWords({ healthy, silent, blocked, failing })],
    ['gaps', gapsInWords(status.gaps)],
    ...machineRows(status.machines),
    ...causes.map(({ level, text }) => [
      level === 'bad' ? 'WRONG' : 'look at',
      printableLine(text),
    ]),
    ...Object.entries(metrics).map(([service, address]) => [`metrics ${service}`, address]),
  ])
}

function gapsInWords({ feeds, outlets, count, latest }: Status['gaps']): string {
  if (latest === null) return 'no feed rolled on unseen in the last seven days'
  const whose = `${counted(feeds, 'feed')} of ${counted(outlets, 'outlet')}`
  return `in the last seven days ${whose} rolled on unseen, ${count}×, last at ${latest}`
}

/**
 * Rows of the table: one for each host, with its services, and one for each server, with its role
 * and its copies.
 */
function machineRows(machines: Machines): string[][] {
  return [
    ...(machines.hosts ?? []).map(({ host, ...counts }) => [
      `host ${host}`,
      Object.entries(counts)
        .filter(([, count]) => count > 0)
        .map(([service, count]) => `${service} ${count}`)
        .join(', '),
    ]),
    ...serversInWords(machines).map(({ server, lines }) => [
      server.toLowerCase(),
      lines.map(({ what, more = '' }) => printableLine(`${what} ${more}`.trim())).join('; '),
    ]),
  ]
}
