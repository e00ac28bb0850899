import { type Figures, quantile, rounded, say, sum } from '#bench/figures'
import { inNewDatabase } from '#bench/servers'
import { openIndex, SEARCH_SETTINGS, type SearchIndex } from '#search/index'
import type { Doomed } from '#search/types'
import { createPool, type Pool } from '#shared/postgres/pool'
import { BATCH, clearRemoved, removeArticles } from '#shared/removals/remove'
import type { SearchBench } from './build.ts'
import { timed } from './measure.ts'

/** Runs of each query in each index. The fastest counts: other programs only make one slower. */
const RUNS = 15

/**
 * Takes articles out of a copy of the corpus. Then it times the same searches in turn: without
 * removals, with them, and by the engine of another checkout.
 *
 * @param against folder of the other checkout; null: there is none
 * @returns how long the searches of one take, in parts of those of the other
 */
export const measureRemovals = (
  bench: SearchBench,
  removals: number,
  against: string | null,
): Promise<Figures> =>
  inNewDatabase(bench, 'bench_removals', bench.url, async url => {
    const pools: Pool[] = []
    const open = (address: string, engine: { openIndex: typeof openIndex }): SearchIndex => {
      const pool = createPool(address, 'bench', () => {}, { settings: SEARCH_SETTINGS })
      pools.push(pool)
      // It forgets how many matches a query had.
      return engine.openIndex(pool, { caches: { counts: 1 } })
    }
    await takeOut(url, removals, bench)
    const indices = { none: open(bench.url, { openIndex }), removed: open(url, { openIndex }) }
    const other = against && { before: open(bench.url, await import(`${against}/search/index.ts`)) }
    try {
      const times = await measureInTurn(bench, { ...indices, ...other })
      return { removals, ...compare(times, 'removed', 'none'), ...compare(times, 'none', 'before') }
    } finally {
      for (const index of Object.values({ ...indices, ...other })) await index.close()
      for (const pool of pools) await pool.end()
    }
  })

async function takeOut(url: string, count: number, { rows, signal }: SearchBench): Promise<void> {
  const pool = createPool(url, 'bench', () => {}, { statementTimeout: 0 })
  try {
    const doomed = await pool.query<Doomed>(
      'select seq, id from articles where seq % $1 = 1 order by seq limit $2',
      [Math.max(1, Math.floor(rows / count)), count],
    )
    const remove = async () => {
      for (let from = 0; from < doomed.rows.length; from += BATCH)
        await removeArticles(pool, doomed.rows.slice(from, from + BATCH), 'the bench')
    }
    const ms = await timed(remove)
    const cleared = await timed(() => clearRemoved(pool, [], signal))
    say(
      `took out ${count} articles in ${rounded(ms / 1_000)} s, cleared in ${rounded(cleared / 1_000)} s`,
    )
    await pool.query('vacuum analyze')
  } finally {
    await pool.end()
  }
}

type Times = Map<string, number[]>

async function measureInTurn(
  { classes, signal }: SearchBench,
  indices: Record<string, SearchIndex>,
): Promise<Times> {
  const times: Times = new Map(Object.keys(indices).map(name => [name, []]))
  const all = Object.entries(indices)
  for (const { queries } of classes) {
    signal.throwIfAborted()
    for (const { query } of queries) {
      for (const [, index] of all) await index.search(query)
      const runs: Times = new Map(all.map(([name]) => [name, []]))
      for (let run = 0; run < RUNS; run++)
        for (let at = 0; at < all.length; at++) {
          const [name, index] = all[(at + run) % all.length]!
          runs.get(name)!.push(await timed(() => index.search(query)))
        }
      for (const [name, own] of runs) times.get(name)!.push(Math.min(...own))
    }
  }
  return times
}

function compare(times: Times, name: string, of: string): Figures {
  const own = times.get(name)
  const others = times.get(of)
  if (own === undefined || others === undefined) return {}
  const ratios = own.map((ms, at) => ms / others[at]!)
  return {
    [`${name}_ms`]: rounded(quantile(own, 0.5), 3),
    [`${of}_ms`]: rounded(quantile(others, 0.5), 3),
    [`${name}_of_${of}`]: rounded(sum(own) / sum(others), 3),
    [`${name}_of_${of}_p50`]: rounded(quantile(ratios, 0.5), 3),
    [`${name}_of_${of}_p95`]: rounded(quantile(ratios, 0.95), 3),
  }
}
