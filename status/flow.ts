import { readIndexSize } from '#search/indexer'
import type { Flow, LagHour, QuarantineCount, Quarantined, RunningFleet } from '#shared/figures'
import { type Pool, readRow } from '#shared/postgres/pool'
import { countOf, olderOf, SERVICES } from './machines.ts'

// `last_seq` is the number of articles that ever came: numbers are drawn in the transaction that
// inserts the articles. Every article has a row in `embeddings`, except those that only words find
// (`article_rights`), and those that were taken out. Partial indexes of `embeddings` have the
// articles without a vector. Indexes: pages_waiting, pages_stored, pages_failed, pages_resting,
// embeddings_due, embeddings_failed, article_rights_silent, second_looks_outlet. Reads all
// tombstones.
const READ_FLOW = `
  with gone as (
    select count(*) filter (where seq > 0) as articles, count(*) filter (where cleared_at is null) as waiting,
           extract(epoch from now() - min(removed_at) filter (where cleared_at is null)) as oldest
      from tombstones
  ), articles as (
    select last_seq - (select articles from gone) as known, case when last_seq > 0 then last_at end as newest from ingest_clock
  ), open as (
    select count(*) as all, count(*) filter (where ends < 3 and due_at <= now()) as due,
           count(*) filter (where ends > 2) as resting,
           extract(epoch from now() - min(due_at) filter (where ends < 3)) as oldest
      from embeddings where embedded_at is null and failed_at is null
  )
  select known::float8 as articles, newest, greatest(0, known - open.all - failed - words_alone)::float8 as embedded,
         json_build_object('promised', open.all - open.due - open.resting, 'due', open.due,
                           'failed', failed, 'resting', open.resting,
                           'oldest', greatest(0, open.oldest)::float8) as embeddings,
         json_build_object('resting', (select count(*) from feeds where ends > 2 and active)) as feeds,
         (select json_build_object('running', count(*), 'oldest', greatest(0, coalesce(extract(epoch from now() - min(moved_at)), 0))::float8)
            from back_fills where state = 'running') as back,
         (select json_build_object('waiting', waiting, 'oldest', greatest(0, oldest)::float8) from gone) as removals,
         (select json_build_object('waiting', count(*), 'oldest', greatest(0, extract(epoch from now() - min(answered_at)))::float8,
                                   'asked', (
                                     with recursive o (no) as (
                                       select min(outlet_no) from second_looks
                                       union all select (select min(outlet_no) from second_looks where outlet_no > no) from o where no is not null
                                     )
                                     select count(*) from o join second_looks l
                                       on l.outlet_no = o.no and l.looked_at > now() - interval '1 day'))
            from look_answers) as looks,
         json_build_object('waiting', waiting, 'due', w.due,
                           'stored', (select count(*) from pages where state = 'stored'),
                           'failed', (select count(*) from pages where state = 'failed'),
                           'resting', (select count(*) from pages where ends > 2 and state in ('waiting', 'stored')),
                           'oldest', greatest(0, s.oldest)::float8) as pages
    from articles, open,
         (select count(*) as failed from embeddings where failed_at is not null) f,
         (select count(*) as words_alone from article_rights where not vector) r,
         (select count(*) as waiting, count(*) filter (where next_try_at <= now()) as due
            from pages where state = 'waiting') w,
         (select extract(epoch from now() - min(fetched_at)) as oldest
            from page_sources
           where page_no in (select page_no from pages where state = 'stored' and ends < 3 order by next_try_at limit 2000)) s`

/**
 * Reads the open work between the services. The number of articles does not matter, because the
 * statement uses indexes of open work alone.
 */
export async function readFlow(db: Pick<Pool, 'query'>): Promise<Flow> {
  const [{ rows }, { segments, backlog }] = await Promise.all([
    db.query<Omit<Flow, 'index'>>({ name: 'status-flow', text: READ_FLOW }),
    readIndexSize(db),
  ])
  return { ...rows[0]!, index: { segments, backlog } }
}

const READ_RUNNING = `
  select json_build_object(${SERVICES.flatMap(name => [`'${name}'`, countOf(name)])}) as processes,
         json_build_object(${SERVICES.flatMap(name => [`'${name}'`, olderOf(name)])}) as older,
         (select count(*) from hosts where leased_until > now())::int as visits,
         (select coalesce(sum(used), 0) from rate_windows where started_at > now() - interval '1 minute')::int as requests,
         (select count(*) from rate_windows where started_at > now() - interval '1 minute')::int as keys
    from pg_stat_activity where datname = current_database()`

/** Reads the running processes and their work. */
export async function readRunning(db: Pick<Pool, 'query'>): Promise<RunningFleet> {
  return (await readRow<RunningFleet>(db, { name: 'status-running', text: READ_RUNNING }))!
}

/**
 * SQL: the lag of an hour as JSON. Null if there is no percentile, because the hour has no
 * articles.
 */
const lagOf = (table: string) =>
  `case when ${table}.lag[2] is not null then json_build_object('median', ${table}.lag[1], 'p95', ${table}.lag[2]) end`

/** The most articles that are read. 200 an hour are enough for a median and a 95th percentile. */
const SAMPLE = 5_000

