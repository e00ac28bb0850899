import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { beginBackFill } from '#scripts/outlets/back'
import { countBackDays, goBack, startBackFill } from '#services/crawler/back-fill'
import { addressKey } from '#shared/articles/address'
import { backFillInWords, readBackDays, readBackFills } from '#shared/outlets/back-fills'
import { clearRemoved, removeArticles } from '#shared/removals/remove'
import { outletHealth } from '#status/health'
import { lockWaits } from '#test/database'
import { until } from '#test/fleet'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import { html, rss, sitemapIndex, startScene } from './crawl.ts'
import { reply } from './site.ts'

const { run, site, sites, at, only } = await startScene(t, ['127.0.0.74', '127.0.0.75'], {
  CRAWL_HOST_DELAY: '1ms',
  CRAWL_RETRY_MIN: '1ms',
})
const { pool, crawl } = run
const RANGE = { from: '2024-01-01', to: '2025-12-31' }

const outletNo = async () =>
  Number((await pool.query('select outlet_no from outlets')).rows[0].outlet_no)

async function begin(paths: string[], more: { newestFirst?: boolean } = {}): Promise<void> {
  await pool.query('truncate back_fills cascade')
  await pool.query("update feeds set next_poll_at = now() + interval '1 hour'")
  site.on('/kaart.txt', paths.map(at).join('\n'))
  await again(more)
}
const again = async ({ newestFirst = false, from = RANGE.from } = {}) =>
  beginBackFill(pool, await outletNo(), { ...RANGE, from, newestFirst, seeds: [at('/kaart.txt')] })

const figures = async () => {
  await pool.query("update back_fills set counted_at = 'epoch'")
  await countBackDays(pool)
  return (await readBackFills(pool))[0]!
}

/** Goes on until the back-fill ends, or so many times. */
async function goOn(times = 2_000, isDone = async () => false): Promise<void> {
  for (let time = 0; time < times && (await figures()).state === 'running'; time += 1) {
    await goBack(crawl)
    if (await isDone()) return
    await pause(5)
  }
}

/** Reads so many documents, and no page yet. */
const read = (documents: number) =>
  goOn(2_000, async () => (await figures()).documents.read === documents)

t.test('the past waits while something new of the host is due', async t => {
  await only(['/feed.xml'])
  site.on('/oud', html('oud'))
  await begin(['/oud'])
  const insert = `insert into pages (outlet_no, url, crawl_key, host) values ($1, $2, $3, $4)`
  await pool.query(insert, [await outletNo(), at('/nieuw'), addressKey(at('/nieuw')), site.host])
  await goOn(20)
  t.equal(site.to('/kaart.txt').length, 0)
  await pool.query("update pages set state = 'done'")
  await pool.query('update feeds set next_poll_at = now()')
  await goOn(20)
  t.equal(site.to('/kaart.txt').length, 0, 'nor while a feed is due')
  await pool.query("update feeds set next_poll_at = now() + interval '1 hour'")
  await goOn()
  t.match(await figures(), { state: 'done', named: 1, fetched: 1 })
  t.match(await run.page(at('/oud')), { state: 'stored' })
})

t.test('it takes a fifth of the pace, in the order that was asked for', async t => {
  await only(['/feed.xml'])
  const paths = ['/2024/05/01/a', '/2025/05/01/b', '/2023/05/01/c', '/2024/12/01/d', '/zonder-dag']
  for (const path of paths) site.on(path, html(path))
  await begin(paths, { newestFirst: true })
  const since = site.seen.length
  await pool.query('update hosts set crawl_delay = 400')
  await read(1)
  const { rows } = await pool.query<{ ms: number }>(
    'select (extract(epoch from back_at - free_at) * 1000)::float8 as ms from hosts',
  )
  t.ok((rows[0]?.ms ?? 0) > 1_400, 'five pauses of the host, less one that goes before all')
  await pool.query("update hosts set crawl_delay = null, back_at = 'epoch', free_at = 'epoch'")
  await goOn()
  const asked = site.seen.slice(since).map(({ path }) => path)
  t.same(
    asked.filter(path => paths.includes(path)),
    ['/2025/05/01/b', '/2024/12/01/d', '/2024/05/01/a', '/zonder-dag'],
  )
  const days = await readBackDays(pool, { by: 'day', outlets: [await outletNo()], ...RANGE })
  t.same(
    days.map(({ day, named, fetched }) => [day, named, fetched]),
    [
      ['2024-05-01', 1, 1],
      ['2024-12-01', 1, 1],
      ['2025-05-01', 1, 1],
    ],
  )
})

