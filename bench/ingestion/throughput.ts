import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type Figures, prefixed, rounded, sum } from '#bench/figures'
import type { BenchOptions } from '#bench/main'
import { type Bench, inNewDatabase, withServers } from '#bench/servers'
import { migrate } from '#infra/migrations/migrate'
import { indexText } from '#search/analysis/index'
import { authorChoice } from '#services/normaliser/authors/authors'
import { dateChoice } from '#services/normaliser/dates/published'
import { recogniseInterstitial } from '#services/normaliser/interstitials/interstitials'
import { openingOf } from '#services/normaliser/interstitials/paywall'
import { detectLanguage } from '#services/normaliser/languages/detection'
import { parsePage } from '#services/normaliser/markup/tree'
import { readMetadata } from '#services/normaliser/metadata/metadata'
import { titleChoice } from '#services/normaliser/metadata/title'
import { startNormaliser } from '#services/normaliser/start'
import { readPageText } from '#services/normaliser/text/page-text'
import { readConfig } from '#shared/config/config'
import { decodeText } from '#shared/encoding/decode'
import { createLogger } from '#shared/log/logger'
import { registry } from '#shared/metrics'
import { withDatabase } from '#test/database'
import { watchTurns } from '#test/turns'
import { type TruePage, truePages } from './truth.ts'

/** Number of pages that the bench stores in one run. */
const PAGES = 1_000
/**
 * Ordinary pages that are normalised together with the heavy pages. There the bench watches only
 * the event loop.
 */
const BESIDE = 100
const HEAVY = 'heavy.example'

/**
 * Measures how fast pages become articles that searches find, on a Postgres of the bench's own. One
 * process normalises the pages, with the default number of threads. The figures are:
 * - pages per second
 * - processor time of a page, without the database's processor time
 * - the longest time for which the event loop did not answer
 * - the share of each stage
 */
export async function measureThroughput({ data, rows, signal }: BenchOptions): Promise<Figures> {
  const pages: TruePage[] = []
  for (const set of ['fundus', 'trafilatura'] as const) {
    for await (const page of truePages(data, set)) if (page.title !== null) pages.push(page)
  }
  if (pages.length === 0) return {}
  const count = rows ?? PAGES
  const prose = pages.slice(0, 60).flatMap(page => readPageText(parsePage(page.html)).paragraphs)
  const heavy = copies(pages, count + BESIDE).slice(count)
  heavy.splice(BESIDE / 4, 0, ...heavyPages(prose))
  const work = async (url: string) => {
    await migrate(url)
    await store(url, copies(pages, count), 'stored')
    await store(url, heavy, 'waiting')
    return { ...(await measure(url, count, signal)), ...(await measureStages(pages)) }
  }
  const inOwn = (bench: Bench) => inNewDatabase(bench, 'bench_ingestion', null, work)
  return withServers('ingestion', 'bench-ingestion', signal, inOwn, ['postgres'])
}

function measure(url: string, count: number, signal: AbortSignal): Promise<Figures> {
  return withDatabase(url, async database => {
    const config = { ...readConfig(), DATABASE_URL: url, REDIS_URL: '' }
    const service = await startNormaliser({ config, log: createLogger('bench', 'error') })
    const until = async (most: number): Promise<number> => {
      for (;;) {
        const { rows } = await database.query(
          "select count(*)::int as open from pages where state = 'stored'",
        )
        if (rows[0].open <= most || signal.aborted) return rows[0].open
        await sleep(20)
      }
    }
    // During the first pages the process starts threads and compiles code, so those pages do not
    // count.
    const before = await until(count * 0.9)
    const start = performance.now()
    const used = process.cpuUsage()
    const ordinary = await watchEventLoop(() => until(0))
    const seconds = (performance.now() - start) / 1_000
    const { user, system } = process.cpuUsage(used)
    const composing = await sumOf('perscope_compose_seconds')
    const indexing = await sumOf('perscope_index_batch_seconds')
    const atLimits = await watchEventLoop(async () => {
      await database.query(
        "update pages set state = 'stored', next_try_at = now() where state = 'waiting'",
      )
      await until(0)
    })
    await service.stop()
    const { rows } = await database.query(
      `select (select count(*)::int from articles) as articles,
              count(*) filter (where host = $1 and state = 'done')::int as heavy,
              count(*) filter (where state = 'failed')::int as failed from pages`,
      [HEAVY],
    )
    return {
      pages_per_second: rounded(before / seconds, 1),
      cpu_ms_per_page: rounded((user + system) / 1_000 / before, 1),
      pages_indexed: rows[0].articles,
      pages_failed: rows[0].failed,
      ...prefixed('event_loop', ordinary),
      heavy_pages_indexed: rows[0].heavy,
      ...prefixed('heavy_event_loop', atLimits),
      compose_ms_per_page: rounded((composing * 1_000) / count, 1),
      index_ms_per_page: rounded((indexing * 1_000) / count, 1),
    }
  })
}

/**
 * The longest time in ms for which work blocked the event loop. `max_ms` is by the clock, and
 * includes pauses that a busy machine causes. `max_cpu_ms` is processor time of the thread that
 * runs the loop.
 */
async function watchEventLoop(work: () => Promise<unknown>): Promise<Figures> {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const longestTurn = watchTurns()
  await work()
  delay.disable()
  return {
    max_ms: Math.round(delay.max / 1e6),
    max_cpu_ms: Math.round(longestTurn()),
    p99_ms: Math.round(delay.percentile(99) / 1e6),
  }
}

