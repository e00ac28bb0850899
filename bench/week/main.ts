import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort, openDataDirectory } from '../../infra/embedded/data-directory.ts'
import { type EmbeddedServers, startServers } from '../../infra/embedded/servers.ts'
import { readConfig } from '../../shared/config/config.ts'
import { createPool, type Pool } from '../../shared/postgres/pool.ts'
import { numberIn } from '../../test/faults/site/article.ts'
import { catalogueOf } from '../../test/faults/site/outlets.ts'
import { createFleet, type Fleet } from '../../test/fleet.ts'
import type { BenchOptions } from '../main.ts'
import { picture } from '../mixed/picture.ts'
import { createDatabase } from '../search/build.ts'
import { quantile } from '../search/measure.ts'
import { type Order, type Said, type Sample, takeSample, weekOutlets } from './timetable.ts'

const OUTLETS = 400
const PER_DAY = 20_000
const WEEK_SECONDS = 7 * 86_400
/** In how many seconds the week passes. */
const SECONDS = 7_200
/** Seconds between two looks at the queues. */
const LOOK_SECONDS = 2
/** Seconds after the week in which the last articles must be there. */
const GRACE_SECONDS = 300

const say = (line: string) => void process.stderr.write(`${line}\n`)

/**
 * A week of 400 outlets with 20,000 articles a day, in two hours: crawler, normaliser, feeds and
 * pages, as in every day. All pauses of the crawl are divided by the speed. The
 * machine is not faster, so work weighs as much more as time is: depths and lags are upper bounds.
 * Nothing is embedded.
 *
 * @returns figures of lags in simulated minutes, of depths in pages
 */
export async function run(options: BenchOptions): Promise<Record<string, number>> {
  const seconds = options.seconds ?? SECONDS
  const dataDir = await openDataDirectory(resolve(join(readConfig().DATA_DIR, 'bench-week')), 'npm run bench -- week')
  const servers = await startServers(dataDir, { servers: ['postgres'], report: say, signal: options.signal })
  const folder = await mkdtemp(join(tmpdir(), 'perscope-week-'))
  try {
    return await simulate({ servers, folder, speed: WEEK_SECONDS / seconds, perDay: options.rows ?? PER_DAY, options })
  } finally {
    await rm(folder, { recursive: true, force: true })
    await servers.stop()
    dataDir.release()
  }
}

interface Week {
  servers: EmbeddedServers
  folder: string
  speed: number
  perDay: number
  options: BenchOptions
}

async function simulate({ servers, folder, speed, perDay, options }: Week): Promise<Record<string, number>> {
  const { url, drop } = await createDatabase(servers.addresses.DATABASE_URL!, 'week')
  const fleet = createFleet({ ...settingsOf(speed), ...servers.settings, DATABASE_URL: url })
  const pool = createPool(url, 'bench', () => {})
  const port = await freePort()
  const site = fork(new URL('./site.ts', import.meta.url))
  try {
    await syncOutlets(fleet, folder, port)
    site.send({ port, outlets: OUTLETS, perDay, speed } satisfies Order)
    await once(site, 'message')
    await fleet.start('crawler')
    await fleet.start('normaliser')
    say(`${perDay} articles a day of ${OUTLETS} outlets, ${Math.round(speed)} times as fast …`)
    const { samples, published, requests } = await watch(pool, site, speed, options.signal)
    const lags = await readLags(pool, published, speed)
    const missed = await readMissed(pool, published.length, new Set(lags.map(({ number }) => number)))
    await drawWeek(join(readConfig().DATA_DIR, 'bench-week'), samples, lags)
    say(`load ${loadavg()[0]!.toFixed(1)}`)
    return {
      speed: Math.round(speed),
      per_day: perDay,
      ...figuresOf(samples, lags, published.length),
      ...missed,
      ...requests,
    }
  } finally {
    site.kill()
    await fleet.stop()
    await pool.end()
    await drop()
  }
}

/** The defaults of the crawl, divided by the speed. */
function settingsOf(speed: number): Record<string, string> {
  const ms = (seconds: number) => `${Math.max(1, Math.round((seconds * 1_000) / speed))}ms`
  return {
    CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
    CRAWL_HOST_DELAY: ms(1),
    CRAWL_RETRY_MIN: ms(60),
    POLL_INTERVAL_MIN: ms(60),
    POLL_INTERVAL_MAX: ms(3_600),
    // Budgets are of a real day, in which the whole week passes.
    CRAWL_OUTLET_PAGES: '1000000',
    CRAWL_OUTLET_BYTES: '100000000000',
    LOG_LEVEL: 'warn',
  }
}

async function syncOutlets(fleet: Fleet, folder: string, port: number): Promise<void> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'outlets.json')
  await writeFile(file, JSON.stringify(catalogueOf(weekOutlets(OUTLETS), port)))
  await fleet.script('migrate')
  await fleet.script('outlets', 'sync', file)
}

