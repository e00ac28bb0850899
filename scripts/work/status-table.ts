import { counted } from '../../shared/log/counted.ts'
import { printableLine } from '../../shared/log/printable.ts'
import type { Status } from '../../shared/status/status.ts'
import { machineRows } from './machine-rows.ts'

/**
 * The status for people: one short table.
 *
 * @param metrics address of each service's metrics
 */
export function statusTable(status: Status, metrics: Record<string, string>): string {
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
    ...(status.held.sentence === null
      ? []
      : [['  held', `${counted(status.held.outlets, 'outlet')}: ${status.held.sentence}`] satisfies [string, string]]),
    ...status.kept.map(({ domain, sentence }): [string, string] => [
      `  ${printableLine(domain)}`,
      printableLine(sentence),
    ]),
    ['gaps', gapsInWords(status.gaps)],
    ...machineRows(status.machines),
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
