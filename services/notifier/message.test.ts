import t from 'tap'
import type { ArticleRow } from '#search/types'
import { openCopyGroups } from '#shared/copies/pass'
import { retryAlerts } from '#shared/desk/alerts/alerts'
import { hostOf, QUESTION } from '#shared/desk/alerts/messages'
import { createLogger } from '#shared/log/logger'
import { createKey, updateKey } from '#shared/plans/keys'
import { readRow } from '#shared/postgres/pool'
import { removeArticles } from '#shared/removals/remove'
import { keepAlert } from '#test/alerts'
import { createTestPool } from '#test/database'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import {
  composed,
  noteDelivered,
  noteFailed,
  readAlso,
  readWaiting,
  type TakenMessage,
  takeMessages,
} from './message.ts'
import { LEASE } from './retries.ts'

const { pool } = await createTestPool(t)
const { writer, indexer } = openTestWriter(pool)
t.teardown(() => indexer.close())
await writer.write([newArticle(1, { title: 'brug' }), newArticle(2, { title: 'brug' })])

const PLAN = {
  countries: ['NL' as const],
  history: { kind: 'fixed' as const, at: new Date(0) },
  rate: 60,
  quota: 2,
}

let numbered = 0
/** A message that is due, about both articles, of an alert of a new key. */
async function due(kind: 'articles' | 'test' = 'articles') {
  const { key } = await createKey(pool, 'test', PLAN)
  const to = 'https://receiver.example/hook'
  const alert = await keepAlert(pool, key.id, 'q=brug', { to }, 'Bruggen')
  const id = `msg_${++numbered}`
  await pool.query(
    `insert into alert_messages (message_id, alert_id, kind, seqs, more, seq, at, question)
     select $1, alert_id, $2, '{1,2}', 3, 5, now(), ${QUESTION}
       from search_alerts a join kept_searches s using (search_id) join api_keys k on k.id = a.key_id
      where alert_id = $3`,
    [id, kind, alert.id],
  )
  const take = async (): Promise<TakenMessage | undefined> => (await takeMessages(pool, [id]))[0]
  const state = () =>
    readRow<Record<string, unknown>>(
      pool,
      `select m.attempts, m.delivered_at is not null as delivered,
              extract(epoch from m.try_at - now())::float8 as seconds from alert_messages m where message_id = $1`,
      [id],
    )
  const ofAlert = () =>
    readRow<Record<string, unknown>>(
      pool,
      `select seq::int, failure, failing_since is not null as fails, rests, delivered_at is not null as told,
              (select used from quota_months where key_id = $2) as used from search_alerts where alert_id = $1`,
      [alert.id, key.id],
    )
  return { id, key, search: alert.searchId, take, state, ofAlert }
}

t.test(
  'a message is taken once: the attempt counts, and nobody else has it for its lease',
  async t => {
    const { id, key, search, take, state } = await due()
    const waiting = await readWaiting(pool, { ofHost: 8, ofKey: 32 })
    t.match(
      waiting.find(one => one.id === id),
      { key: key.id, host: 'receiver.example', isNew: true },
    )
    t.match(await take(), {
      id,
      type: 'articles',
      attempts: 1,
      search: { id: search, name: 'Bruggen' },
      seqs: [1n, 2n],
      ids: [String, String],
      more: 3,
    })
    t.equal(await take(), undefined)
    const { attempts, seconds } = (await state())!
    t.equal(attempts, 1)
    t.ok(Number(seconds) * 1_000 > LEASE - 20_000 && Number(seconds) * 1_000 <= LEASE, `${seconds}`)
  },
)

