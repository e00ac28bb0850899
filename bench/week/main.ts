import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../infra/embedded/data-directory.ts'
import { createPool, type Pool } from '../../shared/postgres/pool.ts'
import { readFlow } from '../../shared/status/flow.ts'
import { numberIn } from '../../test/faults/site/article.ts'
import { createFleet } from '../../test/fleet.ts'
import { type Figures, quantile, rounded, say } from '../figures.ts'
import type { BenchOptions } from '../main.ts'
import { createDatabase, withServers } from '../servers.ts'
import type { Order, SiteState } from './site.ts'

const OUTLETS = 400
const PER_DAY = 20_000
const WEEK_SECONDS = 7 * 86_400
const HOUR_MS = 3_600_000
/** In how many seconds the week passes. */
const SECONDS = 7_200
/** Seconds between two looks at the queues. */
const LOOK_SECONDS = 2
/** Seconds after the week in which the last articles must be there. */
const GRACE_SECONDS = 300

/**
 * A week of 400 outlets with 20,000 articles a day, in two hours: crawler, normaliser, feeds and
 * pages, as in every day. All pauses of the crawl are divided by the speed. The
 * machine is not faster, so work weighs as much more as time is: depths and lags are upper bounds.
 * Nothing is embedded.
 *
 * @returns figures of lags in simulated minutes, of depths in pages
 */
export function run({ signal, ...options }: BenchOptions): Promise<Figures> {
  const speed = WEEK_SECONDS / (options.seconds ?? SECONDS)
  const perDay = options.rows ?? PER_DAY
  return withServers(
    'week',
    'bench-week',
    signal,
    async ({ server, servers }) => {
      const { url, drop } = await createDatabase(server, 'week')
      const fleet = createFleet({ ...settingsOf(speed), ...servers.settings, DATABASE_URL: url })
      const pool = createPool(url, 'bench', () => {})
      const folder = await mkdtemp(join(tmpdir(), 'perscope-week-'))
      const port = await freePort()
      const site = fork(new URL('./site.ts', import.meta.url))
      try {
        site.send({ port, outlets: OUTLETS, perDay, speed } satisfies Order)
        const [catalogue] = await once(site, 'message')
        const file = join(folder, 'outlets.json')
        await writeFile(file, JSON.stringify(catalogue))
        await fleet.script('migrate')
        await fleet.script('outlets', 'sync', file)
        await fleet.start('crawler')
        await fleet.start('normaliser')
        say(`${perDay} articles a day of ${OUTLETS} outlets, ${Math.round(speed)} times as fast …`)
        const { due, stored, published, requests } = await watch(pool, site, signal)
        return {
          ...{ speed: Math.round(speed), per_day: perDay, published: published.length },
          ...(await readArrivals(pool, published, speed)),
          due_p50: quantile(due, 0.5),
          due_worst: Math.max(...due),
          stored_worst: Math.max(...stored),
          ...requests,
        }
      } finally {
        site.kill()
        await fleet.stop()
        await pool.end()
        await drop()
        await rm(folder, { recursive: true, force: true })
      }
    },
    ['postgres'],
  )
}

/** The defaults of the crawl, divided by the speed. */
function settingsOf(speed: number): Record<string, string> {
  const ms = (seconds: number) => `${Math.max(1, Math.round((seconds * 1_000) / speed))}ms`
  return {
    ...{ CRAWL_ALLOW_PRIVATE: '127.0.0.0/8', CRAWL_HOST_DELAY: ms(1), CRAWL_RETRY_MIN: ms(60) },
    ...{ POLL_INTERVAL_MIN: ms(60), POLL_INTERVAL_MAX: ms(3_600), LOG_LEVEL: 'warn' },
    // Budgets are of a real day, in which the whole week passes.
    ...{ CRAWL_OUTLET_PAGES: '1000000', CRAWL_OUTLET_BYTES: '100000000000' },
  }
}

/** Looks at the queues until the week is over and its last article is there, or too late. */
async function watch(pool: Pool, site: ChildProcess, signal: AbortSignal) {
  const due: number[] = []
  const stored: number[] = []
  for (let end = Infinity; ; ) {
    site.send('state')
    const [state]: SiteState[] = await once(site, 'message', { signal })
    const { articles, pages } = await readFlow(pool)
    due.push(Number(pages.due))
    stored.push(Number(pages.stored))
    const { published, over } = state!
    if (over && end === Infinity) end = Date.now() + GRACE_SECONDS * 1_000
    if ((over && Number(articles) >= published.length) || Date.now() > end) return { due, stored, ...state! }
    if (due.length % 30 === 0) say(`${published.length} published, ${articles} there, ${pages.due} pages due`)
    await pause(LOOK_SECONDS * 1_000)
  }
}

/**
 * Lags of the articles that arrived, and how far the others came: those that no poll saw in a feed,
 * and those whose pages wait. The pages of all others were refused, or failed.
 *
 * @param published real time of each article's publication, by its number from 1
 */
async function readArrivals(pool: Pool, published: number[], speed: number): Promise<Figures> {
  const { rows } = await pool.query<{ title: string; ingested_at: Date }>(
    'select title, ingested_at from articles join article_texts using (seq)',
  )
  const arrived = new Map(rows.map(row => [numberIn(row.title), row.ingested_at.getTime()]))
  const { rows: pages } = await pool.query<{ title: string | null; waits: boolean }>(
    "select entry->>'title' as title, state in ('waiting', 'stored') as waits from pages",
  )
  const waits = new Map(pages.map(page => [numberIn(page.title ?? ''), page.waits]))
  const gaps = await pool.query<{ gaps: number }>('select coalesce(sum(gaps), 0)::int as gaps from feeds')
  const missed = published.map((_, index) => index + 1).filter(number => !arrived.has(number))
  /** By the real hour of publication, since the first. */
  const lags = published.flatMap((at, index) => {
    const seen = arrived.get(index + 1)
    const hour = ((at - published[0]!) / HOUR_MS) * speed
    return seen === undefined ? [] : [{ hour, minutes: (Math.max(0, seen - at) / 60_000) * speed }]
  })
  const lag = (part: number, some = lags) =>
    rounded(
      quantile(
        some.map(one => one.minutes),
        part,
      ),
    )
  const half = (7 * 24) / 2
  return {
    missed: missed.length,
    ...{ lag_p50_min: lag(0.5), lag_p95_min: lag(0.95), lag_p99_min: lag(0.99), lag_worst_min: lag(1) },
    // A lag that grows over the week would mean that the crawl does not keep up.
    lag_first_half_p95_min: lag(
      0.95,
      lags.filter(one => one.hour < half),
    ),
    lag_second_half_p95_min: lag(
      0.95,
      lags.filter(one => one.hour >= half),
    ),
    missed_unseen: missed.filter(number => !waits.has(number)).length,
    missed_waiting: missed.filter(number => waits.get(number) === true).length,
    gaps: gaps.rows[0]?.gaps ?? 0,
  }
}
