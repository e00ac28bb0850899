import t from 'tap'
import { readLookCandidates } from '../../services/crawler/looks/due.ts'
import { lookBudget } from '../../services/crawler/looks/limits.ts'
import { saveLook } from '../../services/crawler/looks/save.ts'
import { removeOldSources } from '../../services/crawler/maintenance.ts'
import { nextWork } from '../../services/crawler/visits/work.ts'
import { claimVersions } from '../../services/normaliser/comparing/versions.ts'
import { startNormaliser } from '../../services/normaliser/start.ts'
import { transaction } from '../../shared/postgres/transaction.ts'
import { readLooks } from '../../shared/status/looks.ts'
import { until } from '../fleet.ts'
import { rss, startCrawl } from './crawl.ts'
import { startSite } from './site.ts'

/*
 * A crawler and a normaliser look again at pages whose articles are there. The test makes looks due
 * by moving their time; nothing here waits for minutes.
 */

t.setTimeout(280_000)

const site = await startSite()
const run = await startCrawl()
const { pool, crawl } = run
let normaliser = await startNormaliser({ config: crawl.config, log: crawl.log })
t.teardown(async () => {
  await normaliser.stop()
  await Promise.all([site.close(), run.close()])
})
const at = (path: string) => site.origin + path

/** A page as the outlet serves it now. */
interface Served {
  title: string
  amount: string
  etag?: string
  status?: number
}
const served = new Map<string, Served>()

function serve(path: string, page: Partial<Served>): void {
  served.set(path, { title: `Raad stemt over ${path.slice(1)}`, amount: 'twintig', ...served.get(path), ...page })
  site.on(path, (request, response) => {
    const { title, amount, etag, status = 200 } = served.get(path) ?? { title: '', amount: '' }
    if (status !== 200) return void response.writeHead(status).end()
    if (etag !== undefined && request.headers['if-none-match'] === etag) return void response.writeHead(304).end()
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...(etag === undefined ? {} : { etag }) })
    response.end(`<!doctype html><html lang="nl"><head><title>${title}</title></head><body><article><h1>${title}</h1>
      <p>De gemeenteraad heeft dinsdag urenlang gesproken over ${path.slice(1)}, zonder dat er een besluit viel.</p>
      <p>De wethouder zei dat het plan ${amount} miljoen euro gaat kosten en voor het einde van het jaar begint.</p>
      <p>De oppositie vindt dat het college veel te lang wacht en dreigt met een motie.</p></article></body></html>`)
  })
}

const looks = async (path: string) =>
  (
    await pool.query(
      `select l.*, (extract(epoch from look_at - clock_timestamp()) / 60)::float8 as minutes
         from page_looks l join pages using (page_no) where url = $1`,
      [at(path)],
    )
  ).rows[0]
const isCompared = async () => (await readLooks(pool)).compare === 0
const articles = async () =>
  (await pool.query(`select a.*, t.title, t.body from articles a join article_texts t using (seq) order by seq`)).rows

/** Publishes these pages in one feed, and waits for their articles. */
let feeds = 0
async function publish(paths: string[], published = new Date().toUTCString()): Promise<void> {
  feeds += 1
  for (const path of paths) serve(path, {})
  const items = paths.map(path => ({ link: at(path), title: served.get(path)?.title ?? '', pubDate: published }))
  site.on(`/feed-${feeds}.xml`, rss(...items))
  await run.outlets({ 'x.example': [at(`/feed-${feeds}.xml`)] })
  await run.workOff()
  await until(async () => (await run.pages()).every(({ state }) => state === 'done'), 60_000)
}

const lookNow = async (path?: string) => {
  await pool.query(
    `update page_looks l set look_at = clock_timestamp() from pages p
      where p.page_no = l.page_no and ($1::text is null or p.url = $1)`,
    [path === undefined ? null : at(path)],
  )
  await run.workOff()
  await until(isCompared, 60_000)
}

t.test('an indexed page is looked at a quarter of an hour later, not before; an old one never', async t => {
  await publish(['/one', '/two'])
  await publish(['/old'], 'Tue, 03 Nov 2020 10:00:00 +0100')
  await run.workOff()
  for (const path of ['/one', '/two', '/old']) t.equal(site.to(path).length, 1, path)
  const one = await looks('/one')
  t.ok(one.minutes > 14 && one.minutes <= 121, `${one.minutes} minutes`)
  t.equal((await looks('/old')).look_at, null)
  t.match(await readLooks(pool), { planned: 2, due: 0, compare: 0, changed: 0, gone: 0 })
})

t.test('a page is asked for with its validators; unchanged, it costs nothing', async t => {
  serve('/tag', { etag: '"v1"' })
  await publish(['/tag'])
  await lookNow('/tag')
  t.equal(site.to('/tag').length, 2)
  t.equal(site.to('/tag')[1]?.headers['if-none-match'], '"v1"')
  t.match(await looks('/tag'), { looks: 1, changes: 0, changed_at: null, gone_at: null })
  await lookNow('/one')
  t.match(await looks('/one'), { looks: 1, changes: 0 }, 'the same bytes without validators')
})