t.test(
  'what fails for good is lost, tried again on demand, and no trouble of the outlet',
  async t => {
    await only(['/feed.xml'])
    site.on('/feed.xml', '<rss><channel><title>x</title></channel></rss>')
    await run.again('feeds')
    const broken = ['/k1', '/k2', '/k3', '/k4']
    for (const path of broken) site.on(path, reply(500))
    site.on('/weg', reply(404))
    await begin([...broken, '/weg'])
    await read(1)
    const texts = `update back_addresses set entry = entry || '{"content": "tekst", "summary": "tekst"}'`
    await pool.query(texts)
    await goOn()
    t.match(await figures(), { state: 'done', lost: 5, reasons: { 'server error': 4, gone: 1 } })
    t.equal(site.to('/k1').length, 5)
    const kept = `select distinct reason, entry->>'content' as content, entry->>'summary' as summary, entry is null as none
                    from back_addresses where depth is null order by 1`
    const nothing = { content: null, summary: null }
    t.same((await pool.query(kept)).rows, [
      { reason: 'gone', ...nothing, none: true },
      { reason: 'server error', ...nothing, none: false },
    ])
    t.match(await outletHealth(pool), [
      { health: 'healthy', unread: null, late: 0, today: { pages: 0 } },
    ])
    for (const path of broken) site.on(path, html(path))
    await again()
    await goOn()
    t.match(await figures(), { fetched: 4, lost: 1 })
    t.equal(site.to('/weg').length, 1, 'what is gone is not asked for again')
  },
)

const { writer } = openTestWriter(pool)
async function written(path: string): Promise<string> {
  const outlet = { name: 'x.example', domain: 'x.example' }
  const article = newArticle(1, { url: at(path), addresses: [addressKey(at(path))], outlet })
  return (await writer.write([article]))[0]!.id
}
const remove = (id: string) =>
  pool
    .query<{ seq: bigint; id: string }>('select seq, id from articles where id = $1', [id])
    .then(({ rows }) => removeArticles(pool, rows, 'test'))

t.test('the ledger follows its pages, and keeps nothing of what was taken out', async t => {
  await only(['/feed.xml'])
  for (const path of ['/een', '/twee', '/drie']) site.on(path, html(path))
  await remove(await written('/drie'))
  await begin(['/een', '/twee', '/drie'])
  await goOn()
  t.match(await figures(), { named: 2, fetched: 2 }, 'an article that was taken out is not named')
  await pool.query("update pages set state = 'refused', reason = 'rights' where url = $1", [
    at('/een'),
  ])
  t.match(await figures(), { fetched: 1, refused: 1, reasons: { rights: 1 } })
  await remove(await written('/twee'))
  t.match(await figures(), { named: 1, fetched: 0 })
})

const ADD_PAGE = 'insert into pages (outlet_no, url, crawl_key, host) values ($1, $2, $2, $2)'
const ADD_LINE = 'insert into back_addresses (outlet_no, crawl_key, place) values ($1, $2, 0)'
const keys = async () => {
  const text =
    'select crawl_key from pages union all select crawl_key from back_addresses order by 1'
  return (await pool.query(text)).rows.map(row => row.crawl_key)
}

