import { join, resolve } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import pg from 'pg'
import { openDataDirectory } from '../../infra/embedded/data-directory/open.ts'
import { startServers } from '../../infra/embedded/servers.ts'
import { startNormaliser } from '../../services/normaliser/start.ts'
import { readConfig } from '../../shared/config/config.ts'
import { createLogger } from '../../shared/log/logger.ts'
import { registry } from '../../shared/metrics/registry.ts'
import { migrate } from '../../shared/postgres/migrations.ts'
import type { BenchOptions } from '../main.ts'
import { measureStages } from './stages.ts'
import { type TruePage, truePages } from './truth.ts'

/** Pages that are stored for one run. */
const PAGES = 1_000

/**
 * From stored page to searchable article on a Postgres of its own, in one process with the default threads, all work
 * side by side: pages per second, processor time of a page without the database's, the longest time that the event loop
 * did not answer, and the shares of the stages.
 */
export async function measureThroughput(options: BenchOptions): Promise<Record<string, number>> {
  const pages: TruePage[] = []
  for (const set of ['fundus', 'trafilatura'] as const) {
    for await (const page of truePages(options.data, set)) if (page.title !== null) pages.push(page)
  }
  if (pages.length === 0) return {}
  const folder = resolve(join(readConfig().DATA_DIR, 'bench-ingestion'))
  const dataDir = await openDataDirectory(folder, 'npm run bench -- ingestion')
  const servers = await startServers(dataDir, { servers: ['postgres'], report: () => {}, signal: options.signal })
  const server = servers.addresses.DATABASE_URL ?? ''
  try {
    const url = await freshDatabase(server)
    await store(url, pages, options.rows ?? PAGES)
    return { ...(await measure(url, options.rows ?? PAGES, options.signal)), ...(await measureStages(pages)) }
  } finally {
    await servers.stop()
    dataDir.release()
  }
}

async function measure(url: string, count: number, signal: AbortSignal): Promise<Record<string, number>> {
  const config = { ...readConfig(), DATABASE_URL: url, REDIS_URL: '' }
  const service = await startNormaliser({ config, log: createLogger('bench', 'error') })
  const client = await connect(url)
  const open = async () => {
    const { rows } = await client.query<{ n: number }>("select count(*)::int as n from pages where state = 'stored'")
    return rows[0]?.n ?? 0
  }
  // The first pages pay for starting threads and compiling; they are not counted.
  while ((await open()) > count * 0.9 && !signal.aborted) await sleep(20)
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const [start, used] = [performance.now(), process.cpuUsage()]
  const before = await open()
  while ((await open()) > 0 && !signal.aborted) await sleep(100)
  const seconds = (performance.now() - start) / 1_000
  const { user, system } = process.cpuUsage(used)
  delay.disable()
  await service.stop()
  const { rows } = await client.query<{ n: number }>('select count(*)::int as n from articles')
  await client.end()
  const [threads, index] = [await sumOf('perscope_compose_seconds'), await sumOf('perscope_index_batch_seconds')]
  return {
    pages_per_second: Math.round((before / seconds) * 10) / 10,
    cpu_ms_per_page: Math.round((user + system) / 100 / before) / 10,
    pages_indexed: rows[0]?.n ?? 0,
    event_loop_longest_ms: Math.round(delay.max / 1e6),
    compose_ms_per_page: Math.round((threads / count) * 10_000) / 10,
    index_ms_per_page: Math.round((index / count) * 10_000) / 10,
  }
}

async function sumOf(name: string): Promise<number> {
  const metric = await registry.getSingleMetric(name)?.get()
  return metric?.values.find(value => 'metricName' in value && value.metricName === `${name}_sum`)?.value ?? 0
}

async function freshDatabase(server: string): Promise<string> {
  const client = await connect(server)
  await client.query('drop database if exists perscope_bench_ingestion with (force)')
  await client.query('create database perscope_bench_ingestion')
  await client.end()
  const url = new URL(server)
  url.pathname = '/perscope_bench_ingestion'
  await migrate(url.href)
  return url.href
}

/** Copies go to outlets of their own: within one, the same text again and again would be a wall. */
async function store(url: string, pages: TruePage[], count: number): Promise<void> {
  const client = await connect(url)
  for (let at = 0; at < count; at += 1) {
    const page = pages[at % pages.length]
    if (page === undefined) break
    const domain = `copy${Math.floor(at / pages.length)}.example`
    await client.query(
      `insert into outlets (domain, name, country, languages, time_zone)
       values ($1, $1, 'LU', '{de,fr,en,lb,nl}', 'Europe/Luxembourg') on conflict do nothing`,
      [domain],
    )
    await client.query(
      `with page as (
         insert into pages (outlet_no, url, crawl_key, host, entry, state)
         select outlet_no, $1, $1, domain, $2, 'stored' from outlets where domain = $3 returning page_no
       )
       insert into page_sources (page_no, final_url, status, content_type, body, fetched_at)
       select page_no, $1, 200, 'text/html', $4, now() from page`,
      [page.url, JSON.stringify({ url: page.url, title: page.title }), domain, gzipSync(page.html)],
    )
  }
  await client.end()
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}
