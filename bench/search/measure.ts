import type { ArticleQuery, IndexState, Position, SearchIndex, SearchPage } from '../../search/index.ts'
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

/** One query, measured, and the page that was. */
export interface QueryTimes {
  ms: number
  coldMs: number
  page: SearchPage
  /** What stands before the page; null: it is the first. */
  after: { seq: bigint; position: Position } | null
}

export const RUNS = 3
/** A deep page is this far into its set. */
const DEPTH = 8

/** Times every query of a class. */
export async function measureClass(index: SearchIndex, { name, queries, deep }: QueryClass): Promise<ClassTimes> {
  const measured: QueryTimes[] = []
  for (const query of queries) measured.push(await measureQuery(index, query, deep))
  return {
    name,
    times: measured.map(one => one.ms),
    coldTimes: measured.map(one => one.coldMs),
    total: measured.at(-1)?.page.total ?? 0,
  }
}

/**
 * Times a query: once as it comes, then warm.
 *
 * @param state of the index, read beforehand; absent: each search reads it
 */
export async function measureQuery(
  index: SearchIndex,
  query: ArticleQuery,
  deep: boolean,
  state?: IndexState,
): Promise<QueryTimes> {
  const begun = performance.now()
  let page = await index.search(query, null, { state })
  const coldMs = performance.now() - begun
  let after: QueryTimes['after'] = null
  for (let depth = 0; deep && depth < DEPTH && page.next !== null; depth++) {
    after = { seq: page.rows.at(-1)!.seq, position: page.next }
    page = await index.search(query, after.position, { state })
  }
  const runs: number[] = []
  for (let run = 0; run < RUNS; run++) {
    const start = performance.now()
    await index.search(query, after?.position, { state })
    runs.push(performance.now() - start)
  }
  return { ms: quantile(runs, 0.5), coldMs, page, after }
}

/** Of the sorted values, the one so far up. */
export function quantile(values: number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
}
