import type { Position } from '../../services/api/search/query.ts'
import { search } from '../../services/api/search/search.ts'
import type { Queryable } from '../../shared/postgres/pool.ts'
import type { QueryClass } from './classes.ts'

export interface ClassTimes {
  name: string
  /** ms of a page with its total, one for each query: the median of its runs. */
  times: number[]
  /** The same of each query's very first run, when its words may not be in memory. */
  coldTimes: number[]
  /** Articles found, of the last query. */
  total: number
}

const RUNS = 3
/** A deep page is this far into its set. */
const DEPTH = 8

/** Times every query of a class: once as it comes, then warm. */
export async function measureClass(db: Queryable, { name, queries, deep }: QueryClass): Promise<ClassTimes> {
  const times: number[] = []
  const coldTimes: number[] = []
  let total = 0
  for (const query of queries) {
    let position: Position | null = null
    const begun = performance.now()
    let page = await search(db, query, null)
    coldTimes.push(performance.now() - begun)
    total = page.total
    for (let depth = 0; deep && depth < DEPTH && page.next !== null; depth++) {
      position = page.next
      page = await search(db, query, position)
    }
    const runs: number[] = []
    for (let run = 0; run < RUNS; run++) {
      const start = performance.now()
      await search(db, query, position)
      runs.push(performance.now() - start)
    }
    times.push(quantile(runs, 0.5))
  }
  return { name, times, coldTimes, total }
}

/** Of the sorted values, the one so far up. */
export function quantile(values: number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
}