t.test('a changed page is noted, and its article stays as it is', async t => {
  const before = await articles()
  serve('/tag', { etag: '"v2"', amount: 'dertig' })
  serve('/one', { title: 'Raad stemt toch niet' })
  await lookNow()
  t.match(await looks('/tag'), { looks: 2, changes: 1, what: ['text'], etag: '"v2"', titles: [] })
  t.match(await looks('/one'), { changes: 1, what: ['title'], titles: ['Raad stemt over one'], title: /toch niet/ })
  t.match(await looks('/two'), { changes: 0, changed_at: null })
  t.strictSame(await articles(), before, 'decision 24')
  t.match(await readLooks(pool), { changed: 2, gone: 0, compare: 0 })
  const { minutes } = await looks('/tag')
  t.ok(minutes > 0 && minutes <= 16, 'it is looked at again soon')
  await lookNow()
  t.match(await looks('/tag'), { looks: 3, changes: 1 }, 'compared with the latest version')
})

t.test('a page that is gone is noted, its article stays; it may come back', async t => {
  const before = await articles()
  serve('/two', { status: 410 })
  await lookNow('/two')
  t.match(await looks('/two'), { gone_status: 410, gone_at: Date, changes: 0 })
  t.strictSame(await articles(), before)
  t.match((await run.page(at('/two'))) ?? {}, { state: 'done' })
  const since = (await looks('/two')).gone_at
  await lookNow('/two')
  t.same((await looks('/two')).gone_at, since, 'the first time counts')
  serve('/two', { status: 200 })
  await lookNow('/two')
  t.match(await looks('/two'), { gone_at: null, gone_status: null, changes: 0 })
})

t.test('a failing look is tried three times, and then left', async t => {
  serve('/two', { status: 500 })
  const asked = site.to('/two').length
  const { looks: done } = await looks('/two')
  for (let attempt = 1; attempt <= 3; attempt += 1) await lookNow('/two')
  t.equal(site.to('/two').length, asked + 3)
  t.match(await looks('/two'), { looks: done + 1, attempts: 0 })
  serve('/two', { status: 200 })
})

t.test('a feed that names a change brings the look forward, once', async t => {
  const atom = (updated: string, title: string) =>
    `<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="${at('/atom')}"/><title>${title}</title>
     <published>2026-11-03T10:00:00Z</published><updated>${updated}</updated></entry></feed>`
  serve('/atom', {})
  const poll = async (updated: string, title = 'Raad stemt over atom') => {
    site.on('/atom.xml', atom(updated, title))
    await run.outlets({ 'x.example': [at('/atom.xml')] })
    await run.hurry('feeds')
    await run.workOff()
    await until(async () => (await run.pages()).every(({ state }) => state === 'done'), 60_000)
  }
  await poll('2026-11-03T10:00:00Z')
  await pool.query(
    "update page_looks set look_at = null, answered_at = now() - interval '1 hour', born_at = now() - interval '1 hour'",
  )
  await poll('2026-11-03T10:00:00Z')
  t.equal((await looks('/atom')).look_at, null, 'nothing new')
  const asked = site.to('/atom').length
  await poll('2026-11-03T12:00:00Z')
  t.equal(site.to('/atom').length, asked + 1, 'it is looked at in the same run')
  await poll('2026-11-03T12:00:00Z')
  await poll('2026-11-03T11:00:00Z')
  t.equal(site.to('/atom').length, asked + 1)
  await pool.query("update page_looks set look_at = null, answered_at = now() - interval '2 hours'")
  await poll('2026-11-03T12:00:00Z', 'Raad stemt niet over atom')
  await poll('2026-11-03T12:00:00Z', 'Raad stemt niet over atom')
  t.equal(site.to('/atom').length, asked + 2, 'a new title counts once')
  await poll('2026-11-03T13:00:00Z')
  const { minutes } = await looks('/atom')
  t.ok(minutes > 13 && minutes < 31, 'not before a quarter of an hour has passed')
  await pool.query('update page_looks set looks = 12, look_at = null')
  await poll('2026-11-03T14:00:00Z')
  t.equal((await looks('/atom')).look_at, null, 'twelve looks are enough')
  await pool.query('update page_looks set looks = 1')
})

