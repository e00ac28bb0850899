import { SAMPLE_OUTLETS } from '#infra/outlets/sample/outlets'
import { TIME_ZONES } from '#shared/articles/article'
import { createPool, type Pool } from '#shared/postgres/pool'
import type { TestApi } from '#test/contract/api'

const ARTICLES = 600

/**
 * A day of a busy fleet in the database: outlets with their troubles, articles of all hours, work
 * in all stages. Its services are connections of their names.
 *
 * @returns ends the connections
 */
export async function putFleetToWork(api: TestApi): Promise<() => Promise<void>> {
  await insertOutlets(api.pool)
  await insertPages(api.pool)
  await insertArticles(api)
  await api.pool.query(`insert into hosts (host, leased_until) select 'h' || i, now() + interval '1 hour' from generate_series(1, 3) i
                        on conflict (host) do update set leased_until = excluded.leased_until`)
  const pools = ['crawler', 'normaliser', 'embedder'].map(name =>
    createPool(api.config.DATABASE_URL, name, () => {}, { max: 1 }),
  )
  // A connection that is in use stays.
  const clients = await Promise.all(pools.map(pool => pool.connect()))
  return async () => {
    for (const client of clients) client.release()
    await Promise.all(pools.map(pool => pool.end()))
  }
}

/** The sample outlets: one cannot be read, one is silent, one blocks a page now and then. */
async function insertOutlets(pool: Pool): Promise<void> {
  for (const [at, { domain, name, country, languages }] of SAMPLE_OUTLETS.entries()) {
    await pool.query(
      `with o as (
         insert into outlets (domain, name, country, languages, time_zone) values ($1, $2, $3, $4, $5) returning outlet_no)
       insert into feeds (outlet_no, url, kind, host, last_success_at, last_new_at, rhythm, failures, last_error)
       select outlet_no, 'https://' || $1 || '/feed', 'feed', $1, now() - $6::int * interval '4 min',
              now() - case when $7 = 'silent' then interval '9 days' else $6::int * interval '17 min' end,
              $6::bigint * 840000, case when $7 = 'failing' then 12 else 0 end,
              case when $7 = 'failing' then 'The feed answers 503.' end from o`,
      [
        domain,
        name,
        country,
        languages,
        TIME_ZONES[country],
        at + 1,
        at === 4 ? 'failing' : at === 7 ? 'silent' : 'healthy',
      ],
    )
  }
  await pool.query(
    `insert into outlet_blocks (outlet_no, kind, pages)
     select outlet_no, 'cookie wall', 3 from outlets order by outlet_no limit 1`,
  )
}

/** Pages that wait, pages in hand, and two that failed, one of them on our side. */
async function insertPages(pool: Pool): Promise<void> {
  await pool.query(
    `insert into pages (outlet_no, url, crawl_key, host, state, reason, detail, next_try_at, finished_at)
     select outlet_no, 'https://' || domain || '/artikel/' || i, domain || i, domain,
            case when i <= 37 then 'waiting' when i <= 41 then 'stored' else 'failed' end,
            case i when 42 then 'timeout' when 43 then 'server error' end,
            case i when 42 then 'The page took longer than 30 s.' end,
            now() + case when i <= 12 then interval '0' else interval '20 min' end,
            case when i > 41 then now() - i * interval '3 min' end
       from generate_series(1, 43) i, lateral (select * from outlets order by outlet_no offset i % 12 limit 1) o`,
  )
  await pool.query(
    `insert into page_sources (page_no, final_url, status, fetched_at)
     select page_no, url, 200, now() - interval '4 s' from pages where state = 'stored'`,
  )
}

/** Articles of the last day, fewer at night; the older ones have vectors. */
async function insertArticles(api: TestApi): Promise<void> {
  const now = Date.now()
  const articles = Array.from({ length: ARTICLES }, (_, i) => ({
    title: `Bericht ${i}`,
    publishedAt: new Date(now),
    pageNo: BigInt(1_000 + i),
  }))
  await api.index(articles)
  // Evenly spread over 23 hours, then drawn towards the middle of the day.
  const ingested = `now() - interval '1 min' - interval '23 hours' * (t.x + 0.11 * sin(2 * pi() * t.x))`
  await api.pool.query(
    `update articles a set ingested_at = ${ingested},
            published_at = ${ingested} - (20 + (a.seq * 37 % 60) * (1 + t.x * 2)) * interval '1 s'
       from (select seq, 1 - seq / $1::float8 as x from articles) t where t.seq = a.seq`,
    [ARTICLES],
  )
  await api.pool.query(
    `update embeddings e set due_at = a.ingested_at + interval '2 hours',
            embedded_at = case when a.ingested_at < now() - interval '2 hours 1 min'
                               then a.ingested_at + interval '2 hours' + (a.seq * 13 % 50) * interval '1 s' end
       from articles a where a.seq = e.seq`,
  )
}
