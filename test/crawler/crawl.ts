import { gunzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { syncOutlets } from '#scripts/outlets/sync'
import { type Crawl, createCrawl } from '#services/crawler/crawl'
import { openFeedParser } from '#services/crawler/feeds/parsing/parser'
import { createTrust } from '#services/crawler/fetch/certificates'
import { claimVisits, lookAround, visitHost } from '#services/crawler/visits'
import { type Config, readConfig } from '#shared/config/config'
import { createLogger } from '#shared/log/logger'
import type { Outlet } from '#shared/outlets/catalogue'
import type { FeedEntry } from '#shared/outlets/page'
import { createPool, type Pool } from '#shared/postgres/pool'
import { openQueues } from '#shared/queues/queues'
import { createTestDatabase, PATIENT } from '#test/database'
import { type Site, startSite } from './site.ts'

/** A page as crawl memory has it. */
export interface RememberedPage {
  url: string
  domain: string
  state: string
  reason: string | null
  attempts: number
  /** ms until it is tried again. */
  wait: number
  entry: FeedEntry | null
  status: number | null
  finalUrl: string | null
  hasBody: boolean
}

/** A crawler inside the test, on a real database, whose visits the test makes itself. */
export interface TestCrawl {
  crawl: Crawl
  pool: Pool
  pages(): Promise<RememberedPage[]>
  page(url: string): Promise<RememberedPage | undefined>
  /** The stored body of a page, decompressed. */
  body(url: string): Promise<string>
  /** The feeds in the order of their addresses. */
  feeds(): Promise<RememberedFeed[]>
  /** The feed whose address ends so; the first one otherwise. */
  feed(end?: string): Promise<RememberedFeed | undefined>
  /** Makes the catalogue: feeds by domain, and sitemaps. */
  outlets(feeds: Record<string, string[]>, sitemaps?: Record<string, string[]>): Promise<void>
  /**
   * Visits what is due until nothing is; or, with `ms`, what becomes due in that time, at most
   * until the condition holds.
   */
  workOff(ms?: number, isDone?: () => Promise<boolean>): Promise<void>
  /** Makes every feed, or every waiting page, due now. */
  hurry(what: 'feeds' | 'pages'): Promise<void>
  /** The same, and visits them. */
  again(what: 'feeds' | 'pages'): Promise<void>
  /** Polls every feed of the catalogue now, and fetches nothing but feeds. */
  poll(): Promise<void>
  /** Forgets all outlets, and what is remembered of them. */
  forget(): Promise<void>
  /**
   * Crawls these paths of a site, or addresses, once: a new feed names them, the first one
   * `/feed-1.xml`. `ms` as for `workOff`.
   */
  fetch(site: Site, links: string[], ms?: number): Promise<void>
  /** Does the work while each commit of a page crashes, after the addresses. */
  crashing(work: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

/**
 * @param parsing the code of the threads that parse feeds; the crawler's own by default
 * @param authorities certificates (PEM) to trust instead of those of Node
 */
export async function startCrawl(
  settings: Partial<Record<keyof Config, string>> = {},
  parsing?: URL,
  authorities?: string[],
): Promise<TestCrawl> {
  const database = await createTestDatabase()
  const config = readConfig({
    DATABASE_URL: database.url,
    CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
    CRAWL_HOST_DELAY: '5ms',
    CRAWL_TIMEOUT: '2s',
    CRAWL_RETRY_MIN: '1m',
    ...settings,
  })
  const log = createLogger('test', process.env.LOG_LEVEL ?? 'silent')
  const pool = createPool(database.url, 'test', () => {}, PATIENT)
  const queues = openQueues(config, log)
  const never = new AbortController().signal
  const crawl = createCrawl({
    config,
    pool,
    queues,
    log,
    stopping: never,
    ending: never,
    trust: createTrust(authorities),
    ...(parsing === undefined ? {} : { parser: openFeedParser(parsing) }),
  })
  let feeds = 0
  const run = {
    crawl,
    pool,
    pages: () => readPages(pool),
    page: async (url: string) => (await readPages(pool)).find(page => page.url === url),
    async body(url: string) {
      const text = 'select body from page_sources join pages using (page_no) where url = $1'
      return String(
        gunzipSync((await pool.query<{ body: Buffer }>(text, [url])).rows[0]?.body ?? ''),
      )
    },
    feeds: () => readFeeds(pool),
    feed: async (end = '') => (await readFeeds(pool)).find(({ url }) => url.endsWith(end)),
    async outlets(feeds: Record<string, string[]>, sitemaps: Record<string, string[]> = {}) {
      const all = Object.entries(feeds)
      await syncOutlets(
        pool,
        all.map(([domain, urls]) => outletOf(domain, urls, { sitemaps: sitemaps[domain] ?? [] })),
      )
    },
    workOff: (ms?: number, isDone?: () => Promise<boolean>) => workOff(crawl, ms, isDone),
    async hurry(what: 'feeds' | 'pages') {
      await pool.query(
        what === 'feeds'
          ? 'update feeds set next_poll_at = now()'
          : 'update pages set next_try_at = now()',
      )
    },
    async again(what: 'feeds' | 'pages') {
      await run.hurry(what)
      await run.workOff()
    },
    async poll() {
      crawl.backlogged = true
      await run.again('feeds')
    },
    async forget() {
      await run.outlets({})
      await pool.query('truncate pages, feeds, outlets, sitemap_parts, outlet_blocks cascade')
    },
    async fetch(site: Site, links: string[], ms?: number) {
      const feed = `/feed-${++feeds}.xml`
      site.on(
        feed,
        rss(...links.map(link => (link.startsWith('http') ? link : site.origin + link))),
      )
      await run.outlets({ 'x.example': [site.origin + feed] })
      await run.workOff(ms)
    },
    async crashing(work: () => Promise<void>) {
      await pool.query(
        `create function crash() returns trigger language plpgsql as $$ begin raise exception 'crash'; end $$;
         create constraint trigger crash after insert on pages deferrable initially deferred
           for each row execute function crash()`,
      )
      await work()
      await pool.query('drop function crash() cascade')
    },
    async close() {
      crawl.leases.close()
      await crawl.parser.close()
      await queues.close()
      await pool.end()
      await database.drop()
    },
  }
  return run
}

/** An outlet of a catalogue, on the hosts of its feeds. */
export const outletOf = (domain: string, feeds: string[], more: Partial<Outlet> = {}): Outlet => ({
  name: domain,
  domain,
  country: 'NL',
  languages: ['nl'],
  timeZone: 'Europe/Amsterdam',
  feeds,
  sitemaps: [],
  hosts: feeds.map(url => new URL(url).hostname),
  ...more,
})

/** Polls of feeds that a test does not wait for. */
export const SLOWLY = { POLL_INTERVAL_MIN: '1m', POLL_INTERVAL_MAX: '1h' }

export interface Scene {
  run: TestCrawl
  sites: Site[]
  site: Site
  /** An address of the first site. */
  at(path: string): string
  /** Makes the catalogue of one outlet, with feeds of the first site. */
  catalogue(feeds: string[], sitemaps?: string[]): Promise<void>
  /** The same, with nothing remembered. */
  only(feeds: string[], sitemaps?: string[]): Promise<void>
  /**
   * Checks what became of pages, named by paths of the first site or by addresses: `stored`,
   * `stored at /elsewhere`, `refused: gone`, `waiting: cut`.
   */
  became(t: Pick<Test, 'equal'>, pages: Record<string, string>): Promise<void>
}

/** A crawler and sites on addresses of their own, which end with the test. */
export async function startScene(
  t: { teardown(end: () => unknown): void },
  addresses: string[],
  settings: Partial<Record<keyof Config, string>> = {},
): Promise<Scene> {
  const run = await startCrawl(settings)
  const sites = await Promise.all(addresses.map(address => startSite(address)))
  t.teardown(() => Promise.all([run.close(), ...sites.map(site => site.close())]))
  const site = sites[0]!
  const at = (path: string) => site.origin + path
  const catalogue = (feeds: string[], sitemaps: string[] = []) =>
    run.outlets({ 'x.example': feeds.map(at) }, { 'x.example': sitemaps.map(at) })
  const only = async (feeds: string[], sitemaps?: string[]) => {
    await run.forget()
    await catalogue(feeds, sitemaps)
  }
  const became = async (t: Pick<Test, 'equal'>, pages: Record<string, string>) => {
    for (const [path, wanted] of Object.entries(pages)) {
      const url = path.startsWith('/') ? at(path) : path
      const { state, reason, finalUrl } = (await run.page(url)) ?? { state: 'unknown' }
      const end = (finalUrl ?? url).replace(site.origin, '')
      const moved = finalUrl === url ? '' : ` at ${end}`
      t.equal(`${state}${reason ? `: ${reason}` : ''}${finalUrl ? moved : ''}`, wanted, path)
    }
  }
  return { run, sites, site, at, catalogue, only, became }
}

/** So many hosts, which the crawler tells apart. */
export const addresses = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `127.0.7.${at + 1}`)

/** So many pages of a site; their addresses. */
export function manyPages(site: Site, count: number, text = 'nieuws', name = 'p'): string[] {
  const paths = Array.from({ length: count }, (_, at) => `/${name}/${at}`)
  for (const path of paths) site.on(path, html(text))
  return paths.map(path => site.origin + path)
}

async function readPages(pool: Pool): Promise<RememberedPage[]> {
  const { rows } = await pool.query<RememberedPage>(
    `select p.url, o.domain, p.state, p.reason, p.attempts, p.entry, s.status, s.final_url as "finalUrl",
            s.body is not null as "hasBody",
            (extract(epoch from p.next_try_at - clock_timestamp()) * 1000)::float8 as wait
       from pages p join outlets o using (outlet_no) left join page_sources s using (page_no)
      order by p.url, o.domain`,
  )
  return rows
}

/** `wait`: ms until the next poll; `pause`: ms from the last success to it. */
/** A feed as the crawler remembers it. */
export interface RememberedFeed {
  url: string
  failures: number
  gaps: number
  /** ms until the next poll. */
  wait: number
  /** ms between the last success and the next poll. */
  pause: number
  error: string | null
  etag: string | null
  parsing: boolean
  last_success_at: Date | null
}

async function readFeeds(pool: Pool): Promise<RememberedFeed[]> {
  const ms = (from: string) => `(extract(epoch from next_poll_at - ${from}) * 1000)::float8`
  const { rows } = await pool.query<RememberedFeed>(
    `select url, failures, gaps, last_error as error, etag, parsing, last_success_at,
            ${ms('clock_timestamp()')} as wait, ${ms('last_success_at')} as pause from feeds where active order by url`,
  )
  return rows
}

/** Hosts that are visited at a time. */
const AT_ONCE = 500

async function workOff(crawl: Crawl, ms?: number, isDone?: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + (ms ?? 20_000)
  await lookAround(crawl)
  while (performance.now() < end) {
    if (await isDone?.()) return
    const visits = await claimVisits(crawl, AT_ONCE)
    if (
      ms === undefined &&
      visits.length === 0 &&
      !(await isDueSoon(crawl.pool, !crawl.backlogged))
    )
      return
    await Promise.all(visits.map(visit => visitHost(crawl, visit)))
    if (visits.length === 0) await new Promise(resolve => setTimeout(resolve, 20))
  }
}

/** A host that pauses for a moment still has work. */
async function isDueSoon(pool: Pool, pages: boolean): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select from hosts h
      where free_at < now() + interval '2 s' and not (robots_blocked and robots_until > now())
        and ($1 and exists (select from pages p where p.host = h.host and p.state = 'waiting' and p.next_try_at <= now())
             or exists (select from feeds f where f.host = h.host and f.active and f.next_poll_at <= now()))`,
    [pages],
  )
  return (rowCount ?? 0) > 0
}

/** An RSS feed of these links, or items. */
export function rss(
  ...items: (
    | string
    | Partial<
        Record<'link' | 'title' | 'description' | 'content:encoded' | 'guid' | 'pubDate', string>
      >
  )[]
): string {
  const written = items.map(item => {
    const fields = typeof item === 'string' ? { link: item, title: `Over ${item}` } : item
    const elements = Object.entries(fields).map(
      ([name, text]) => `<${name}><![CDATA[${text}]]></${name}>`,
    )
    return `<item>${elements.join('')}</item>`
  })
  return `<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Nieuws</title>${written.join('')}</channel></rss>`
}

export const sitemap = (...urls: string[]): string =>
  `<urlset>${urls.map(url => `<url><loc>${url}</loc></url>`).join('')}</urlset>`

/** A news sitemap. */
export function newsSitemap(
  ...pages: { url: string; title: string; published?: string; language?: string }[]
): string {
  const written = pages.map(({ url, title, published, language = 'nl' }) => {
    const date =
      published === undefined ? '' : `<n:publication_date>${published}</n:publication_date>`
    const publication = `<n:publication><n:name>X</n:name><n:language>${language}</n:language></n:publication>`
    // The title of a picture is not that of the article.
    const picture = '<i:image><i:title>Foto</i:title></i:image>'
    return `<url><loc><![CDATA[${url}]]></loc>${picture}<n:news>${publication}${date}<n:title><![CDATA[${title}]]></n:title></n:news></url>`
  })
  return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:n="http://www.google.com/schemas/sitemap-news/0.9" xmlns:i="http://www.google.com/schemas/sitemap-image/1.1">${written.join('')}</urlset>`
}

/** A sitemap index of parts, with their `lastmod` where they have one. */
export const sitemapIndex = (...parts: (string | [url: string, modified: string])[]): string =>
  `<sitemapindex>${parts
    .map(part => (typeof part === 'string' ? [part] : part))
    .map(
      ([url, at]) =>
        `<sitemap><loc>${url}</loc>${at === undefined ? '' : `<lastmod>${at}</lastmod>`}</sitemap>`,
    )
    .join('')}</sitemapindex>`

export const html = (text: string): string =>
  `<!doctype html><html><head><title>t</title></head><body><p>${text}</p></body></html>`
