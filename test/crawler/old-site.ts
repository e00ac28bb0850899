import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { countDays } from '#services/crawler/days'
import { addressKey } from '#shared/articles/address'
import { createPool } from '#shared/postgres/pool'
import { PATIENT } from '#test/database'
import { startFleet, until } from '#test/fleet'
import { newsSitemap, outletOf, rss, sitemapIndex } from './crawl.ts'
import { breachesOf, type Handler, redirect, reply, type Site, startSite } from './site.ts'

/*
 * A site with eight years of sitemaps, and what a naive reader of it expects: what became of each
 * address.
 */

/** What becomes of a page: `fetched`, or `lost: gone`. */
type End = string

const HTML = { 'content-type': 'text/html; charset=utf-8' }
const LAST = Date.UTC(2026, 10, 20)

const article = (at: number, day: string, head = '') =>
  `<!doctype html><html lang="nl"><head><title>Bericht nummer ${at} uit de gemeente</title>${head}<meta property="article:published_time" content="${day}T08:00:00Z"></head><body><article><h1>Bericht nummer ${at} uit de gemeente</h1>${Array.from({ length: 4 }, (_, n) => `<p>De gemeenteraad heeft op ${day} over plan ${at} gesproken, en stemt daar over ${n + 2} weken opnieuw over, meldt de wethouder.</p>`).join('')}</article></body></html>`

/** The kinds of pages, by their number; all others are articles. */
function pageOf(
  at: number,
  day: string,
  path: string,
): { path: string; end: End; answer: string | Handler } {
  const good = article(at, day)
  let failures = 0
  const flaky: Handler = (_request, response) => {
    failures += 1
    response.writeHead(failures < 3 ? 503 : 200, HTML).end(failures < 3 ? '' : good)
  }
  switch (at % 40) {
    case 3:
      return { path, end: 'lost: gone', answer: reply(404) }
    case 5:
      return { path, end: 'lost: gone', answer: reply(410) }
    case 7:
      return { path, end: 'fetched', answer: redirect(`/nieuw/${at}`, 301) }
    case 11:
      return { path, end: 'refused: forbidden', answer: reply(403, HTML, 'Verboden') }
    case 13:
      return { path: `/prive${path}`, end: 'refused: robots', answer: good }
    case 17:
      return {
        path,
        end: 'refused: not-html',
        answer: reply(200, { 'content-type': 'application/pdf' }, '%PDF-1.4 ...'),
      }
    case 19:
      return { path, end: 'fetched', answer: flaky }
    case 23:
      return {
        path,
        end: 'refused: rights',
        answer: article(at, day, '<meta name="robots" content="noindex">'),
      }
    default:
      return at % 160 === 29
        ? { path, end: 'lost: server error', answer: reply(500) }
        : { path, end: 'fetched', answer: good }
  }
}

interface OldSite {
  /** By key, what is expected of each address from March of the first year on. */
  expected: Map<string, End>
  /** Pages that become articles. */
  articles: number
}

/** Gives the site so many pages and the sitemaps that name them. */
function growOld(site: Site, count: number, year: number): OldSite {
  const first = Date.UTC(year, 0, 3)
  const from = `${year}-03-01`
  const expected = new Map<string, End>()
  const months = new Map<string, { url: string; day: string; published: boolean }[]>()
  let articles = 0
  for (let at = 0; at < count; at += 1) {
    const day = new Date(first + ((LAST - first) * at) / count).toISOString().slice(0, 10)
    // Some addresses have their day, and of some only the sitemap says it.
    const dated = at % 3 === 0 ? `/${day.replaceAll('-', '/')}` : ''
    const { path, end, answer } = pageOf(at, day, `${dated}/bericht-${at}`)
    site.on(path, answer)
    if (at % 40 === 7) site.on(`/nieuw/${at}`, article(at, day))
    const month = day.slice(0, 7)
    const url = `${site.origin}${path}`
    months.set(month, [...(months.get(month) ?? []), { url, day, published: at % 5 === 0 }])
    if (day < from) continue
    expected.set(addressKey(url), end)
    if (end === 'fetched') articles += 1
  }
  const years = Map.groupBy(months.keys(), month => month.slice(0, 4))
  for (const [year, its] of years) {
    for (const month of its) {
      const pages = months.get(month) ?? []
      const listed = pages.map(
        ({ url, day }) =>
          `<url><loc>${url}?utm_source=kaart</loc><lastmod>${day}T10:00:00+01:00</lastmod></url>`,
      )
      // Named twice: by the month, and by a list of news.
      site.on(
        `/kaart/${month}.xml.gz`,
        reply(
          200,
          { 'content-type': 'application/gzip' },
          gzipSync(`<urlset>${listed.join('')}</urlset>`),
        ),
      )
      site.on(
        `/nieuws/${month}.xml`,
        newsSitemap(
          ...pages
            .filter(({ published }) => published)
            .map(({ url, day }) => ({ url, title: `Over ${day}`, published: `${day}T08:00:00Z` })),
        ),
      )
    }
    const parts = its.flatMap((month): [string, string][] => [
      [`${site.origin}/kaart/${month}.xml.gz`, `${month}-28`],
      [`${site.origin}/nieuws/${month}.xml`, `${month}-28`],
    ])
    site.on(
      `/kaart/${year}.xml`,
      sitemapIndex(...parts, [`${site.origin}/kaart/weg.xml`, `${year}-12-31`]),
    )
  }
  // The index of indexes names itself, too.
  site.on(
    '/kaart.xml',
    sitemapIndex(
      ...[...years.keys()].map(year => `${site.origin}/kaart/${year}.xml`),
      `${site.origin}/kaart.xml`,
    ),
  )
  const foreign = 'http://127.0.0.99:1/elders'
  site.on(`/archief-${year}.txt`, `${foreign}\n${site.origin}/over-ons\n`)
  site.on('/over-ons', reply(404))
  expected.set(addressKey(foreign), 'refused: foreign host')
  expected.set(addressKey(`${site.origin}/over-ons`), 'lost: gone')
  site.on(
    '/robots.txt',
    `User-agent: *\nDisallow: /prive/\nSitemap: ${site.origin}/kaart.xml\nSitemap: /archief-${year}.txt\nSitemap: http://127.0.0.99:1/kaart.xml\n`,
  )
  site.on('/feed.xml', rss(`${site.origin}/vandaag`))
  site.on('/vandaag', article(count, '2026-11-29'))
  return { expected, articles }
}