for (const [busy, other, seen] of [
  ['https://down.example/hook', 'https://other.example/hook', [8, 1]],
  ['mailto:a@mail.example', 'mailto:b@mail.example', [1, 1]],
] as const)
  t.test(`messages to another receiver are seen among many of one key: ${other}`, async t => {
    const { key } = await createKey(pool, 'test', PLAN)
    for (let n = 0; n < 40; n++)
      await keepAlert(pool, key.id, 'q=brug', { to: n === 39 ? other : busy }, `${n}`)
    const told = `
      with asked as (delete from alert_messages where alert_id in (select alert_id from search_alerts where key_id = $1)),
      own as (update search_alerts set confirmed_at = now() where key_id = $1 returning alert_id, told_to)
      insert into alert_messages (message_id, alert_id, kind, seqs, more, host, try_at)
      select alert_id, alert_id, 'articles', '{}', 0, ${hostOf('told_to')}, now() - case when told_to = $2 then 1 else 60 end * interval '1 min'
        from own`
    await pool.query(told, [key.id, other])
    const waiting = await readWaiting(pool, { ofHost: 8, ofKey: 32 })
    const ids = waiting.filter(one => one.key === key.id).map(({ id }) => id)
    const count = async (to: string) =>
      (
        await pool.query('select from search_alerts where alert_id = any ($1) and told_to = $2', [
          ids,
          to,
        ])
      ).rowCount
    t.same([await count(busy), await count(other)], seen)
  })

t.test('a message of another question is withdrawn, and one of a revoked key stays', async t => {
  const changed = await due()
  const change = "update kept_searches set search = 'q=sluis' where search_id = $1"
  await pool.query(change, [changed.search])
  t.equal(await changed.take(), undefined)
  t.equal(await changed.state(), undefined)
  const narrowed = await due()
  await updateKey(pool, narrowed.key.id, { plan: { countries: ['BE'] } })
  t.equal(await narrowed.take(), undefined)
  t.equal(await narrowed.state(), undefined)
  const revoked = await due()
  // `revokeKey` also ends its alerts. An older process may not have.
  await pool.query('update api_keys set revoked_at = now() where id = $1', [revoked.key.id])
  t.equal(await revoked.take(), undefined)
})

t.test('a message waits while the month is used up; a test of the alert does not', async t => {
  const used = `insert into quota_months (key_id, month, used)
                values ($1, date_trunc('month', now() at time zone 'UTC'), 2)`
  const full = await due()
  await pool.query(used, [full.key.id])
  t.equal(await full.take(), undefined)
  const { attempts, seconds } = (await full.state())!
  t.equal(attempts, 0, 'it was not sent')
  t.ok(Number(seconds) <= 600, `${seconds}`)
  const test = await due('test')
  await pool.query(used, [test.key.id])
  t.match(await test.take(), { type: 'test' })
})

t.test(
  'a delivery moves the alert to its place and costs one; again it changes nothing',
  async t => {
    const { take, state, ofAlert } = await due()
    const message = (await take())!
    await noteFailed(pool, message, { why: 'It was down.', wait: 1, isGone: false })
    await noteDelivered(pool, message, message.ids)
    t.match(await state(), { delivered: true })
    const told = { seq: 5, failure: null, fails: false, rests: null, told: true, used: 1 }
    t.match(await ofAlert(), told)
    await noteDelivered(pool, message, message.ids)
    t.match(await ofAlert(), told)
    const late = await due()
    const withdrawn = (await late.take())!
    const { seq } = (await late.ofAlert())!
    await pool.query("update kept_searches set search = 'q=sluis' where search_id = $1", [
      late.search,
    ])
    await noteDelivered(pool, withdrawn, withdrawn.ids)
    t.match(await late.ofAlert(), { seq, used: null }, 'the place is that of the new question')
  },
)

t.test('a failure is told of the alert, and the message waits; one that is gone rests', async t => {
  const { take, state, ofAlert } = await due()
  const message = (await take())!
  await noteFailed(pool, message, { why: 'It answered 500.', wait: 90_000, isGone: false })
  const { seconds } = (await state())!
  t.ok(Number(seconds) > 60 && Number(seconds) <= 90, `${seconds}`)
  t.match(await ofAlert(), { failure: 'It answered 500.', fails: true, rests: null, told: false })
  await noteFailed(pool, { ...message, attempts: 7 }, { why: 'x', wait: 1, isGone: false })
  t.ok(Number((await state())?.seconds) > 60, 'an attempt of before moves nothing')
  await noteFailed(pool, message, { why: 'It is gone for good.', wait: 1, isGone: true })
  t.match(await ofAlert(), { rests: 'It is gone for good.' })
  t.ok(await state(), 'its articles are told when the alert goes on')
  const test = await due('test')
  const gone = (await test.take())!
  await noteFailed(pool, gone, { why: 'gone', wait: 1, isGone: true })
  t.equal(await test.state(), undefined, 'a test is not sent later')

  const arrives = await due('test')
  const { alert } = (await arrives.take())!
  await pool.query('update alert_messages set alert_id = $1 where alert_id = $2', [
    gone.alert.id,
    alert.id,
  ])
  await noteDelivered(pool, { ...gone, id: arrives.id }, [])
  t.match(await test.ofAlert(), { fails: true, rests: 'gone' }, 'also when a test arrives')
  const dear = await due('test')
  const sent = (await dear.take())!
  await pool.query("update search_alerts set rests = 'It is too dear.' where alert_id = $1", [
    sent.alert.id,
  ])
  await noteFailed(pool, sent, { why: 'It answered 500.', wait: 1, isGone: false })
  t.match(await dear.ofAlert(), { fails: false, rests: 'It is too dear.' })
  t.same(await retryAlerts(pool, [gone.alert.id, sent.alert.id]), [gone.alert.id])
})

