import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { openIndex } from '#search/index'
import { startTelling } from '#services/api/desk/telling'
import { changeSearch } from '#shared/desk/searches'
import { createLogger } from '#shared/log/logger'
import { createKey, revokeKey, updateKey } from '#shared/plans/keys'
import { createPool } from '#shared/postgres/pool'
import { keepAlert, startReceiver } from '#test/alerts'
import { createTestPool, holdLock, lockWaits, PATIENT } from '#test/database'
import { createFleet, freePort, startMailSink, until } from '#test/fleet'
import { runScript } from '#test/script'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import { ask, PLAN, sent } from './api.ts'

const { database, pool } = await createTestPool(t)
const env = { DATABASE_URL: database.url, REDIS_URL: '', ALERT_HOSTS: '127.0.0.1' }
const PORT = String(await freePort())
const fleet = createFleet(env, t)
await Promise.all([fleet.start('api', { PORT }), fleet.start('notifier')])
const { writer } = openTestWriter(pool, 3_600_000)
let numbered = 0
const index = (...titles: string[]) =>
  writer.write(titles.map(title => newArticle(++numbered, { title })))

const change = (secret: string, method: string, path: string, body?: unknown) =>
  ask(`${fleet.base()}/explore/searches${path}`, secret, sent(method, body))
const issue = (plan = {}) => createKey(pool, 'test', { ...PLAN, ...plan })
const keep = async (secret: string, search: string, terms?: object) => {
  const { id } = (await change(secret, 'POST', '', { search, name: 'Bruggen' })).json.data
  const alert = terms && (await change(secret, 'PUT', `/${id}/alert`, terms))
  return { id, alert }
}
const used = async (keyId: string) =>
  (await pool.query<{ used: number }>('select used from quota_months where key_id = $1', [keyId]))
    .rows[0]?.used ?? 0

t.test(
  'what is new is told once, in order, signed, and each message costs one of the month',
  async t => {
    const { received, titles, url } = await startReceiver(t)
    const { secret, key } = await issue({ quota: 10 })
    await index('brug van vroeger')
    const { id, alert } = await keep(secret, 'q=brug', { to: url, when: 'at once' })
    t.match(alert, {
      status: 201,
      json: {
        data: { to: url, when: 'at once', time_zone: 'UTC', state: 'on', secret: /^whsec_/ },
      },
    })
    const wanted = Array.from({ length: 180 }, (_, at) => `brug ${at}`)
    // A message tells how many more are visible by then, so the alert waits until all are.
    const due = (time: string) =>
      pool.query(`update search_alerts set due_at = ${time} where search_id = $1`, [id])
    await due("now() + interval '10 min'")
    await index(...wanted, 'iets anders')
    await due('now()')
    await until(() => titles().length >= wanted.length, 40_000, fleet.logs)
    t.same(titles(), wanted)
    for (const { headers, body, json } of received) {
      t.match(new Webhook(alert!.json.data.secret).verify(body, headers), json)
      t.match(json, {
        id: headers['webhook-id'],
        type: 'articles',
        search: { id, name: 'Bruggen' },
      })
      t.ok(json.articles.length <= 100)
    }
    t.equal(received[0]!.json.more, wanted.length - received[0]!.json.articles.length)
    await until(async () => (await used(key.id)) === received.length, 20_000, fleet.logs)
    t.match((await change(secret, 'GET', '')).json.data[0].alert, {
      state: 'on',
      reason: null,
      delivered_at: /^20/,
    })
    await change(secret, 'PATCH', `/${id}`, { search: 'q=sluis' })
    const before = received.length
    await index('sluis', 'brug')
    await until(() => received.length > before, 60_000, fleet.logs)
    const last = received.at(-1)!.json.articles.map(({ title }) => title)
    t.same(last, ['sluis'], 'a changed search goes on from its place')
    // After a failover, another article may have the number.
    await pool.query("update article_texts set title = 'een andere sluis' where title = 'sluis'")
    const again = `update alert_messages set delivered_at = null, try_at = now()
    where message_id = '${received.at(-1)!.json.id}' and delivered_at is not null`
    await until(async () => (await pool.query(again)).rowCount === 1, 20_000, fleet.logs)
    await until(() => titles().at(-1) === 'een andere sluis', 20_000, fleet.logs)
    t.equal((await change(secret, 'DELETE', `/${id}/alert`)).status, 204)
  },
)

