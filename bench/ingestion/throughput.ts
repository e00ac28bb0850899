import { join, resolve } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import pg from 'pg'
import { openDataDirectory } from '../../infra/embedded/data-directory.ts'
import { startServers } from '../../infra/embedded/servers.ts'
import { migrate } from '../../infra/migrations/migrate.ts'
import { indexText } from '../../search/analysis/index.ts'
import { authorsOf } from '../../services/normaliser/authors/authors.ts'
import { publishedAt } from '../../services/normaliser/dates/published.ts'
import { recogniseInterstitial } from '../../services/normaliser/interstitials/interstitials.ts'
import { openingOf } from '../../services/normaliser/interstitials/paywall.ts'
import { detectLanguage } from '../../services/normaliser/languages/detection.ts'
import { parsePage } from '../../services/normaliser/markup/tree.ts'
import { readMetadata } from '../../services/normaliser/metadata/metadata.ts'
import { chooseTitle } from '../../services/normaliser/metadata/title.ts'
import { startNormaliser } from '../../services/normaliser/start.ts'
import { readPageText } from '../../services/normaliser/text/page-text.ts'
import { readConfig } from '../../shared/config/config.ts'
import { decodeText } from '../../shared/encoding/decode.ts'
import { createLogger } from '../../shared/log/logger.ts'
import { registry } from '../../shared/log/registry.ts'
import type { BenchOptions } from '../main.ts'
import { type TruePage, truePages } from './truth.ts'

/** Pages that are stored for one run. */
const PAGES = 1_000
/** Ordinary pages beside the heavy ones, where only the event loop is watched. */
const BESIDE = 100
const HEAVY = 'heavy.example'

/**
 * From stored page to searchable article on a Postgres of its own, in one process with the default
 * threads, working concurrently: pages per second, processor time of a page without the database's,
 * the longest time that the event loop did not answer, and the shares of the stages.
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
    const count = options.rows ?? PAGES
    await store(url, copies(pages, count), 'stored')
    const prose = pages.slice(0, 60).flatMap(page => readPageText(parsePage(page.html)).paragraphs)
    const heavy = copies(pages, count + BESIDE).slice(count)
    heavy.splice(BESIDE / 4, 0, ...heavyPages(prose).map(page => ({ ...page, domain: HEAVY })))
    await store(url, heavy, 'waiting')
    return { ...(await measure(url, count, options.signal)), ...(await measureStages(pages)) }
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
  const delay = watchEventLoop()
  const [start, used] = [performance.now(), process.cpuUsage()]
  const before = await open()
  while ((await open()) > 0 && !signal.aborted) await sleep(100)
  const seconds = (performance.now() - start) / 1_000
  const { user, system } = process.cpuUsage(used)
  const ordinary = delay.stop()
  const [threads, index] = [await sumOf('perscope_compose_seconds'), await sumOf('perscope_index_batch_seconds')]

  const heavyDelay = watchEventLoop()
  await client.query("update pages set state = 'stored', next_try_at = now() where state = 'waiting'")
  while ((await open()) > 0 && !signal.aborted) await sleep(100)
  const atLimits = heavyDelay.stop()
  await service.stop()
  const { rows } = await client.query<{ articles: number; heavy: number; failed: number }>(
    `select (select count(*)::int from articles) as articles,
            count(*) filter (where host = $1 and state = 'done')::int as heavy,
            count(*) filter (where state = 'failed')::int as failed from pages`,
    [HEAVY],
  )
  const failed = await client.query<{ url: string; reason: string | null }>(
    "select url, reason from pages where state = 'failed' order by url limit 20",
  )
  for (const { url, reason } of failed.rows) process.stderr.write(`failed: ${url}: ${reason}\n`)
  await client.end()
  return {
    pages_per_second: Math.round((before / seconds) * 10) / 10,
    cpu_ms_per_page: Math.round((user + system) / 100 / before) / 10,
    pages_indexed: rows[0]?.articles ?? 0,
    pages_failed: rows[0]?.failed ?? 0,
    event_loop_max_ms: ordinary.max,
    event_loop_max_cpu_ms: ordinary.cpu,
    event_loop_p99_ms: ordinary.p99,
    heavy_pages_indexed: rows[0]?.heavy ?? 0,
    heavy_event_loop_max_ms: atLimits.max,
    heavy_event_loop_max_cpu_ms: atLimits.cpu,
    heavy_event_loop_p99_ms: atLimits.p99,
    compose_ms_per_page: Math.round((threads / count) * 10_000) / 10,
    index_ms_per_page: Math.round((index / count) * 10_000) / 10,
  }
}

/**
 * The longest time in ms that the event loop was blocked. By the clock, which on a busy machine
 * includes the scheduler's pauses; and in processor time of the loop's own thread.
 */