// Numbers grow with the time of ingestion, so the articles of the last 24 hours have numbers above
// `lo`. `article_days` gives the number of articles of yesterday and today. At most SAMPLE articles
// are read by primary key, evenly spread. Imported articles, and those from before pages were
// noted, are left out, because they do not show the speed of the crawl. When an outlet is added,
// its feeds have articles of earlier weeks. These count as articles, but their age is no lag. The
// lag of one that lost its vector begins EMBED_DELAY before it was due again. $1: SAMPLE. $2: ms.
const READ_LAG = `
  with span as materialized (
    select last_seq as hi,
           greatest(0, last_seq - coalesce((select sum(articles) from article_days where axis = 'ingested_at'
                                               and day >= (now() at time zone 'UTC')::date - 1), 0)::bigint) as lo
      from ingest_clock
  ), steps as materialized (
    select lo, hi, greatest(1, ceil((hi - lo)::float8 / $1::int))::bigint as step from span
  ), sample as materialized (
    select a.published_at, a.ingested_at, e.embedded_at, e.due_at, step,
           coalesce(a.published_at >= o.created_at, true) as timely
      from steps, generate_series(hi, lo + 1, -step) as s (seq)
      join lateral (select published_at, ingested_at from articles a where a.seq = s.seq offset 0) a on true
      join lateral (select embedded_at, due_at, page_no from embeddings e where e.seq = s.seq and page_no is not null offset 0) e on true
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
           percentile_cont(array[0.5, 0.95]) within group (order by greatest(0, extract(epoch from
             embedded_at - greatest(ingested_at, due_at - $2::float8 * interval '1 ms')))) as lag
      from sample where embedded_at is not null group by 1
  )
  select hour, coalesce(articles, 0) as articles, ${lagOf('indexed')} as index, ${lagOf('embedded')} as vector
    from hours left join indexed using (hour) left join embedded using (hour) order by hour`

/**
 * The lags of articles in the last 24 hours, by hour. The present hour comes last.
 *
 * @param delay EMBED_DELAY, in ms
 */
export async function readLag(db: Pick<Pool, 'query'>, delay: number): Promise<LagHour[]> {
  const { rows } = await db.query<Omit<LagHour, 'hour'> & { hour: Date }>({
    name: 'status-lag',
    text: READ_LAG,
    values: [SAMPLE, delay],
  })
  return rows.map(row => ({ ...row, hour: row.hour.toISOString() }))
}

/** The quarantined pages and embeddings, the newest first. */
export async function listQuarantine(pool: Pool, limit: number): Promise<Quarantined[]> {
  const { rows } = await pool.query<Omit<Quarantined, 'since'> & { since: Date }>(
    `(select 'page:' || page_no as id, url as what, coalesce(reason, 'unknown') as reason, detail, attempts,
             coalesce(finished_at, discovered_at) as since
        from pages where state = 'failed' order by finished_at desc nulls last limit $1)
     union all
     (select 'embedding:' || e.seq, coalesce(t.url, 'article ' || e.seq), 'embedding', e.error, e.attempts, e.failed_at
        from embeddings e left join article_texts t using (seq)
       where e.failed_at is not null order by e.failed_at desc limit $1)
     order by since desc, id limit $1`,
    [limit],
  )
  return rows.map(row => ({ ...row, since: row.since.toISOString() }))
}

/**
 * Reasons of failures on our side. The normaliser, the crawler itself and the embedder write them.
 * Any other reason is a failure of an outlet or of a network.
 */
const OURS = ['timeout', 'memory', 'error', 'indexing', 'crawler error', 'embedding']

/**
 * The number of quarantined pages and embeddings, by kind and reason. Indexes: pages_failed,
 * embeddings_failed.
 */
export async function countQuarantine(pool: Pool): Promise<QuarantineCount[]> {
  const { rows } = await pool.query<QuarantineCount>(
    `select 'page' as kind, coalesce(reason, 'unknown') as reason, count(*)::int as n,
            coalesce(reason = any($1), false) as ours
       from pages where state = 'failed' group by reason
     union all
     select 'embedding', 'embedding', count(*)::int, true from embeddings where failed_at is not null having count(*) > 0
     order by n desc, kind, reason`,
    [OURS],
  )
  return rows
}

// The notifier moves `try_at` ahead when it sends a message. So nobody sends a message with an old
// `try_at`.
const ALERTS = `
  select (select count(*)::int from search_alerts a join api_keys k on k.id = a.key_id
            where a.confirmed_at is not null and a.rests is null and k.revoked_at is null) as "inForce",
         (select count(*)::int from search_alerts where rests is not null and failing_since is not null) as resting,
         (select coalesce(extract(epoch from now() - min(try_at)), 0)::float8 from alert_messages m
            join search_alerts a using (alert_id) where m.delivered_at is null and a.rests is null
             and (a.confirmed_at is not null or m.kind = 'ask')) as waiting`

export interface AlertFigures {
  /** Confirmed alerts that do not rest: a notifier has to tell them. */
  inForce: number
  /** Alerts that rest after failures. */
  resting: number
  /** Seconds that the oldest untried message has waited for a notifier. */
  waiting: number
}

export const readAlerts = async (pool: Pool): Promise<AlertFigures> =>
  (await pool.query<AlertFigures>(ALERTS)).rows[0]!
