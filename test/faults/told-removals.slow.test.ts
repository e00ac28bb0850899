import { setTimeout as pause } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { openIndexer } from '#search/indexer'
import { openArticleWriter } from '#search/indexing/writer'
import { endAlert } from '#shared/desk/alerts/alerts'
import { loadAlertSecrets } from '#shared/desk/alerts/secrets'
import { createKey, revokeKey } from '#shared/plans/keys'
import { SEGMENT_THREAD } from '#shared/postgres/segment-thread'
import { clearRemoved, removeArticles } from '#shared/removals/remove'
import { keepAlert, startReceiver } from '#test/alerts'
import { PLAN } from '#test/contract/api'
import { createTestPool } from '#test/database'
import { createFleet, freePort, startMailSink, until } from '#test/fleet'
import { newArticle } from '#test/search/short-articles'
import { createRandom } from './random.ts'

/*
 * Who was told of an article is told that it was taken out, whatever happens to notifiers,
 * receivers, alerts and keys meanwhile. The oracle compares what receivers got.
 */

t.setTimeout(300_000)
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9))
const random = createRandom(seed)

t.test(`removals are told to alerts that told the articles (SEED=${seed})`, async t => {
  const { database, pool } = await createTestPool(t)
  const { received, fate, url: to } = await startReceiver(t)
  const { mails, url } = await startMailSink(t)
  const env = { DATABASE_URL: database.url, REDIS_URL: '', ALERT_HOSTS: '127.0.0.1', SMTP_URL: url }
  const fleet = createFleet(env, t)
  await Promise.all([
    fleet.start('api', { PORT: String(await freePort()) }),
    fleet.start('notifier'),
    fleet.start('notifier'),
  ])

  const { key } = await createKey(pool, 'stays', PLAN)
  const leaving = await createKey(pool, 'leaves', PLAN)
  const alertOf = async (keyId: string, address: string, when = 'at once') => {
    const alert = await keepAlert(pool, keyId, 'q=brug', { to: address, when })
    await pool.query('update search_alerts set confirmed_at = now() where alert_id = $1', [
      alert.id,
    ])
    return { search: alert.searchId, id: alert.id }
  }
  const staying = [await alertOf(key.id, `${to}a`), await alertOf(key.id, `${to}b`)]
  await alertOf(key.id, 'mailto:lezer@example.org')
  const ended = await alertOf(key.id, `${to}ended`)
  const revoked = await alertOf(leaving.key.id, `${to}revoked`)

  const indexer = openIndexer(pool, SEGMENT_THREAD)
  t.teardown(() => indexer.close())
  const writer = await openArticleWriter({ pool, indexer, embedDelay: 3_600_000 })
  let numbered = 0
  const removed = new Set<string>()
  /** When searches lost their alerts. */
  const ends = new Map<string, number>()
  const write = () =>
    writer.write(
      Array.from({ length: 1 + random.below(4) }, () =>
        newArticle(++numbered, { title: `brug nummer${numbered}` }),
      ),
    )
  const acts = {
    write,
    async remove() {
      const { rows } = await pool.query<{ seq: bigint; id: string }>(
        'select seq, id from articles a where not exists (select from tombstones t where t.seq = a.seq) order by seq',
      )
      const doomed = random.shuffled(rows).slice(0, 1 + random.below(3))
      for (const { id } of doomed) removed.add(id)
      await removeArticles(pool, doomed, 'a court')
      if (random.below(2) === 0) await clearRemoved(pool, [], new AbortController().signal)
    },
    async 'kill a notifier'() {
      const one = random.pick(
        fleet.members.filter(
          ({ service, process }) =>
            service === 'notifier' && process.exitCode === null && process.signalCode === null,
        ),
      )
      one.process.kill('SIGKILL')
      await one.exited
      await fleet.start('notifier')
    },
    async 'a receiver fails'() {
      fate.next = () => random.pick([200, 500, 'hang'])
    },
    async 'a receiver works'() {
      fate.next = () => 200
    },
    async 'an alert rests'() {
      await pool.query("update search_alerts set rests = 'tired' where alert_id = $1", [
        staying[1]!.id,
      ])
    },
    async 'an alert ends'() {
      await endAlert(pool, key.id, ended.search)
      ends.set(ended.search, Date.now())
    },
    async 'a key is revoked'() {
      await revokeKey(pool, leaving.key.id)
      ends.set(revoked.search, Date.now())
    },
  }
  await write()
  await until(() => received.length >= 4, 30_000, fleet.logs)
  const names = Object.keys(acts) as (keyof typeof acts)[]
  const more = [...Array<'write'>(4).fill('write'), ...Array<'remove'>(4).fill('remove')]
  for (const name of random.shuffled([...names, ...more])) {
    t.comment(name)
    await acts[name]()
    await pause(random.below(1_500))
  }
  fate.next = () => 200
  await write()
  await acts.remove()
  await clearRemoved(pool, [], new AbortController().signal)
  // What was on its way has ended by then.
  await pause(11_000)
  const isLeft = async () =>
    (await pool.query('update alert_messages set try_at = now() where delivered_at is null'))
      .rowCount !== 0
  await pool.query('update search_alerts set rests = null')
  await until(async () => !(await isLeft()), 60_000, fleet.logs)

  const told = received.map(({ json, at }) => ({ ...json, at }))
  const toldTo = (search: string) => told.filter(one => one.search.id === search)
  for (const { search } of staying) {
    const named = toldTo(search).flatMap(({ articles }) => articles.map(({ id }) => id))
    const gone = new Set(
      toldTo(search).flatMap(({ removals }) => removals?.map(({ id }) => id) ?? []),
    )
    const due = named.filter(id => removed.has(id))
    t.ok(search !== staying[0]!.search || due.length > 0, 'something was told and taken out')
    t.strictSame(
      due.filter(id => !gone.has(id)),
      [],
      'all that it was told',
    )
    t.ok([...gone].every(id => removed.has(id)))
    for (const id of gone) {
      const messages = toldTo(search)
      const at = messages.findIndex(({ removals }) => removals?.some(one => one.id === id))
      const late = messages.slice(at).some(({ articles }) => articles.some(one => one.id === id))
      t.notOk(late, `${id} does not come after its removal`)
    }
  }
  for (const [search, at] of ends) {
    const late = toldTo(search).filter(one => one.at > at + 10_000)
    t.strictSame(late, [], 'an alert that ended tells nothing')
  }
  const { rows } = await pool.query<{ number: bigint; id: string; removed_at: Date }>(
    'select number, id, removed_at from tombstones',
  )
  const known = new Map(
    rows.map(row => [
      row.id,
      { ...row, number: Number(row.number), removed_at: row.removed_at.toISOString() },
    ]),
  )
  for (const { removals = [], articles, type } of told) {
    t.equal(type, removals.length > 0 ? 'removed' : 'articles')
    if (removals.length > 0) t.same(articles, [])
    for (const removal of removals) t.strictSame(removal, known.get(removal.id))
  }
  const secrets = await loadAlertSecrets(pool)
  const own = received.find(
    ({ body }) => body.includes(staying[0]!.search) && body.includes('"removed"'),
  )!
  t.ok(new Webhook(secrets.signing(staying[0]!.id)).verify(own.body, own.headers))
  const mailed = mails.filter(mail => /that it told w(as|ere) taken out/.test(mail))
  t.ok(mailed.length > 0)
  for (const mail of mailed) {
    t.notMatch(mail, /nummer|court/, 'no title, no reason')
    t.ok(rows.some(({ id }) => mail.includes(id)))
  }
})