/** Looks at the queues until the week is over and its last article is there, or too late. */
async function watch(pool: Pool, site: ChildProcess, speed: number, signal: AbortSignal) {
  const samples: Sample[] = []
  const start = Date.now()
  let end = Infinity
  for (;;) {
    signal.throwIfAborted()
    site.send('state')
    const [said] = (await once(site, 'message', { signal })) as [Said]
    if (said.kind !== 'state') continue
    const sample = await takeSample(pool, ((Date.now() - start) / 3_600_000) * speed, said.published.length)
    samples.push(sample)
    if (said.over && end === Infinity) end = Date.now() + GRACE_SECONDS * 1_000
    if ((said.over && sample.articles >= said.published.length) || Date.now() > end) return { samples, ...said }
    if (samples.length % 30 === 0)
      say(
        `hour ${sample.hour.toFixed(0)}: ${said.published.length} published, ${sample.articles} there, ${sample.due} pages due`,
      )
    await pause(LOOK_SECONDS * 1_000)
  }
}

/**
 * For each article that arrived: its number, its hour of publication, and its lag in simulated
 * minutes.
 */
async function readLags(pool: Pool, published: number[], speed: number) {
  const { rows } = await pool.query<{ title: string; ingested_at: Date }>(
    'select title, ingested_at from articles join article_texts using (seq)',
  )
  const start = published[0] ?? 0
  return rows.flatMap(({ title, ingested_at }) => {
    const number = numberIn(title)
    const at = published[(number ?? 0) - 1]
    if (number === null || at === undefined) return []
    return [
      {
        number,
        hour: ((at - start) / 3_600_000) * speed,
        minutes: (Math.max(0, ingested_at.getTime() - at) / 60_000) * speed,
      },
    ]
  })
}

/** Of one article: the hour of its publication, and simulated minutes until it was searchable. */
interface Lag {
  hour: number
  minutes: number
}

const HOURS = 7 * 24

function figuresOf(samples: Sample[], lags: Lag[], published: number): Record<string, number> {
  const minutes = lags.map(lag => lag.minutes)
  const half = HOURS / 2
  const p95 = (some: Lag[]) =>
    quantile(
      some.map(lag => lag.minutes),
      0.95,
    )
  return {
    published,
    missed: published - lags.length,
    lag_p50_min: rounded(quantile(minutes, 0.5)),
    lag_p95_min: rounded(quantile(minutes, 0.95)),
    lag_p99_min: rounded(quantile(minutes, 0.99)),
    lag_worst_min: rounded(quantile(minutes, 1)),
    // A lag that grows over the week would mean that the crawl does not keep up.
    lag_first_half_p95_min: rounded(p95(lags.filter(lag => lag.hour < half))),
    lag_second_half_p95_min: rounded(p95(lags.filter(lag => lag.hour >= half))),
    due_p50: quantile(
      samples.map(sample => sample.due),
      0.5,
    ),
    due_worst: Math.max(...samples.map(sample => sample.due)),
    stored_worst: Math.max(...samples.map(sample => sample.stored)),
  }
}

/** Draws depth and lag by the hours of the week. */
async function drawWeek(folder: string, samples: Sample[], lags: Lag[]): Promise<void> {
  const place = resolve(folder)
  await mkdir(place, { recursive: true })
  const byHour = <T extends { hour: number }>(some: T[], of: (those: T[]) => number) => {
    const grouped = Map.groupBy(some, one => Math.floor(one.hour))
    return Array.from({ length: HOURS }, (_, hour) => {
      const those = grouped.get(hour)
      return those === undefined ? null : of(those)
    })
  }
  const depth = [
    { name: 'pages due', values: byHour(samples, those => Math.max(...those.map(one => one.due))) },
    { name: 'pages stored', values: byHour(samples, those => Math.max(...those.map(one => one.stored))) },
  ]
  const lag = [0.5, 0.95].map(part => ({
    name: `p${part * 100}`,
    values: byHour(lags, those =>
      quantile(
        those.map(one => one.minutes),
        part,
      ),
    ),
  }))
  await writeFile(`${place}/depth-by-hour.svg`, picture('Most pages that waited, by hour', '', depth, 'hour'))
  await writeFile(`${place}/lag-by-hour.svg`, picture('Time from publication to search, by hour', 'min', lag, 'hour'))
}

const rounded = (value: number) => Math.round(value * 100) / 100

/**
 * Counts the articles that did not arrive by how far they came: those that no poll saw in a feed,
 * and those whose pages wait. The pages of all others were refused, or failed.
 *
 * @param published the number of articles, which count from 1
 * @param arrived the numbers of those that can be found
 */
async function readMissed(
  pool: Pool,
  published: number,
  arrived: ReadonlySet<number>,
): Promise<{ missed_unseen: number; missed_waiting: number; gaps: number }> {
  const { rows: pages } = await pool.query<{ title: string | null; waits: boolean }>(
    "select entry->>'title' as title, state in ('waiting', 'stored') as waits from pages",
  )
  const waits = new Map(pages.map(page => [numberIn(page.title ?? ''), page.waits]))
  const missed = Array.from({ length: published }, (_, index) => index + 1).filter(number => !arrived.has(number))
  const { rows } = await pool.query<{ gaps: number }>('select coalesce(sum(gaps), 0)::int as gaps from feeds')
  return {
    missed_unseen: missed.filter(number => !waits.has(number)).length,
    missed_waiting: missed.filter(number => waits.get(number) === true).length,
    gaps: rows[0]?.gaps ?? 0,
  }
}