t.test('an address is refused with a reason', async t => {
  const { secret } = await issue()
  const { id } = await keep(secret, 'q=brug')
  const to = 'http://127.0.0.1/'
  for (const [wrong, said] of [
    [{ to: 'https://localhost/' }, /"to":\["The host localhost has no public address/],
    [{ to: 'mailto:a@example.org' }, /sends no mail/],
    [{ to: undefined }, /"to":\["Write/],
    [{ when: 'now' }, /"when":\["Write/],
    [{ time_zone: 'Mars' }, /"time_zone":\["Write/],
    [{ language: 'es' }, /"language":\["Write/],
  ] as const) {
    const terms = { to, when: '08:00', ...wrong }
    const { status, text } = await change(secret, 'PUT', `/${id}/alert`, terms)
    t.equal(status, 422, JSON.stringify(wrong))
    t.match(text, said)
  }
  const now = { to, when: 'at once' }
  const meaning = await keep(secret, 'search=semantic&q=water', now)
  t.match(meaning.alert, { status: 422, json: { errors: { search: [/by meaning/] } } })
  t.equal((await change(secret, 'PUT', '/search_0/alert', now)).status, 404)
})

t.test(
  'a used-up month delays, a smaller plan rests, a revoked key ends, and an operator looks',
  async t => {
    const { received, fate, url } = await startReceiver(t)
    const { secret, key } = await issue({ quota: 0 })
    const { id } = await keep(secret, 'country=NL,BE&q=dijk', { to: url, when: 'at once' })
    await index('dijk een')
    const open = async () =>
      (await pool.query('select from alert_messages where delivered_at is null')).rowCount
    await until(async () => (await open()) === 1, 60_000, fleet.logs)
    await pool.query('update alert_messages set try_at = now() where delivered_at is null')
    const alerts = (...args: string[]) => runScript('alerts', args, { DATABASE_URL: database.url })
    const [mine] = (await alerts('list', '--json')).out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
      .filter(one => one.key === key.id)
    t.match(mine, { state: 'on', open_messages: 1, search: id })
    t.equal(received.length, 0, 'a used-up month delays it')
    await updateKey(pool, key.id, { plan: { quota: null } })
    await pool.query('update alert_messages set try_at = now() where delivered_at is null')
    await until(() => received.length === 1, 60_000, fleet.logs)
    const agrees = (at: string) => pool.query(`update search_alerts set confirmed_at = ${at}`)
    await agrees('null')
    t.match(await alerts('test', mine.id), { code: 1, err: /has not agreed yet/ })
    const refused = (why: string | null) =>
      pool.query('update search_alerts set rests = $2 where alert_id = $1', [mine.id, why])
    await refused('Its owner refused it.')
    t.match(await alerts('test', mine.id), { code: 1, err: /rests: Its owner refused it\.$/m })
    await refused(null)
    await agrees('now()')
    t.match(await alerts('test', 'x'), { code: 1, err: /There is no alert x;/ })
    t.match(await alerts('test', mine.id), { code: 0 })
    t.match(await alerts('retry', 'x', mine.id), {
      code: 1,
      err: /try again: 0\.\nx is unknown\.\n\S+ does not rest after failures, or/,
    })
    await until(() => received.length === 2, 60_000, fleet.logs)
    t.match(received[1]!.json, { type: 'test', articles: [], more: 0 })

    fate.next = () => 500
    await index('dijk twee')
    await until(() => received.length > 2, 60_000, fleet.logs)
    const longAgo = "failing_since = now() - interval '25 hours'"
    await pool.query(`update search_alerts set ${longAgo} where alert_id = '${mine.id}'`)
    await until(
      async () => (await change(secret, 'GET', '')).json.data[0].alert.state === 'rests',
      120_000,
      fleet.logs,
    )
    t.match(
      (await change(secret, 'GET', '')).json.data[0].alert.reason,
      /^It has failed for a day: It answered 500\.$/,
    )
    t.match((await alerts('list')).out, /^ALERT +STATE [\s\S]*\n.* rests, 1 to be sent /)
    fate.next = () => 200
    const [last] = received.slice(-1)
    t.match(await alerts('retry', mine.id), { code: 0, err: /try again: 1/ })
    await until(() => received.at(-1) !== last, 60_000, fleet.logs)
    t.equal(received.at(-1)!.json.id, last!.json.id)

    await updateKey(pool, key.id, { plan: { countries: ['NL'] } })
    await index('dijk drie')
    await until(
      async () => (await change(secret, 'GET', '')).json.data[0].alert.state === 'rests',
      60_000,
      fleet.logs,
    )
    t.match((await change(secret, 'GET', '')).json.data[0].alert.reason, /covers NL, not BE/)
    t.match(
      (await change(secret, 'PATCH', `/${id}`, { search: 'country=NL&q=dijk' })).json.data.alert,
      { state: 'on' },
    )
    await revokeKey(pool, key.id)
    t.notMatch((await alerts('list')).out, mine.id)
  },
)

t.test('mail comes once its owner has followed a link, and ends by one click', async t => {
  const { mails, url } = await startMailSink(t)
  const API = String(await freePort())
  const mailed = { SMTP_URL: url, SMTP_FROM: 'alerts@news.example' }
  const base = `http://127.0.0.1:${API}`
  const others = fleet.members.filter(({ service }) => service === 'notifier')
  for (const { process } of others) process.kill('SIGKILL')
  await Promise.all([
    fleet.start('api', { ...mailed, PORT: API, PUBLIC_URL: base }),
    fleet.start('notifier', { ...mailed, PUBLIC_URL: base }),
  ])
  const { secret, key } = await issue({ quota: 9 })
  const send = (method: string, path: string, body?: unknown) =>
    ask(`${base}${path}`, secret, sent(method, body))
  const { id } = (await send('POST', '/explore/searches', { search: 'q=veer', name: 'Veer <b>' }))
    .json.data
  const put = (to = 'mailto:lezer@example.org') =>
    send('PUT', `/explore/searches/${id}/alert`, { to, when: 'at once' })
  t.match(await put(), { status: 201, json: { data: { state: 'asked', secret: undefined } } })
  await put()
  await index('veer een & <i>')
  await until(() => mails.length > 0, 60_000, fleet.logs)
  const confirm = /http:\/\/[\d.:]+\/confirm\/[\w-]+/.exec(mails[0]!)![0]
  await new Promise(resolve => setTimeout(resolve, 5_000))
  t.equal(mails.length, 1, 'one mail asks, and nothing is told')
  t.match(mails[0], /what is new to:<\/p><ul><li><bdi>Veer &#60;b&#62;<\/bdi>/)
  t.equal((await fetch(confirm, { method: 'HEAD' })).status, 200)
  const forged = `${confirm.slice(0, -1)}${confirm.endsWith('A') ? 'B' : 'A'}`
  t.equal((await fetch(forged)).status, 404, 'a forged link')
  const page = await (await fetch(confirm)).text()
  const action = /action="([^"]+)"/.exec(page)![1]!.replaceAll('&amp;', '&')
  const pressed = async () => (await fetch(new URL(action, confirm), { method: 'POST' })).text()
  t.match(
    page,
    /<li><bdi>Veer &#60;b&#62;<\/bdi> · <bdi>at once, whenever[^<]*<\/bdi><\/li>.*<button>/,
  )
  t.match((await send('GET', '/explore/searches')).json.data[0].alert, { state: 'asked' })
  t.match(await pressed(), /From now on/)
  t.match(await pressed(), /good once/)
  await until(() => mails.length === 2, 60_000, fleet.logs)
  t.match(mails[1], /^Subject: Veer <b>: 1 article\r/m)
  t.match(mails[1], /veer een &#38; &#60;i&#62;/)
  t.match(mails[1], /^List-Unsubscribe-Post: List-Unsubscribe=One-Click/m)
  const later = (await send('POST', '/explore/searches', { search: 'q=boot', name: 'Later' })).json
  const terms = { to: 'mailto:lezer@example.org', when: 'at once' }
  t.match(
    await send('PUT', `/explore/searches/${later.data.id}/alert`, terms),
    { json: { data: { state: 'asked' } } },
    'an agreement covers no later alert',
  )
  await until(() => mails.length === 3, 60_000, fleet.logs)
  t.match(mails[2], /what is new to:<\/p><ul><li><bdi>Later</)
  await until(async () => (await used(key.id)) === 1, 20_000, fleet.logs)
  const unsubscribe = /^List-Unsubscribe:\s*<(.*)>/m.exec(mails[1]!)![1]!
  t.match(
    await (await fetch(unsubscribe)).text(),
    /<form method="post" /,
    'to look at the link ends nothing',
  )
  t.match((await send('GET', '/explore/searches')).json.data[0].alert, { state: 'on' })
  const clicked = await fetch(unsubscribe, {
    method: 'POST',
    body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
  })
  t.equal(clicked.status, 200)
  await index('veer twee')
  await put()
  t.match((await send('GET', '/explore/searches')).json.data[0].alert, {
    state: 'rests',
    reason: /has ended such mail.* Only the owner can change that/,
  })

  // Each alert that comes later asks again, also by another spelling of the mailbox.
  const spellings = ['Ander@example.org', 'an.der@example.org', 'ander+a@example.org']
  for (let round = 0; round < 6; round++) {
    await put(`mailto:${spellings[round % 3]}`)
    await send('DELETE', `/explore/searches/${id}/alert`)
  }
  t.match(await put(), { status: 201, json: { data: { state: 'rests' } } })
  await pool.query(`insert into alert_messages (message_id, alert_id, kind, seqs, more, seq, at)
    select 'msg_early', alert_id, 'articles', array[1::bigint], 0, seq, at from search_alerts where search_id = '${id}'`)
  await new Promise(resolve => setTimeout(resolve, 6_000))
  t.equal(
    mails.filter(mail => /^To: lezer/m.test(mail)).length,
    3,
    'who refused is asked and told nothing',
  )
  const asks =
    'select told_to, count(*)::int as n from alert_asks where not refused group by 1 order by 1'
  t.same(await database.query(asks), [
    { told_to: 'mailto:ander@example.org', n: 3 },
    { told_to: 'mailto:lezer@example.org', n: 2 },
  ])
  for (const link of [confirm, unsubscribe])
    t.notOk(fleet.logs().includes(link.slice(-40)), 'no log has a link')
})

t.test(
  'digests of one time and one address are one mail, which ends each search and all',
  async t => {
    const { mails, url } = await startMailSink(t)
    for (const { process } of fleet.members.filter(({ service }) => service === 'notifier'))
      process.kill('SIGKILL')
    const { key } = await issue()
    const searches = ['molen', 'sloot', 'akker']
    const terms = { to: 'mailto:samen@example.org', when: 'monday 08:00', zone: 'UTC' }
    for (const [at, word] of searches.entries()) {
      const own = { ...terms, language: at < 2 ? ('fr' as const) : ('nl' as const) }
      await keepAlert(pool, key.id, `q=${word}`, own, 'Bruggen')
    }
    const mine = `where key_id = '${key.id}'`
    await pool.query(`update search_alerts set confirmed_at = now() ${mine}`)
    await index('molen een', 'molen een', 'sloot een', 'akker een')
    await pool.query(`update search_alerts set due_at = now() ${mine}`)
    const mailed = { SMTP_URL: url, SMTP_FROM: 'alerts@news.example', PUBLIC_URL: fleet.base() }
    await fleet.start('notifier', mailed)
    const told = `search_alerts ${mine} and delivered_at is not null`
    await until(async () => (await database.count(told)) === 3, 60_000, fleet.logs)
    const open = `alert_messages where delivered_at is null and alert_id in (select alert_id from search_alerts ${mine})`
    await until(async () => (await database.count(open)) === 0, 60_000, fleet.logs)
    t.equal(mails.length, 2, 'one mail a language, and none that asks where all have agreed')
    const both = mails.find(mail => mail.includes('molen een')) ?? ''
    t.match(both, 'sloot een')
    const [, link = ''] =
      /^List-Unsubscribe:\s*<([^>]*)>/m.exec(both.replace(/\r\n[ \t]/g, '')) ?? []
    const page = await (await fetch(link)).text()
    t.match(page, '<html lang="fr">')
    const actions = [...page.matchAll(/action="([^"]+)"/g)].map(([, action = '']) =>
      action.replace('&amp;', '&'),
    )
    t.equal(actions.length, 4, 'each, both, and all mail from here')
    const left = async () => {
      const { rows } = await pool.query(
        `select search from search_alerts join kept_searches using (search_id) where search_alerts.key_id = $1 and rests is null order by 1`,
        [key.id],
      )
      return rows.map(({ search }) => search)
    }
    t.match(await (await fetch(new URL(actions[0]!, link), { method: 'POST' })).text(), 'Bruggen')
    const [, later] = ['molen', 'sloot'].sort(
      (a, b) => both.indexOf(`${a} een`) - both.indexOf(`${b} een`),
    )
    t.same(await left(), ['q=akker', `q=${later}`], 'the first link ends the first search')
    const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })
    t.equal((await fetch(link, { method: 'POST', body })).status, 200)
    t.same(await left(), ['q=akker'], 'one click ends what the mail has, and nothing else')
  },
)

t.test('what one mail tells comes again as one mail after a failure, and counts once', async t => {
  const { mails, url } = await startMailSink(t, 1)
  for (const { process } of fleet.members.filter(({ service }) => service === 'notifier'))
    process.kill('SIGKILL')
  const { key } = await issue()
  const words = ['weer', 'wind', 'regen', 'mist', 'sneeuw', 'storm']
  const terms = { to: 'mailto:weer@example.org', when: 'monday 08:00' }
  for (const word of words) await keepAlert(pool, key.id, `q=${word}`, terms)
  const own = `search_alerts where key_id = '${key.id}'`
  await pool.query(`update search_alerts set confirmed_at = now() where key_id = '${key.id}'`)
  await pool.query("delete from alert_messages where kind = 'ask'")
  await index(...words)
  await pool.query(`update search_alerts set due_at = now() where key_id = '${key.id}'`)
  const METRICS_PORT = String(await freePort())
  await fleet.start('notifier', { SMTP_URL: url, PUBLIC_URL: fleet.base(), METRICS_PORT })
  const told = `${own} and delivered_at is not null`
  await until(async () => (await database.count(told)) === words.length, 60_000, fleet.logs)
  t.equal(mails.length, 1)
  await pool.query(
    `insert into alert_messages (message_id, alert_id, kind, seqs, more)
     select 'msg_none', alert_id, 'articles', '{}', 0 from ${own} limit 1`,
  )
  const isSettled = "alert_messages where message_id = 'msg_none' and delivered_at is not null"
  await until(async () => (await database.count(isSettled)) === 1, 60_000, fleet.logs)
  const metrics = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text()
  const of = (name: string) =>
    metrics.match(new RegExp(`^\\w*alerts_${name}_total.* (\\d+)$`, 'm'))?.[1]
  t.same([of('failed'), of('delivered')], ['6', '6'], 'what says nothing is no delivery')
})

t.test(
  'a change meets a message on its way: nothing is lost, and neither waits for the other for ever',
  async t => {
    const { received, fate, titles, url } = await startReceiver(t)
    const { secret, key } = await issue()
    const { id } = await keep(secret, 'q=gracht', { to: url, when: 'at once' })
    // The search has found the article, and waits to learn whether it is a copy.
    const release = await holdLock(pool, 'lock table copy_sketches in access exclusive mode')
    await index('gracht een')
    const isLooking = async () =>
      (
        await pool.query(
          "select from search_alerts where search_id = $1 and due_at > now() + interval '20 s'",
          [id],
        )
      ).rowCount === 1
    await until(isLooking, 60_000, fleet.logs)
    await changeSearch(pool, key.id, id, { search: 'q=singel' })
    await index('singel een')
    await release()
    await until(() => titles().includes('singel een'), 90_000, fleet.logs)

    const answer = Promise.withResolvers<number>()
    fate.next = () => answer.promise
    await index('singel twee')
    await until(() => received.length === 2, 60_000, fleet.logs)
    const client = await pool.connect()
    await client.query('begin')
    await client.query('update search_alerts set failure = null where search_id = $1', [id])
    answer.resolve(200)
    await until(async () => (await lockWaits(pool)) > 0, 30_000)
    await client.query(
      'delete from alert_messages using search_alerts a where a.search_id = $1 and alert_messages.alert_id = a.alert_id',
      [id],
    )
    await client.query('commit')
    client.release()
    await until(() => received.length === 3, 60_000, fleet.logs)
    t.same(titles(), ['singel een', 'singel twee', 'singel twee'])
  },
)

t.test('receivers that hang delay nobody else', async t => {
  const { received: held, fate, url: hanging } = await startReceiver(t)
  fate.next = () => 'hang'
  const { received, url } = await startReceiver(t)
  const keepAt = async (to: string) => keepAlert(pool, (await issue()).key.id, 'q=haven', { to })
  for (let n = 0; n < 10; n++) await keepAt(`${hanging}${n}`)
  await index('haven een')
  // A message hangs for ten seconds. One after another, only three would be sent within the limit.
  await until(() => new Set(held.map(({ path }) => path)).size === 10, 30_000, fleet.logs)
  await keepAt(url)
  await index('haven twee')
  await until(() => received.length > 0, 30_000, fleet.logs)
})

t.test('a digest comes once in a day, also where the clock of the database is ahead', async t => {
  const { database } = await createTestPool(t)
  // This `now` is found before the one of the catalogue.
  const settings = { search_path: 'public,pg_catalog' }
  const ahead = createPool(database.url, 'test', () => {}, { ...PATIENT, settings })
  t.teardown(() => ahead.end())
  await database.query(
    "create function now() returns timestamptz language sql as $$select pg_catalog.now() + interval '10 min'$$",
  )
  const { key } = await createKey(ahead, 'test', PLAN)
  const when = new Date(Date.now() + 300_000).toISOString().slice(11, 16)
  await keepAlert(ahead, key.id, 'q=polder', { to: 'http://127.0.0.1:9/', when })
  const telling = startTelling(ahead, openIndex(ahead), createLogger('test', 'silent'))
  const isNext = "search_alerts where due_at > pg_catalog.now() + interval '23 hours'"
  await until(async () => (await database.count(isNext)) === 1, 20_000).finally(telling.close)
})
