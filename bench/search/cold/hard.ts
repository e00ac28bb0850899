import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { openIndex, SEARCH_SETTINGS, type SearchIndex } from '../../../search/index.ts'
import { createPool, type Pool } from '../../../shared/postgres/pool.ts'
import type { QueryClass } from '../classes.ts'
import { quantile } from '../measure.ts'
import { rounded } from './rounded.ts'

/** A hard query, asked when none of its words is in memory, and again when they are. */
interface HardTimes {
  name: string
  firstMs: number
  againMs: number
  /** Longest that the event loop was held during the first time, ms. */
  stallMs: number
  statements: number
  /** ms of the light queries that ran meanwhile. */
  beside: number[]
}

export interface HardBench {
  url: string
  hard: QueryClass[]
  /** Classes of light queries that run beside. */
  light: QueryClass[]
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * Times hard queries whose words are asked for the first time. An index without room for posting
 * lists asks them: to it, each time is the first. Another one keeps its lists.
 */
export async function measureHard({ url, hard, light, signal, say }: HardBench): Promise<Record<string, number>> {
  const pool = createPool(url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  const { db, statements } = counted(pool)
  const forgetful = openIndex(db, { caches: { postings: 1, verified: 1, counts: 1 } })
  const keeping = openIndex(pool)
  const beside = light.flatMap(one => one.queries)
  try {
    for (const index of [forgetful, keeping]) await index.warm()
    for (const query of beside) await keeping.search(query)
    const alone = await lightTimes(keeping, beside, pause(3_000))
    const all: HardTimes[] = []
    for (const { name, queries } of hard) {
      for (const query of queries) {
        signal.throwIfAborted()
        const before = statements()
        const first = await stalled(() => forgetful.search(query))
        const asked = statements() - before
        await keeping.search(query)
        const again = await stalled(() => keeping.search(query))
        const times = await lightTimes(keeping, beside, forgetful.search(query))
        all.push({
          name,
          firstMs: first.ms,
          againMs: again.ms,
          stallMs: first.stallMs,
          statements: asked,
          beside: times,
        })
      }
    }
    report(all, say)
    return figuresOf(all, alone)
  } finally {
    await forgetful.close()
    await keeping.close()
    await pool.end()
  }
}

function counted(pool: Pool): { db: Pool; statements(): number } {
  let statements = 0
  const db: Pool = Object.create(pool, {
    query: {
      value: (...asked: Parameters<Pool['query']>) => {
        statements++
        return pool.query(...asked)
      },
    },
  })
  return { db, statements: () => statements }
}

function figuresOf(all: HardTimes[], alone: number[]): Record<string, number> {
  const first = all.map(one => one.firstMs)
  const during = all.flatMap(one => one.beside)
  return {
    hard_first_p50_ms: rounded(quantile(first, 0.5)),
    hard_first_p95_ms: rounded(quantile(first, 0.95)),
    hard_first_worst_ms: worst(all, one => one.firstMs),
    hard_again_worst_ms: worst(all, one => one.againMs),
    hard_stall_worst_ms: worst(all, one => one.stallMs),
    hard_statements_worst: worst(all, one => one.statements),
    light_p50_ms: rounded(quantile(alone, 0.5)),
    light_p95_ms: rounded(quantile(alone, 0.95)),
    light_beside_hard_p50_ms: rounded(quantile(during, 0.5)),
    light_beside_hard_p95_ms: rounded(quantile(during, 0.95)),
  }
}

const worst = (all: HardTimes[], of: (one: HardTimes) => number) => rounded(Math.max(...all.map(of)))

/** Runs work, and tells the longest time for which nothing else could run. */
async function stalled(work: () => Promise<unknown>): Promise<{ ms: number; stallMs: number }> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  // The first look of the histogram takes place before the work begins.
  await pause(5)
  delay.reset()
  const start = performance.now()
  await work()
  const ms = performance.now() - start
  await pause(3)
  delay.disable()
  return { ms, stallMs: delay.max / 1e6 }
}

/** ms of light queries, one after the other, until something ends. */
async function lightTimes(
  index: SearchIndex,
  queries: QueryClass['queries'],
  until: Promise<unknown>,
): Promise<number[]> {
  const times: number[] = []
  let ended = false
  const end = until.finally(() => {
    ended = true
  })
  for (let at = 0; !ended; at = (at + 1) % queries.length) {
    const start = performance.now()
    await index.search(queries[at]!)
    times.push(performance.now() - start)
  }
  await end
  return times
}

/** One line a class, slowest first. */
function report(all: HardTimes[], say: (line: string) => void): void {
  const byName = Map.groupBy(all, one => one.name)
  const lines = [...byName].map(([name, own]) => {
    const most = (of: (one: HardTimes) => number) => Math.max(...own.map(of))
    return { name, first: most(o => o.firstMs), again: most(o => o.againMs), own, stall: most(o => o.stallMs) }
  })
  say('   first    again    stall  statements  (worst of each class, ms)')
  for (const { name, first, again, stall, own } of lines.toSorted((a, b) => b.first - a.first)) {
    const column = (ms: number) => ms.toFixed(1).padStart(8)
    const statements = Math.max(...own.map(one => one.statements))
    say(`${column(first)} ${column(again)} ${column(stall)}  ${String(statements).padStart(10)}  ${name}`)
  }
}