/**
 * Takes an article out after a crawler has looked whether it was, and before its row is there.
 * Until then, another transaction has a row of the same key, which it takes back.
 */
async function removedBeside(path: string, row: string, work: () => Promise<unknown>) {
  const holder = await pool.connect()
  await holder.query('begin; set local idle_in_transaction_session_timeout = 0')
  await holder.query(row, [await outletNo(), addressKey(at(path))])
  const working = work()
  await until(async () => (await lockWaits(pool)) === 1, 60_000)
  let isRemoved = false
  const removing = remove(await written(path)).then(() => {
    isRemoved = true
  })
  await until(async () => isRemoved || (await lockWaits(pool)) === 2, 60_000)
  await holder.query('rollback')
  holder.release()
  await Promise.all([working, removing])
}

t.test('what is taken out while a crawler stores its address leaves none', async t => {
  await only(['/feed.xml'])
  for (const path of ['/lijst', '/pagina', '/feed']) site.on(path, html(path))
  await begin(['/lijst'])
  await removedBeside('/lijst', ADD_LINE, () => read(1))
  t.notOk((await keys()).includes(addressKey(at('/lijst'))), 'a line of the ledger')
  await begin(['/pagina'])
  await read(1)
  await removedBeside('/pagina', ADD_PAGE, () => goOn())
  t.notOk((await keys()).includes(addressKey(at('/pagina'))), 'a page of the past')
  site.on('/feed.xml', rss(at('/feed')))
  await removedBeside('/feed', ADD_PAGE, () => run.again('feeds'))
  t.notOk((await keys()).includes(addressKey(at('/feed'))), 'a page that a feed names')

  const before = await keys()
  for (const row of [ADD_PAGE, ADD_LINE])
    await pool.query(row, [await outletNo(), addressKey(at('/feed'))])
  await clearRemoved(pool, [], new AbortController().signal)
  t.same(await keys(), before, 'a clearing deletes what a former version has stored')
  const counted = "select from back_fills where counted_at = 'epoch'"
  t.equal((await pool.query(counted)).rowCount, 1, 'and the ledger is counted again')
})

const HOSTS = "update outlets set hosts = '{127.0.0.74,127.0.0.75}'"

t.test('a dead host keeps no other host waiting, and is lost as a whole', async t => {
  await only(['/feed.xml'])
  await pool.query(HOSTS)
  const away = sites[1]!
  away.on('/robots.txt', reply(503))
  site.on('/2025/01/01/leeft', html('leeft'))
  const dead = ['/2024/01/01/a', '/2024/01/02/b'].map(path => away.origin + path)
  await begin([])
  site.on('/kaart.txt', [...dead, at('/2025/01/01/leeft')].join('\n'))
  const spent = async () =>
    (await pool.query('select coalesce(sum(hosts), 0)::int as n from outlet_loads')).rows[0].n
  const before = await spent()
  await read(1)
  // The first address of all is on a host whose robots.txt did not answer a moment ago.
  await pool.query(
    `insert into hosts (host, robots_blocked, robots_until) values ($1, true, 'infinity')
     on conflict (host) do update set robots_blocked = true, robots_until = 'infinity', back_at = 'epoch', free_at = 'epoch'`,
    [away.host],
  )
  await pool.query("update hosts set back_at = 'epoch', free_at = 'epoch'")
  await pool.query("update back_fills set due_at = 'epoch'")
  await goBack(crawl)
  t.match(await figures(), { state: 'running', fetched: 1, waiting: 2 })
  const until = "update hosts set robots_until = 'epoch', back_at = 'epoch' where host = $1"
  await pool.query(until, [away.host])
  await goOn(2_000, async () => away.seen.length > 2)
  const asked = away.seen.length
  const { rows } = await pool.query(
    'select waits from back_addresses where host = $1 order by place',
    [away.host],
  )
  t.ok(rows[0].waits > 0)
  t.equal(rows[1].waits, 0, 'the tries are those of the host')
  t.equal(await spent(), before, 'new hosts are not in the budget of what is new')
  await pool.query('update back_addresses set waits = 23 where crawl_key = $1', [
    addressKey(dead[0]!),
  ])
  await pool.query(until, [away.host])
  await goOn()
  t.match(await figures(), { state: 'done', lost: 2, reasons: { 'robots unreachable': 2 } })
  // A try may ask twice: for tdmrep.json and for the page.
  t.ok(away.seen.length <= asked + 2, 'one more try was the last')
  t.equal(away.seen.length, away.to('/robots.txt').length)
})

