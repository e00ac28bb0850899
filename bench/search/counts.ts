import { type Breakdown, type Matched, openIndex, SEARCH_SETTINGS, timeZoneNamed } from '../../search/index.ts'
import { createPool } from '../../shared/postgres/pool.ts'
import { type QueryClass, queryClasses } from './classes.ts'
import type { Archive } from './generator.ts'
import { quantile, RUNS } from './measure.ts'

/** Hours of more than a hundred days are refused, so counts by hour look at the last ninety. */
const HOURS = 90 * 86_400_000

/** Breakdowns that are measured, by name. */
function breakdowns(): Record<string, Breakdown> {
  const zone = timeZoneNamed('Europe/Brussels')!
  return {
    hour: { by: 'hour', zone },
    day: { by: 'day', zone },
    week: { by: 'week', zone },
    month: { by: 'month', zone },
    outlet: { by: 'outlet' },
    language: { by: 'language' },
    country: { by: 'country' },
  }
}

interface Measured {
  name: string
  by: string
  /** ms, one for each query: the median of its runs. */
  times: number[]
  /** ms of each query's very first count. */
  coldTimes: number[]
  total: number
}

/**
 * Times counts of every class by time, outlet, language and country, through the index.
 *
 * @param say prints a line of the report
 */
export async function measureCounts(parts: {
  url: string
  archive: Archive
  queries: number
  signal: AbortSignal
  say: (line: string) => void
}): Promise<Record<string, number>> {
  const pool = createPool(parts.url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  const index = openIndex(pool)
  try {
    const results: Measured[] = []
    for (const one of queryClasses(parts.archive, parts.queries)) {
      // A count has no pages and no order.
      if (/deep page|ascending/.test(one.name)) continue
      for (const [by, breakdown] of Object.entries(breakdowns())) {
        parts.signal.throwIfAborted()
        results.push(await measure(index, one, by, breakdown, parts.archive))
      }
    }
    return report(results, parts.say)
  } finally {
    await index.close()
    await pool.end()
  }
}

async function measure(
  index: ReturnType<typeof openIndex>,
  { name, queries }: QueryClass,
  by: string,
  breakdown: Breakdown,
  archive: Archive,
): Promise<Measured> {
  const measured: Measured = { name, by, times: [], coldTimes: [], total: 0 }
  for (const query of queries) {
    const asked = by === 'hour' ? lastDays(query, archive) : query
    const count = async () => {
      const start = performance.now()
      const { total } = await index.countBy(asked, breakdown)
      measured.total = total
      return performance.now() - start
    }
    measured.coldTimes.push(await count())
    const runs: number[] = []
    for (let run = 0; run < RUNS; run++) runs.push(await count())
    measured.times.push(quantile(runs, 0.5))
  }
  return measured
}

function lastDays(query: Matched, { end }: Archive): Matched {
  const { publishedAfter } = query.coverage
  const from = new Date(Math.max(end - HOURS, publishedAfter?.getTime() ?? 0))
  return publishedAfter === null || query.sort === 'ingested_at'
    ? { ...query, coverage: { ...query.coverage, publishedAfter: from }, ingestedAfter: query.ingestedAfter ?? from }
    : query.coverage.publishedBefore!.at.getTime() - publishedAfter.getTime() <= HOURS
      ? query
      : { ...query, coverage: { ...query.coverage, publishedAfter: from } }
}

/** The slowest cells, then one line for each breakdown: median, 95th percentile, slowest query. */
function report(results: Measured[], say: (line: string) => void): Record<string, number> {
  const column = (ms: number) => ms.toFixed(1).padStart(8)
  const slowestFirst = results.toSorted((a, b) => quantile(b.times, 0.5) - quantile(a.times, 0.5))
  for (const { name, by, times, coldTimes, total } of slowestFirst.slice(0, 40)) {
    const figures = [quantile(times, 0.5), Math.max(...times), quantile(coldTimes, 0.5)].map(column).join('')
    say(`${figures}  ${String(total).padStart(8)}  by ${by} · ${name}`)
  }
  const figures: Record<string, number> = { cells: results.length }
  for (const [by, own] of Map.groupBy(results, one => one.by)) {
    const times = own.flatMap(one => one.times)
    const cold = own.flatMap(one => one.coldTimes)
    figures[`${by}_p50_ms`] = rounded(quantile(times, 0.5))
    figures[`${by}_p95_ms`] = rounded(quantile(times, 0.95))
    figures[`${by}_worst_query_ms`] = rounded(Math.max(...times))
    figures[`${by}_cold_p95_ms`] = rounded(quantile(cold, 0.95))
  }
  return figures
}

const rounded = (ms: number) => Math.round(ms * 100) / 100