t.test('a message shows what its plan covers, and never what another history had', async t => {
  const { take } = await due()
  const message = (await take())!
  const row = (seq: bigint, change: object = {}): [bigint, ArticleRow] => [
    seq,
    {
      seq,
      id: message.ids[Number(seq) - 1]!,
      title: `Brug ${seq}`,
      url: 'https://a.example/',
      snippet: null,
      publishedAt: new Date(),
      ingestedAt: new Date(),
      authors: [],
      outlet: { name: null, domain: 'a.example' },
      language: 'nl',
      country: 'NL',
      section: null,
      kind: null,
      access: null,
      ...change,
    },
  ]
  const titles = (rows: [bigint, ArticleRow][], of: TakenMessage = message) =>
    composed(of, new Map(rows))?.articles.map(({ title }) => title)
  t.same(titles([row(1n), row(2n)]), ['Brug 1', 'Brug 2'])
  t.same(titles([row(1n, { country: 'BE' }), row(2n)]), ['Brug 2'])
  t.same(titles([row(1n, { country: 'BE' })]), undefined, 'nothing is left to tell')
  t.same(titles([], { ...message, type: 'test', seqs: [] }), [])
  t.throws(() => titles([row(1n, { id: 'another' })]), { name: 'HistoryChanged' })
})

const NAMES: Record<string, string> = {
  krant: 'Krant',
  gazet: 'Gazet',
  bode: 'Bode',
  metro: 'Krant',
}

t.test('the outlets of copies are read as plan and removals say at that moment', async t => {
  const body = Array.from({ length: 120 }, (_, at) => `woord${at % 40}x${at}`).join(' ')
  const articles = ['krant', 'gazet', 'bode', 'gazet', 'metro'].map((one, at) => ({
    ...newArticle(10 + at, { body, outlet: { name: NAMES[one]!, domain: `${one}.example` } }),
    country: one === 'bode' ? ('BE' as const) : ('NL' as const),
  }))
  await writer.write(articles)
  const { rows } = await pool.query<{ id: string; seq: bigint }>(
    'select id, seq from articles where seq > 2 order by seq',
  )
  await openCopyGroups(pool).pass(new AbortController().signal)
  const also = async (countries: ('NL' | 'BE')[], at = new Date(0)) => {
    const plan = { ...PLAN, countries, history: { kind: 'fixed' as const, at } }
    return (await readAlso(pool, plan, [rows[0]!.id], createLogger('test', 'silent'))).get(
      rows[0]!.id,
    )
  }
  t.same(await also(['NL']), ['Gazet', 'metro.example'], 'another one has its name')
  t.same(await also(['NL', 'BE']), ['Gazet', 'Bode', 'metro.example'])
  t.same(await also(['NL', 'BE'], articles[2]!.publishedAt!), ['Bode', 'Gazet', 'metro.example'])
  await removeArticles(pool, [rows[1]!], 'test')
  t.same(await also(['NL']), ['Gazet', 'metro.example'], 'its other copy is left')
  await removeArticles(pool, [rows[3]!], 'test')
  t.same(await also(['NL', 'BE']), ['Bode', 'metro.example'])
  await pool.query('alter table copy_sketches rename to elsewhere')
  t.same(await also(['NL']), undefined, 'a failure holds up no mail')
})