/**
 * Two crawlers and a normaliser fetch the past of a site, while one of them is killed, and the
 * ledger is compared.
 */
export async function tryPast(
  t: Test,
  { count, year, kills, ms }: { count: number; year: number; kills: number; ms: number },
): Promise<void> {
  const site = await startSite('127.0.0.73')
  t.teardown(() => site.close())
  const { expected, articles } = growOld(site, count, year)
  const { fleet, database } = await startFleet(t, {
    CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
    CRAWL_HOST_DELAY: '1ms',
    CRAWL_RETRY_MIN: '20ms',
    POLL_INTERVAL_MIN: '1m',
    POLL_INTERVAL_MAX: '1h',
    EMBED_DELAY: '1h',
    // A second look is in the budget of the day.
    RIGHTS_LOOKS: '0',
  })
  await fleet.sync({ outlets: [outletOf('127.0.0.73', [`${site.origin}/feed.xml`])] })
  const crawlers = [await fleet.start('crawler'), await fleet.start('crawler')]
  await fleet.start('normaliser')
  const one = async (sql: string, values: unknown[] = []) =>
    Object.values((await database.query(sql, values))[0] ?? {})[0]
  await until(
    async () => (await one("select count(*)::int from pages where state = 'done'")) === 1,
    30_000,
    fleet.logs,
  )
  await fleet.script('outlets', 'back', '127.0.0.73', '--from', `${year}-03-01`)
  const settled = () =>
    one("select count(*)::int from back_addresses where state <> 'waiting' and depth is null")
  for (let kill = 1; kill <= kills; kill += 1) {
    await until(async () => Number(await settled()) > (kill * count) / (kills + 1), ms, fleet.logs)
    const doomed = crawlers.shift()!
    doomed.process.kill('SIGKILL')
    await once(doomed.process, 'exit')
    crawlers.push(await fleet.start('crawler'))
  }
  await until(async () => (await one('select state from back_fills')) === 'done', ms, fleet.logs)
  await until(
    async () =>
      (await one("select count(*)::int from pages where state in ('waiting', 'stored')")) === 0,
    60_000,
    fleet.logs,
  )
  const rows = await database.query(
    "select crawl_key as key, concat_ws(': ', state, reason) as end from back_addresses where depth is null order by 1",
  )
  t.strictSame(
    rows.map(({ key, end }) => [key, end]),
    [...expected].sort(([a], [b]) => (a < b ? -1 : 1)),
    'the ledger',
  )
  t.equal(await one('select count(*)::int from articles'), articles + 1, 'articles')
  t.equal(
    await one(
      'select count(*)::int from articles where published_at is null or published_at < $1',
      [`${year}-03-01`],
    ),
    0,
  )
  const asked = [...Map.groupBy(site.seen, ({ path }) => path)].filter(
    ([path, seen]) =>
      seen.length > 1 + kills &&
      /bericht/.test(path) &&
      !/^(lost: server|fetched)/.test(expected.get(addressKey(site.origin + path)) ?? 'fetched'),
  )
  t.same(
    asked.map(([path]) => path),
    [],
    'no page is asked for again',
  )
  t.same(breachesOf(site, 1), [])
  t.same(
    await one(
      'select array_agg(crawl_key order by 1)::text[] from back_addresses where depth is not null and state = $$lost$$',
    ),
    [`${site.origin}/kaart/weg.xml`],
  )
  const pool = createPool(database.url, 'test', () => {}, PATIENT)
  await countDays(pool).finally(() => pool.end())
  const day = 'select concat_ws($$ $$, named, indexed, refused, lost, waiting) from outlet_days'
  t.equal(await one(day), '1 1 0 0 0', 'the day counts no page of the past')
  const list = JSON.parse((await fleet.script('outlets', 'list', '--json')).trim())
  t.match(list, { health: 'healthy', today: { pages: 1 } })
}
