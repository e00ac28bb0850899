import { resolve } from 'node:path'
import { runCommand, UsageError, wholeNumber } from '#shared/process/command'
import type { Figures } from './figures.ts'
import { PEERS, type PeerKey } from './search/peers/peer.ts'

const NAMES = [
  'search',
  'semantic',
  'ingestion',
  'mixed',
  'growth',
  'week',
  'copies',
  'fairness',
  'requests',
] as const

await runCommand(
  {
    name: 'bench',
    words: true,
    about: `Benchmarks, each with servers of its own: ${NAMES.join(', ')}.`,
    usage: [
      'NAME [--data DIR] [--rows N] [--json]',
      `search --peers [${PEERS.join(',')}]`,
      'search [--import] [--http [--requests N]] [--cold]',
      'search --removals N [--against CHECKOUT]',
      'mixed [--rate N] [--seconds N]',
      'growth [--words N]',
      'semantic --related',
      'fairness [--only LOAD,LOAD] [--seconds N]',
      'requests [--rows N]',
    ],
    options: {
      data: { value: 'DIR', about: 'where the corpora lie (default ../shared/data)' },
      json: { about: 'prints one object {"bench", "figures"} last' },
      rows: { value: 'N', about: 'articles to generate; week: each day; semantic: vectors' },
      words: { value: 'N', about: 'growth: words of a body, on average (default 40)' },
      peers: { about: 'search: other engines on the same articles; those named, else all' },
      import: { about: 'search: npm run import of 100,000 articles, alone and beside searches' },
      seconds: { value: 'N', about: 'how long: mixed (default 3600), each load of fairness (60)' },
      only: { value: 'LOAD', about: 'fairness: these loads alone' },
      related: { about: 'semantic: how close articles on the same event are, and nothing else' },
      rate: { value: 'N', about: 'mixed: requests a second, instead of 60 % of the limit' },
      http: { about: 'search: an API process over HTTP' },
      removals: { value: 'N', about: 'search: with N articles taken out, and without, in turn' },
      against: { value: 'CHECKOUT', about: 'search --removals: and by the engine of a checkout' },
      cold: { about: 'search: a fresh process, the hardest queries, a rolling restart' },
      requests: {
        value: 'N',
        about: 'how many over which --http watches its memory (default 100000)',
      },
    },
  },
  async ({ positionals: [name, ...rest], options, print, signal }) => {
    const peers = options.peers === true ? peersOf(rest.shift()) : null
    if (!NAMES.some(known => known === name) || rest.length > 0)
      throw new UsageError(`Name one of ${NAMES.join(', ')}.`)
    const bench: { run(options: BenchOptions): Promise<Figures> } = await import(
      `./${name}/main.ts`
    )
    const number = (option: 'rows' | 'words' | 'seconds' | 'rate' | 'requests' | 'removals') =>
      wholeNumber(option, options[option], 1_000_000_000)
    const figures = await bench.run({
      data:
        typeof options.data === 'string'
          ? options.data
          : new URL('../../shared/data', import.meta.url).pathname,
      rows: number('rows'),
      words: number('words'),
      seconds: number('seconds'),
      rate: number('rate'),
      requests: number('requests'),
      removals: number('removals'),
      against: typeof options.against === 'string' ? resolve(options.against) : null,
      peers,
      signal,
      importing: options.import === true,
      http: options.http === true,
      cold: options.cold === true,
      related: options.related === true,
      only: typeof options.only === 'string' ? options.only : null,
    })
    if (options.json === true) print(JSON.stringify({ bench: name, figures }))
    else
      for (const [figure, value] of Object.entries(figures)) print(`${figure.padEnd(40)} ${value}`)
  },
)

/** The peers that a list names. Without a list: all peers. */
function peersOf(list: string | undefined): readonly PeerKey[] {
  const names = list?.split(',') ?? PEERS
  const unknown = names.find(name => !PEERS.some(peer => peer === name))
  if (unknown !== undefined)
    throw new UsageError(`There is no peer "${unknown}"; name some of ${PEERS.join(',')}.`)
  return PEERS.filter(peer => names.includes(peer))
}

/**
 * The options of every bench. A bench prints its tables to standard error, and returns its figures.
 * A numeric option that is not given is null.
 */
export interface BenchOptions {
  /** Folder of the test sets. When a set is missing, a bench says so and measures the rest. */
  data: string
  rows: number | null
  words: number | null
  seconds: number | null
  /** Requests a second. Null: the bench finds out how many the API can answer. */
  rate: number | null
  requests: number | null
  /**
   * For `search`: the engines to compare with Perscope; null: the bench compares none. The three
   * options below also choose what `search` measures.
   */
  peers: readonly PeerKey[] | null
  importing: boolean
  http: boolean
  cold: boolean
  /** For `search`: how many articles are taken out, and the other checkout to compare with. */
  removals: number | null
  against: string | null
  /** For `semantic`: measures only how close articles on the same event are. */
  related: boolean
  /** For `fairness`: measures only this load; null: all. */
  only: string | null
  signal: AbortSignal
}
