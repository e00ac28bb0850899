import { type Figures, mean, prefixed, rounded, say } from '#bench/figures'
import type { BenchOptions } from '#bench/main'
import { type BuiltCorpus, buildCorpus, measureSizes } from '#bench/search/build'
import { measureStart } from '#bench/search/cold'
import { measureClasses, measureParts, timed } from '#bench/search/measure'
import { type Bench, withServers } from '#bench/servers'
import { RULES } from '#shared/copies/shingles'
import { withDatabase } from '#test/database'
import { runScript } from '#test/fleet'

const ROWS = 10_000_000
/** The small corpus has this many times fewer articles than the large one. */
const SMALLER = 10
/**
 * Words of a body. A body has a tenth of the usual length, so that the corpus fits on a small disk.
 */
const WORDS = 40
/** The bench measures each corpus this many times, and takes the corpora in turn. */
const ROUNDS = 2
/** The cache has room for the posting lists of all queries, also those of the larger corpus. */
const ENV = { SEARCH_CACHE: '4400MB' }

/**
 * Compares a large corpus with a corpus of a tenth of its articles. The bench measures the time to
 * build, the size on disk, searches in this process, an API from its start on, groups of copies and
 * `verify`. Bodies are short, so that the disk holds the large corpus. The number of articles
 * decides the time of a search; their length does not.
 *
 * @returns the figures of both corpora, and `growth_p95`: p95 of the large corpus, divided by p95
 * of the small one
 */
export function run({ signal, ...options }: BenchOptions): Promise<Figures> {
  const rows = options.rows ?? ROWS
  const words = options.words ?? WORDS
  const measure = async (servers: Bench): Promise<Figures> => {
    const small = await buildCorpus(
      servers.server,
      Math.max(1, Math.round(rows / SMALLER)),
      signal,
      words,
    )
    const large = await buildCorpus(servers.server, rows, signal, words)
    const figures: Figures = { rows, words }
    const rounds: Record<string, Figures[]> = { small: [], large: [] }
    const corpora = Object.entries({ small, large })
    for (const [name, { url, seconds }] of corpora) {
      Object.assign(figures, prefixed(name, await measureSizes(url)))
      if (seconds !== null) figures[`${name}_build_s`] = rounded(seconds.insert + seconds.index)
    }
    for (let round = 1; round <= ROUNDS; round++) {
      for (const [name, built] of corpora) {
        say(`Round ${round}, the ${name} corpus …`)
        const bench = { ...servers, ...built }
        rounds[name]!.push({
          ...(await measureClasses(bench)),
          ...(await measureStart(bench, ENV)),
        })
      }
    }
    for (const [name, seen] of Object.entries(rounds))
      Object.assign(figures, prefixed(name, means(seen)))
    for (const [name, built] of corpora) {
      say(`Parts of words, copies and verify, the ${name} corpus …`)
      const bench = { ...servers, ...built }
      Object.assign(figures, prefixed(name, await measureParts(bench)))
      Object.assign(figures, prefixed(name, await measureUpkeep(built)))
    }
    for (const figure of ['p50', 'p95', 'again_p50', 'again_p95', 'warm_p95'])
      figures[`growth_${figure}`] = rounded(
        figures[`large_${figure}_ms`]! / figures[`small_${figure}_ms`]!,
      )
    return figures
  }
  return withServers('growth', 'bench-search', signal, measure, ['postgres'])
}

/**
 * Seconds to find all groups of copies, as `import` does at its end, and to `verify` everything.
 */
async function measureUpkeep({ url }: BuiltCorpus): Promise<Figures> {
  await withDatabase(url, async database => {
    await database.query('truncate copy_sketches, copies_due')
    await database.query('update copies_state set rules = $1, seq = 0, version = version + 1', [
      RULES,
    ])
  })
  const env = { ...process.env, DATABASE_URL: url }
  const copies = await timed(() => runScript(env, 'import', '/dev/null'))
  const { seconds, differences } = JSON.parse(await runScript(env, 'verify', '--json'))
  return {
    copies_s: Math.round(copies / 1_000),
    verify_s: seconds,
    verify_differences: differences.length,
  }
}

const means = (rounds: Figures[]): Figures =>
  Object.fromEntries(
    Object.keys(rounds[0] ?? {}).map(name => [
      name,
      rounded(mean(rounds.map(round => round[name]!))),
    ]),
  )