async function sumOf(name: string): Promise<number> {
  const metric = await registry().getSingleMetric(name)?.get()
  return (
    metric?.values.find(value => 'metricName' in value && value.metricName === `${name}_sum`)
      ?.value ?? 0
  )
}

/** A page to store, and the domain of its outlet. */
type Copy = Pick<TruePage, 'url' | 'title' | 'html'> & { domain: string }

/**
 * Repeats the pages until there are enough. Each repetition goes to another outlet, because text
 * that repeats within an outlet counts as an interstitial.
 */
function copies(pages: TruePage[], count: number): Copy[] {
  return Array.from({ length: count }, (_, at) => ({
    ...pages[at % pages.length]!,
    domain: `copy${Math.floor(at / pages.length)}.example`,
  }))
}

/** Stores pages. The bench releases pages that are `waiting` when the others are normalised. */
function store(url: string, pages: Copy[], state: 'stored' | 'waiting'): Promise<void> {
  return withDatabase(url, async database => {
    for (const page of pages) {
      await database.query(
        `with outlet as (
           insert into outlets (domain, name, country, languages, time_zone)
           values ($1, $1, 'LU', '{de,fr,en,lb,nl}', 'Europe/Luxembourg')
           on conflict (domain) do update set name = excluded.name returning outlet_no),
         page as (
           insert into pages (outlet_no, url, crawl_key, host, entry, state)
           select outlet_no, $2, $2, $1, $3, $5 from outlet returning page_no)
         insert into page_sources (page_no, final_url, status, content_type, body, fetched_at)
         select page_no, $2, 200, 'text/html', $4, now() from page`,
        [
          page.domain,
          page.url,
          JSON.stringify({ url: page.url, title: page.title }),
          gzipSync(page.html),
          state,
        ],
      )
    }
  })
}

const OUTLET = { name: 'Bench', domain: 'bench.example', timeZone: 'Europe/Luxembourg' }

/**
 * Measures how much of a page's computing time each stage takes, in percent. This thread takes the
 * pages one after the other. The time of the database does not count.
 */
async function measureStages(pages: TruePage[]): Promise<Figures> {
  const times = new Map<string, number>()
  const timed = async <T>(stage: string, work: () => T): Promise<Awaited<T>> => {
    const start = performance.now()
    const result = await work()
    times.set(stage, (times.get(stage) ?? 0) + performance.now() - start)
    return result
  }
  const one = async (page: TruePage) => {
    const { url, title } = page
    const bytes = Buffer.from(page.html)
    const html = await timed('encoding', () =>
      decodeText(bytes, { contentType: null, kind: 'html' }),
    )
    const tree = await timed('markup', () => parsePage(html))
    const text = await timed('text', () => readPageText(tree))
    const meta = await timed('metadata', () => readMetadata(tree, url))
    const served = {
      url,
      finalUrl: url,
      feedTitle: title,
      outletDomain: OUTLET.domain,
      html,
      page: text,
    }
    await timed('interstitials', () => [
      recogniseInterstitial({ ...served, signs: meta.signs }),
      openingOf(text, null),
    ])
    const body = text.paragraphs.join('\n\n')
    const headline = (await timed('metadata', () => titleChoice(meta, null, OUTLET)?.value)) ?? ''
    await timed('dates', () => dateChoice(meta, null, OUTLET, body, new Date()))
    await timed('authors', () => authorChoice(meta, null, OUTLET))
    await timed('language', () => detectLanguage({ title: headline, body, outletLanguages: [] }))
    await timed('words', () => indexText(headline, body))
  }
  // The first pages are not timed: they make the process compile code and load models.
  for (const page of pages.slice(0, 40)) await one(page)
  times.clear()
  for (const page of pages) await one(page)
  const total = sum([...times.values()])
  return Object.fromEntries(
    [...times].map(([stage, time]) => [`share_${stage}`, rounded((time / total) * 100, 1)]),
  )
}

/**
 * Pages at the size limits, each of them an article with a title. Texts have a megabyte and pages
 * ten. An outlet may serve such a page once a year, an attacker every minute.
 */
function heavyPages(prose: string[]): Copy[] {
  const title = 'Der lange Bericht der Kommission im Wortlaut'
  const words = prose.flatMap(paragraph => paragraph.split(' '))
  const rare = words.map((word, at) => (at % 2 === 0 ? word : `Wort${(at * 7_919).toString(36)}`))
  const article = paragraphs(repeated(prose, 20_000))
  const bodies = [
    paragraphs(repeated(prose, 1_000_000)),
    paragraphs(repeated(rare, 1_000_000)),
    article + '<div class="teaser"><p>Mehr dazu</p></div>'.repeat(240_000),
    article + '<div>'.repeat(2_000_000),
    `${article}<p data-x="${'y'.repeat(10_000_000)}">Ende</p>`,
    `${article}<p>${'f&uuml;r die Br&uuml;cke &amp; '.repeat(320_000)}</p>`,
  ]
  return bodies.map((body, number) => ({
    domain: HEAVY,
    url: `https://${HEAVY}/${number}`,
    title,
    html: `<!doctype html><html lang="de"><head><title>${title}</title></head><body><article><h1>${title}</h1>${body}</article></body></html>`,
  }))
}

const repeated = (words: string[], length: number) => {
  const once = words.join(' ')
  return `${once} `.repeat(Math.ceil(length / once.length)).slice(0, length)
}

/** Cuts the text into paragraphs of about 600 characters. */
const paragraphs = (text: string) => text.replace(/(.{600}\S*)\s/gsu, '<p>$1</p>')
