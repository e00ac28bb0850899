import { access } from 'node:fs/promises'
import { runCommand, UsageError } from '../shared/process/command.ts'
import { FOLDS, OPEN_FOLD } from './ingestion/strangers/publisher.ts'
import { PEERS, type PeerKey } from './search/peers/peer.ts'

const NAMES = ['search', 'semantic', 'ingestion', 'mixed', 'growth', 'week', 'standbys', 'archive'] as const

await runCommand(
  {
    name: 'bench',
    about: `Benchmarks, each with servers of its own: ${NAMES.join(', ')}.`,
    usage: [
      'NAME [--data DIR] [--rows N] [--json]',
      `search --peers [${PEERS.join(',')}]`,
      'search [--writing [--seconds N]] [--import] [--counts] [--http [--requests N]] [--cold | --rolling] [--starts]',
      'semantic [--recipes]',
      'ingestion [--folds | --misses [--fold N] | --fetch] [--sets DIR]',
      'mixed [--rate N] [--seconds N]',
      'week | standbys [--seconds N]',
      'growth | archive [--words N]',
    ],
    options: {
      data: { type: 'string', value: 'DIR', about: 'where the corpora lie (default ../shared/data)' },
      json: { type: 'boolean', about: 'prints one object {"bench", "figures"} last' },
      rows: {
        type: 'string',
        value: 'N',
        about: 'articles to generate (search, semantic, mixed, growth, standbys, archive; week: each day)',
      },
      words: { type: 'string', value: 'N', about: 'growth, archive: words of a body, on average (growth: 40)' },
      recipes: { type: 'boolean', about: 'semantic: what else could be embedded of an article, side by side' },
      peers: {
        type: 'boolean',
        about: 'search: other engines beside, on the same articles and queries; those named, else all',
      },
      writing: { type: 'boolean', about: 'search: 300 articles/s written meanwhile' },
      import: { type: 'boolean', about: 'search: npm run import of 100,000 articles, alone and beside searches' },
      seconds: {
        type: 'string',
        value: 'N',
        about:
          'how long with --writing (default 300), mixed (default 3600), week (default 7200) or each fault of standbys (default 20)',
      },
      rate: { type: 'string', value: 'N', about: 'mixed: requests a second, instead of 60 % of the limit' },
      counts: { type: 'boolean', about: 'search: counts by time, outlet, language and country' },
      http: { type: 'boolean', about: 'search: an API process over HTTP' },
      cold: {
        type: 'boolean',
        about:
          'search: a process that has just started, the hardest queries asked for the first time, a rolling restart',
      },
      rolling: { type: 'boolean', about: 'search: the rolling restart of --cold alone' },
      starts: { type: 'boolean', about: 'search: processor time of a start, with and without the compile cache' },
      folds: { type: 'boolean', about: 'ingestion: only the figures by folds of publishers' },
      misses: { type: 'boolean', about: 'ingestion: what was missed of one fold, with --fold' },
      fold: { type: 'string', value: 'N', about: 'ingestion: the fold of --misses (default 0, the open one)' },
      sets: { type: 'string', value: 'DIR', about: 'ingestion: where the public sets lie (default ../sets)' },
      fetch: { type: 'boolean', about: 'ingestion: clones the public sets into --sets, and measures nothing' },
      requests: { type: 'string', value: 'N', about: 'how many over which --http watches its memory (default 100000)' },
    },
  },
  async ({ positionals: [name, ...rest], options, print, signal }) => {
    const peers = options.peers === true ? peersOf(rest.shift()) : null
    if (!NAMES.some(known => known === name) || rest.length > 0)
      throw new UsageError(`Name one of ${NAMES.join(', ')}.`)
    const main = new URL(`./${name}/main.ts`, import.meta.url)
    await access(main)
    const bench: { run(options: BenchOptions): Promise<Record<string, number>> } = await import(main.href)
    const figures = await bench.run({
      data: typeof options.data === 'string' ? options.data : new URL('../../shared/data', import.meta.url).pathname,
      rows: numberOf('rows', options.rows),
      words: numberOf('words', options.words),
      recipes: options.recipes === true,
      peers,
      writing: options.writing === true,
      importing: options.import === true,
      seconds: numberOf('seconds', options.seconds),
      rate: numberOf('rate', options.rate),
      counts: options.counts === true,
      http: options.http === true,
      requests: numberOf('requests', options.requests),
      cold: options.cold === true,
      rolling: options.rolling === true,
      starts: options.starts === true,
      folds: options.folds === true,
      misses: options.misses === true ? foldNumber(options.fold) : null,
      sets: typeof options.sets === 'string' ? options.sets : new URL('../../sets', import.meta.url).pathname,
      fetch: options.fetch === true,
      signal,
    })
    if (options.json === true) print(JSON.stringify({ bench: name, figures }))
    else for (const [figure, value] of Object.entries(figures)) print(`${figure.padEnd(40)} ${value}`)
  },
)

/** Without a list: all. */
function peersOf(list: string | undefined): readonly PeerKey[] {
  if (list === undefined) return PEERS
  const names = list.split(',')
  const unknown = names.find(name => !PEERS.some(peer => peer === name))
  if (unknown !== undefined) throw new UsageError(`There is no peer "${unknown}"; name some of ${PEERS.join(',')}.`)
  return PEERS.filter(peer => names.includes(peer))
}

function numberOf(name: string, text: unknown): number | null {
  if (typeof text !== 'string') return null
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`--${name} is "${text}"; write a whole number from 1.`)
  return Number(text)
}

function foldNumber(text: unknown): number {
  if (typeof text !== 'string') return OPEN_FOLD
  if (!/^\d$/.test(text) || Number(text) >= FOLDS)
    throw new UsageError(`--fold is "${text}"; write a number from 0 to ${FOLDS - 1}.`)
  return Number(text)
}

/**
 * The options of every bench. A bench prints its tables to standard error and returns its figures.
 */
export interface BenchOptions {
  /** Folder of the corpora. Without it a bench says so and measures the rest. */
  data: string
  /** `--rows`, or null. */
  rows: number | null
  /** `--words`, or null. */
  words: number | null
  /** A part of `semantic`. */
  recipes: boolean
  /** Parts of `search`. */
  /** The engines beside Perscope; null: none. */
  peers: readonly PeerKey[] | null
  writing: boolean
  importing: boolean
  seconds: number | null
  /** `--rate`, or null: the bench finds one. */
  rate: number | null
  counts: boolean
  http: boolean
  requests: number | null
  cold: boolean
  /** The rolling restart of the part before, alone. */
  rolling: boolean
  /** Whether the bench measures the start of a process. */
  starts: boolean
  /** Parts of `ingestion`. */
  folds: boolean
  /** The fold whose misses are printed, or null. */
  misses: number | null
  /** Folder of the public sets. */
  sets: string
  /** Only clones these sets. */
  fetch: boolean
  signal: AbortSignal
}