t.test('new pages and feeds come before looks, and a part of the budget is theirs alone', async t => {
  await pool.query('update page_looks set look_at = clock_timestamp()')
  serve('/new', {})
  site.on('/news.xml', rss(at('/new')))
  await run.outlets({ 'x.example': [at('/news.xml')] })
  const from = site.seen.length
  const options = {
    ...{ pages: true, held: crawl.held, feedFirst: true, served: null },
    looks: lookBudget(crawl.config),
  }
  t.match(await nextWork(pool, site.host, options), { kind: 'feed' })
  const candidates = () =>
    transaction(pool, client => readLookCandidates(client, { held: [], budget: options.looks, ahead: 300 }))
  t.same(await candidates(), [], 'no visit is called for looks while a feed is due')
  await run.workOff()
  t.strictSame(
    site.seen.slice(from, from + 2).map(({ path }) => path),
    ['/news.xml', '/new'],
  )
  t.ok(site.seen.length > from + 2, 'then the looks')
  await until(isCompared, 60_000)

  await pool.query("update page_looks set look_at = clock_timestamp() where title like '%one%' or title like '%toch%'")
  t.match(await nextWork(pool, site.host, options), { kind: 'look' })
  t.equal(await nextWork(pool, site.host, { ...options, looks: null }), null, 'only in visits that are for looks')
  const { rows } = await pool.query('select outlet_no from outlets')
  const held = { pages: new Set(rows.map(row => row.outlet_no)), feeds: new Set<number>() }
  t.equal(await nextWork(pool, site.host, { ...options, held }), null, 'an outlet that has to wait')
  await pool.query('update outlet_loads set pages = $1', [options.looks.pages])
  t.equal(await nextWork(pool, site.host, options), null, 'half of the budget is spent')
  t.same(await candidates(), [])
  await pool.query('update outlet_loads set pages = 0')
})

t.test('a look that is saved twice counts once; a hint during the request is not lost', async t => {
  await pool.query("update page_looks set look_at = clock_timestamp(), born_at = now() - interval '3 hours'")
  const options = {
    ...{ pages: true, held: crawl.held, feedFirst: true, served: null },
    looks: lookBudget(crawl.config),
  }
  const work = await nextWork(pool, site.host, options)
  if (work?.kind !== 'look') throw new Error('no look is due')
  const { look } = work
  const read = async () => (await pool.query('select * from page_looks where page_no = $1', [look.pageNo])).rows[0]
  await pool.query('update page_looks set hinted_at = clock_timestamp() where page_no = $1', [look.pageNo])
  const settings = { took: 5_000, config: crawl.config }
  const unchanged = { kind: 'unchanged', validators: null } as const
  t.match(await saveLook(pool, look, unchanged, settings), { saved: true })
  const once = await read()
  t.equal(once.looks, look.looks + 1)
  t.ok(once.look_at.getTime() < Date.now() + 2 * 3_600_000, 'long before the next planned look, a day')
  t.match(await saveLook(pool, look, { kind: 'gone', status: 410 }, settings), { saved: false })
  t.strictSame(await read(), once)
})

t.test('a version that was claimed by a process that died is compared by another, once', async t => {
  await normaliser.stop()
  serve('/one', { amount: 'veertig' })
  const { changes } = await looks('/one')
  await pool.query('update page_looks set look_at = null')
  await pool.query(
    'update page_looks set look_at = clock_timestamp() from pages p where p.page_no = page_looks.page_no and url = $1',
    [at('/one')],
  )
  await run.workOff()
  t.equal((await readLooks(pool)).compare, 1)
  t.equal((await claimVersions(pool, 5)).length, 1)
  t.same(await claimVersions(pool, 5), [], 'it is in hand')
  await pool.query('update look_sources set claimed_until = now()')
  normaliser = await startNormaliser({ config: crawl.config, log: crawl.log })
  await until(isCompared, 60_000)
  t.match(await looks('/one'), { changes: changes + 1, what: ['text', 'title'] })
})

t.test('looks end when the source of the page is removed; findings stay', async t => {
  await pool.query("update pages set finished_at = now() - interval '8 days'")
  await pool.query("update page_sources set fetched_at = now() - interval '8 days'")
  const found = (await pool.query('select page_no from page_looks where changed_at is not null order by 1')).rows
  await removeOldSources(pool, 7 * 86_400_000, new AbortController().signal)
  t.strictSame((await pool.query('select page_no from page_looks order by 1')).rows, found)
  t.match(await readLooks(pool), { planned: 0, due: 0 })
})

t.test('with CRAWL_RECHECK=0 nothing is looked at again', async t => {
  const other = await startSite('127.0.0.2')
  const quiet = await startCrawl({ CRAWL_RECHECK: '0' })
  const working = await startNormaliser({ config: quiet.crawl.config, log: quiet.crawl.log })
  t.teardown(async () => {
    await working.stop()
    await Promise.all([other.close(), quiet.close()])
  })
  other.on(
    '/a',
    `<html lang="nl"><body><article><h1>Raad stemt</h1><p>De gemeenteraad heeft dinsdag urenlang gesproken over
    het plan, zonder dat er een besluit viel. De wethouder zei dat het voor het einde van het jaar terugkomt.</p></article></body></html>`,
  )
  other.on('/feed.xml', rss({ link: `${other.origin}/a`, title: 'Raad stemt over het plan' }))
  await quiet.outlets({ 'y.example': [`${other.origin}/feed.xml`] })
  await quiet.workOff()
  await until(async () => (await quiet.pages()).every(({ state }) => state === 'done'), 60_000)
  t.equal((await quiet.pool.query('select from page_looks')).rowCount, 0)
})
