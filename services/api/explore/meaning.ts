import { LRUCache } from 'lru-cache'
import { NO_FILTERS, type SearchIndex } from '../../../search/index.ts'
import type { Plan } from '../../../shared/plans/keys.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { historyStart } from '../articles/articles.ts'
import type { ShownArticle } from '../articles/shown-article.ts'

/** How much of a plan's coverage can be found by meaning so far. */
export interface Meaning {
  /** Articles that have a vector, of all articles. */
  found: number
  of: number
  /** The earliest time of an article that waits for its vector, ISO 8601; null: none waits. */
  waiting_from: string | null
}

/** ms that a figure is good for, and plans whose figures are kept. */
const FRESH = 15_000
const PLANS = 500

/** Tells how much of a plan's coverage has vectors, read at most once in its time for all. */
export function createMeaning(pool: Pool, index: Pick<SearchIndex<ShownArticle>, 'count'>) {
  const known = new LRUCache<string, Promise<Meaning>>({ max: PLANS, ttl: FRESH })
  return (plan: Plan): Promise<Meaning> => {
    const start = historyStart(plan.history, new Date())
    const name = `${plan.countries} ${start.getTime()}`
    const kept = known.get(name)
    if (kept !== undefined) return kept
    const reading = readMeaning(pool, index, plan, start)
    known.set(name, reading)
    reading.catch(() => known.delete(name))
    return reading
  }
}

// Of a long line of articles without vectors the first ones are looked at: the others are taken to
// be alike. $1 SAMPLE, $2 countries, $3 history start. Index: embeddings_due.
const SAMPLE = 50_000
const WAITING = `
  with waiting as (
    select seq from embeddings where embedded_at is null and failed_at is null
  ), sample as materialized (select seq from waiting limit $1)
  select (select count(*) from waiting)::float8 as all, (select count(*) from sample)::float8 as sampled,
         count(*)::float8 as covered, min(coalesce(a.published_at, a.ingested_at)) as since
    from sample join articles a using (seq)
   where a.country = any ($2) and coalesce(a.published_at, a.ingested_at) >= $3`

interface WaitingRow {
  all: number
  sampled: number
  covered: number
  since: Date | null
}

async function readMeaning(
  pool: Pool,
  index: Pick<SearchIndex<ShownArticle>, 'count'>,
  plan: Plan,
  start: Date,
): Promise<Meaning> {
  const coverage = { historyStart: start, publishedAfter: null, publishedBefore: null }
  const everything = { ...NO_FILTERS, match: { kind: 'all' as const }, searchIn: 'title' as const }
  const [of, { rows }] = await Promise.all([
    index.count({ ...everything, countries: plan.countries, coverage, sort: 'published_at' }),
    pool.query<WaitingRow>({ name: 'meaning-waiting', text: WAITING, values: [SAMPLE, plan.countries, start] }),
  ])
  const { all, sampled, covered, since } = rows[0]!
  const waiting = sampled === 0 ? 0 : Math.round((covered * all) / sampled)
  return { found: Math.max(0, of - waiting), of, waiting_from: since?.toISOString() ?? null }
}
