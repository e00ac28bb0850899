import { LRUCache } from 'lru-cache'
import { NO_FILTERS, type SearchIndex } from '#search/index'
import type { ShownArticle } from '#services/api/articles/shown-article'
import { type Near, nearOf } from '#shared/embeddings/models'
import type { Plan } from '#shared/plans/keys'
import { COVERED, COVERED_TIME, coveredBy } from '#shared/plans/reach'
import type { Pool } from '#shared/postgres/pool'

/** How much of a plan's reach a search by meaning can find. */
export interface Meaning {
  /** Articles that have a vector, and all articles. */
  found: number
  of: number
  /** The earliest time of an article that waits for its vector, ISO 8601; null: none waits. */
  waiting_from: string | null
  /** The relevance from which an article is likely about the question; null: not measured. */
  near: number | null
}

type Reach = Omit<Meaning, 'near'>

/** ms that the figures of a plan are kept, and most plans whose figures are kept. */
const FRESH = 15_000
const PLANS = 500

/**
 * Tells how much of a plan's reach has vectors. The figures of a plan are read at most once in
 * `FRESH` ms, whoever asks.
 */
export function createMeaning(
  pool: Pool,
  index: Pick<SearchIndex<ShownArticle>, 'count'>,
  near: Near | null,
): (plan: Plan, query: string) => Promise<Meaning> {
  const known = new LRUCache<string, Reach, { plan: Plan; start: Date }>({
    max: PLANS,
    ttl: FRESH,
    ignoreFetchAbort: true,
    fetchMethod: (_name, _stale, { context: { plan, start } }) =>
      readMeaning(pool, index, plan, start),
  })
  return async (plan, query) => {
    const { since: start } = coveredBy(plan)
    const reach = await known.forceFetch(`${plan.countries} ${start.getTime()}`, {
      context: { plan, start },
    })
    return { ...reach, near: nearOf(near, query) }
  }
}

// Counts articles without a vector: they wait for it, failed too often, or have rights that forbid
// it. Only the first $1 that wait, and the first $1 others, are compared with the plan; they stand
// for all of their kind. $1 SAMPLE, $2 countries, $3 history start. Indexes: embeddings_due,
// embeddings_failed, article_rights_silent.
const SAMPLE = 50_000
const LACKING = `
  with lacking as (
    select seq, true as waits from embeddings where embedded_at is null and failed_at is null
    union all select seq, false from embeddings where embedded_at is null and failed_at is not null
    union all select article_seq, false from article_rights where not vector and article_seq is not null
  ), sample as (
    (select * from lacking where waits limit $1) union all (select * from lacking where not waits limit $1)
  )
  select s.waits, (select count(*) from lacking l where l.waits = s.waits)::float8 as all,
         count(*)::float8 as sampled, count(a.seq)::float8 as covered, min(${COVERED_TIME}) as since
    from sample s left join articles a
      on a.seq = s.seq and ${COVERED}
   group by s.waits`

interface LackingRow {
  waits: boolean
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
): Promise<Reach> {
  const reach = { historyStart: start, publishedAfter: null, publishedBefore: null }
  const everything = { ...NO_FILTERS, match: { kind: 'all' as const }, searchIn: 'title' as const }
  const [of, { rows }] = await Promise.all([
    index.count({ ...everything, countries: plan.countries, reach, sort: 'published_at' }),
    pool.query<LackingRow>({
      name: 'meaning-lacking',
      text: LACKING,
      values: [SAMPLE, plan.countries, start],
    }),
  ])
  const lacking = rows.reduce(
    (sum, { all, sampled, covered }) => sum + Math.round((covered * all) / sampled),
    0,
  )
  const since = rows.find(({ waits }) => waits)?.since ?? null
  return { found: Math.max(0, of - lacking), of, waiting_from: since?.toISOString() ?? null }
}
