import type { Pool } from '../postgres/pool.ts'

/** One hour of the last 24. Lags in seconds; null where nothing was measured. */
export interface LagHour {
  /** Beginning of the hour, ISO 8601. */
  hour: string
  /** Articles of the crawl that were indexed in the hour. */
  articles: number
  /** From publication to index, of articles published since their outlet was added. */
  index: Lag | null
  /** From index to vector, of articles embedded in the hour. */
  vector: Lag | null
}

export interface Lag {
  median: number
  p95: number
}

/** Articles that are read: 200 an hour are enough for a median and a 95th percentile. */
const SAMPLE = 5_000

// Numbers grow with the time of ingestion, so the articles of the last 24 hours have numbers above
// `lo`: yesterday's and today's articles are counted by day. At most SAMPLE of them are read by
// primary key, evenly spread. Articles of an archive, or from before pages were noted, say nothing
// about the crawl and are left out. When an outlet is added, its feeds name articles of the weeks
// before: they count as articles, but their age is no lag. $1: SAMPLE.
const READ = `
  with span as materialized (
    select last_seq as hi,
           greatest(0, last_seq - coalesce((select sum(articles) from article_days where axis = 'ingested_at'
                                               and day >= (now() at time zone 'UTC')::date - 1), 0)::bigint) as lo
      from ingest_clock
  ), steps as materialized (
    select lo, hi, greatest(1, ceil((hi - lo)::float8 / $1::int))::bigint as step from span
  ), sample as materialized (
    select a.published_at, a.ingested_at, e.embedded_at, step,
           coalesce(a.published_at >= o.created_at, true) as timely
      from steps, generate_series(hi, lo + 1, -step) as s (seq)
      join lateral (select published_at, ingested_at from articles a where a.seq = s.seq offset 0) a on true
      join lateral (select embedded_at, page_no from embeddings e where e.seq = s.seq and page_no is not null offset 0) e on true
      left join lateral (select created_at from pages p join outlets using (outlet_no) where p.page_no = e.page_no offset 0) o on true
     where a.ingested_at > now() - interval '25 hours'
  ), hours as (
    select h as hour from generate_series(date_trunc('hour', now()) - interval '23 hours', date_trunc('hour', now()),
                                          interval '1 hour') as h
  ), indexed as (
    select date_trunc('hour', ingested_at) as hour, sum(step)::int as articles,
           percentile_cont(array[0.5, 0.95]) within group (order by greatest(0, extract(epoch from ingested_at - published_at)))
             filter (where timely) as lag
      from sample group by 1
  ), embedded as (
    select date_trunc('hour', embedded_at) as hour,
           percentile_cont(array[0.5, 0.95]) within group (order by greatest(0, extract(epoch from embedded_at - ingested_at)))
             as lag
      from sample where embedded_at is not null group by 1
  )
  select hour, coalesce(articles, 0) as articles, indexed.lag as index, embedded.lag as vector
    from hours left join indexed using (hour) left join embedded using (hour) order by hour`

/** The delays of articles in the last 24 hours, by hour, the present hour last. */
export async function readLag(db: Pick<Pool, 'query'>): Promise<LagHour[]> {
  const { rows } = await db.query<Row>({ name: 'status-lag', text: READ, values: [SAMPLE] })
  return rows.map(({ hour, articles, index, vector }) => ({
    hour: hour.toISOString(),
    articles,
    index: lagOf(index),
    vector: lagOf(vector),
  }))
}

const lagOf = (percentiles: (number | null)[] | null): Lag | null => {
  const [median, p95] = percentiles ?? []
  return typeof median === 'number' && typeof p95 === 'number' ? { median, p95 } : null
}

interface Row {
  hour: Date
  articles: number
  index: (number | null)[] | null
  vector: (number | null)[] | null
}