t.test('waiting is no failure', async t => {
  await only(['/feed.xml'])
  await begin(['/traag'])
  await read(1)
  await pool.query('update back_addresses set waits = 20, attempts = 3 where depth is null')
  site.on('/traag', reply(503))
  await goOn(2_000, async () => site.to('/traag').length > 0)
  t.match(await figures(), { state: 'running', waiting: 1 })
  site.on('/traag', html('traag'))
  await goOn()
  t.match(await figures(), { state: 'done', fetched: 1 })
})

t.test('with other days, and after refusals, the ledger has what is wanted now', async t => {
  await only(['/feed.xml'])
  const old = ['/2024/02/01/a', '/2024/02/02/b']
  for (const path of [...old, '/2025/02/01/c']) site.on(path, html(path))
  await begin([...old, '/2025/02/01/c'])
  const elsewhere = `${sites[1]!.origin}/2025/03/01/d`
  sites[1]!.on('/robots.txt', 'User-agent: *\nDisallow:')
  sites[1]!.on('/2025/03/01/d', html('d'))
  const part = `${sites[1]!.origin}/kaart-2025-04.xml`
  site.on('/kaart.txt', [...old.map(at), at('/2025/02/01/c'), elsewhere].join('\n'))
  const no = await outletNo()
  await beginBackFill(pool, no, {
    ...RANGE,
    newestFirst: false,
    seeds: [at('/kaart.txt'), at('/index.xml')],
  })
  site.on('/index.xml', sitemapIndex(part))
  await read(2)
  t.match(await figures(), {
    waiting: 3,
    refused: 1,
    documents: { refused: 1, reasons: { 'foreign host': 1 } },
  })
  t.match(backFillInWords(await figures()), /1 sitemap refused, 0 lost \(foreign host 1\)/)
  await again({ from: '2025-01-01' })
  await goOn()
  t.match(await figures(), { state: 'done', named: 2, fetched: 1, refused: 1 })
  t.same(
    old.flatMap(path => site.to(path)),
    [],
    'other days are not fetched',
  )
  await pool.query(HOSTS)
  await pool.query("update hosts set robots_until = 'epoch'")
  await again()
  await goOn()
  t.match(await figures(), { state: 'done', named: 4, fetched: 4, refused: 0 })
})

t.test('all pages of a feed are read', async t => {
  await only(['/feed.xml'])
  for (let page = 1; page <= 8; page += 1) {
    const next = page < 8 ? `<link rel="next" href="${at(`/blad-${page + 1}.xml`)}"/>` : ''
    const entry = `<entry><title>Bericht ${page}</title><link href="${at(`/bericht-${page}`)}"/><updated>2025-01-01T00:00:00Z</updated></entry>`
    site.on(`/blad-${page}.xml`, `<feed xmlns="http://www.w3.org/2005/Atom">${next}${entry}</feed>`)
    site.on(`/bericht-${page}`, html('x'))
  }
  await begin([])
  const seeds = [at('/blad-1.xml')]
  await beginBackFill(pool, await outletNo(), { ...RANGE, newestFirst: false, seeds })
  const counts = async () => {
    const { rows } = await pool.query(
      'select (select sum(named)::int from back_days) as days, (select count(*)::int from back_addresses where depth is null) as named',
    )
    return rows[0]
  }
  for (let turn = 0; turn < 1_000 && (await counts()).named < 2; turn += 1) {
    await goBack(crawl)
    await pause(10)
  }
  const { days, named } = await counts()
  t.ok(named > 1)
  t.equal(days, named, 'the day grows with each document, before it is counted')
  await goOn()
  t.match(await figures(), { state: 'done', fetched: 8 })
})