function watchEventLoop(): { stop(): { max: number; p99: number; cpu: number } } {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  let longest = 0
  let last = process.threadCpuUsage()
  const ticks = setInterval(() => {
    const now = process.threadCpuUsage()
    longest = Math.max(longest, now.user + now.system - last.user - last.system)
    last = now
  }, 1)
  return {
    stop() {
      clearInterval(ticks)
      delay.disable()
      return {
        max: Math.round(delay.max / 1e6),
        p99: Math.round(delay.percentile(99) / 1e6),
        cpu: Math.round(longest / 1_000),
      }
    },
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

/** A page to store, and the outlet it comes from. */
type Copy = Pick<TruePage, 'url' | 'title' | 'html'> & { domain: string }

/**
 * Each copy goes to another outlet, because repeated text within one outlet would count as an
 * interstitial.
 */
function copies(pages: TruePage[], count: number): Copy[] {
  return Array.from({ length: count }, (_, at) => ({
    ...pages[at % pages.length]!,
    domain: `copy${Math.floor(at / pages.length)}.example`,
  }))
}

/** Pages that are `waiting` are released when the others are done. */
async function store(url: string, pages: Copy[], state: 'stored' | 'waiting'): Promise<void> {
  const client = await connect(url)
  for (const page of pages) {
    await client.query(
      `insert into outlets (domain, name, country, languages, time_zone)
       values ($1, $1, 'LU', '{de,fr,en,lb,nl}', 'Europe/Luxembourg') on conflict do nothing`,
      [page.domain],
    )
    await client.query(
      `with page as (
         insert into pages (outlet_no, url, crawl_key, host, entry, state)
         select outlet_no, $1, $1, domain, $2, $5 from outlets where domain = $3 returning page_no
       )
       insert into page_sources (page_no, final_url, status, content_type, body, fetched_at)
       select page_no, $1, 200, 'text/html', $4, now() from page`,
      [page.url, JSON.stringify({ url: page.url, title: page.title }), page.domain, gzipSync(page.html), state],
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

const OUTLET = { name: 'Bench', domain: 'bench.example', timeZone: 'Europe/Luxembourg' }

/**
 * Measures how the computing time of a page is shared among the stages, in percent. One thread
 * takes the pages one after the other. The work of the database is not counted.
 */
async function measureStages(pages: TruePage[]): Promise<Record<string, number>> {
  const times = new Map<string, number>()
  const timed = async <T>(stage: string, work: () => T): Promise<Awaited<T>> => {
    const start = performance.now()
    const result = await work()
    times.set(stage, (times.get(stage) ?? 0) + performance.now() - start)
    return result
  }
  const one = async (page: TruePage, bytes: Uint8Array) => {
    const { url, title } = page
    const html = (await timed('encoding', () => decodeText(bytes, { contentType: null, kind: 'html' }))).text
    const text = await timed('text', () => readPageText(parsePage(html)))
    const meta = await timed('metadata', () => readMetadata(parsePage(html), url))
    await timed('walls', () => {
      const { signs } = meta
      recogniseInterstitial({
        url,
        finalUrl: url,
        html,
        page: text,
        signs,
        feedTitle: title,
        outletDomain: OUTLET.domain,
      })
      return openingOf(text, null)
    })
    const body = text.paragraphs.join('\n\n')
    const headline = await timed('metadata', () => chooseTitle(meta, null, OUTLET))
    await timed('dates', () => publishedAt(meta, null, OUTLET, body, new Date()))
    await timed('authors', () => authorsOf(meta, null, OUTLET))
    await timed('language', () => detectLanguage({ title: headline ?? '', body, outletLanguages: [] }))
    await timed('words', () => indexText(headline ?? '', body))
  }
  // One untimed pass compiles the code and loads the models.
  for (const page of pages.slice(0, 40)) await one(page, Buffer.from(page.html))
  times.clear()
  for (const page of pages) await one(page, Buffer.from(page.html))
  const total = [...times.values()].reduce((sum, time) => sum + time, 0)
  return Object.fromEntries(
    [...times].map(([stage, time]) => [`share_${stage}`, Math.round((time / total) * 1_000) / 10]),
  )
}

/**
 * Pages at the size limits. An outlet may serve one once a year, an attacker every minute.
 */

/** Texts of a megabyte and pages of ten, each an article with a title. */
function heavyPages(prose: string[]): { url: string; title: string; html: string }[] {
  const title = 'Der lange Bericht der Kommission im Wortlaut'
  const page = (name: string, body: string) => ({
    url: `https://heavy.example/${name}`,
    title,
    html: `<!doctype html><html lang="de"><head><title>${title}</title></head><body><article><h1>${title}</h1>${body}</article></body></html>`,
  })
  const real = paragraphs(repeated(prose, 1_000_000))
  const words = prose.flatMap(paragraph => paragraph.split(' '))
  const rare = paragraphs(
    repeated(
      words.map((word, at) => (at % 2 === 0 ? word : `Wort${(at * 7_919).toString(36)}`)),
      1_000_000,
    ),
  )
  const article = paragraphs(repeated(prose, 20_000))
  return [
    page('real-words', real),
    page('rare-words', rare),
    page('one-word', paragraphs('und '.repeat(250_000))),
    page('markup', article + '<div class="teaser"><p>Mehr dazu</p></div>'.repeat(240_000)),
    page('nested', article + '<div>'.repeat(2_000_000)),
    page('script', `${article}<script>window.state=${JSON.stringify({ data: 'x'.repeat(10_000_000) })}</script>`),
    page('attributes', `${article}<p data-x="${'y'.repeat(10_000_000)}">Ende</p>`),
    page('entities', `${article}<p>${'f&uuml;r die Br&uuml;cke &amp; '.repeat(320_000)}</p>`),
  ]
}

function repeated(words: string[], length: number): string {
  const parts: string[] = []
  let total = 0
  for (let at = 0; total < length && words.length > 0; at += 1) {
    const word = words[at % words.length] ?? ''
    parts.push(word)
    total += word.length + 1
  }
  return parts.join(' ').slice(0, length)
}

/** Cut into paragraphs of some 600 characters. */
const paragraphs = (text: string) => text.replace(/(.{600}\S*)\s/gsu, '<p>$1</p>')