t.test('a command and a crawler lock in one order', async t => {
  await only(['/feed.xml'])
  await begin(['/slot'])
  const command = await pool.connect()
  site.on('/slot', async () => {
    await command.query('begin')
    await command.query('update back_fills set moved_at = now()')
    return html('slot')
  })
  const going = goOn()
  const isBegun = async () => {
    const { rows } = await pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
    return rows.length > 0
  }
  for (let time = 0; time < 1_000 && !(await isBegun()); time += 1) await pause(5)
  await command.query('update back_addresses set attempts = 0 where depth is null')
  await command.query('commit')
  command.release()
  await going
  t.match(await figures(), { state: 'done', fetched: 1 })
})

t.test('a back-fill that is done has its last sums, also those of an earlier version', async t => {
  await only(['/feed.xml'])
  site.on('/weg', reply(404))
  await begin(['/weg'])
  const uncounted = async () => (await readBackFills(pool))[0]!
  await countBackDays(pool)
  for (let time = 0; time < 2_000 && (await uncounted()).state === 'running'; time += 1) {
    await goBack(crawl)
    await pause(5)
  }
  const sums = { state: 'done', waiting: 0, lost: 1, reasons: { gone: 1 } }
  t.match(await uncounted(), sums)
  await pool.query('update back_days set reasons = default')
  await pool.query('update back_fills set counted_at = now()')
  await countBackDays(pool)
  t.match(await uncounted(), sums)
})

t.test('a process has one address of an outlet under way, however slow its host is', async t => {
  await only(['/feed.xml'])
  await begin(['/traag'])
  await read(1)
  const { promise, resolve } = Promise.withResolvers<void>()
  site.on('/traag', async () => {
    await promise
    return html('traag')
  })
  const since = site.to('/traag').length
  const going = goOn()
  for (let time = 0; time < 1_000 && site.to('/traag').length === since; time += 1) await pause(5)
  await pool.query("update back_fills set due_at = 'epoch'")
  t.equal(await goBack(crawl), false, 'the claim is over')
  resolve()
  await going
  t.match(await figures(), { state: 'done', fetched: 1 })
})

t.test('the log says that an outage is over, although a back-fill is always due', async t => {
  await only(['/feed.xml'])
  await pool.query('truncate back_fills cascade')
  await pool.query(`
    with o as (
      insert into outlets (name, domain, country, languages, time_zone)
      select n, n || '.example', 'BE', '{nl}', 'UTC' from generate_series(1, 300) n returning outlet_no
    ), b as (
      insert into back_fills (outlet_no, from_day, to_day, newest_first)
      select outlet_no, '2024-01-01', '2024-12-31', false from o
    )
    insert into back_addresses (outlet_no, crawl_key, place, due_at) select outlet_no, 'https://x.example/', 0, 'infinity' from o`)
  const lines: string[] = []
  const log = pino({}, { write: line => lines.push(line) })
  const isLogged = async (text: string) => {
    for (let time = 0; time < 1_000 && !lines.some(line => line.includes(text)); time += 1)
      await pause(10)
    return lines.some(line => line.includes(text))
  }
  await pool.query('alter table back_fills rename to back_fills_away')
  const backFill = startBackFill({ ...crawl, log })
  t.ok(await isLogged('nothing of the past of outlets is fetched'))
  await pool.query('alter table back_fills_away rename to back_fills')
  t.ok(await isLogged('the past of outlets is fetched again'))
  await backFill.close()
})
