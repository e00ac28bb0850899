import t, { type Test } from 'tap'
import { openIndex } from '#search/index'
import { alertObject } from '#services/api/desk/alerts'
import { startTelling } from '#services/api/desk/telling'
import { noteDelivered, readWaiting, takeMessages } from '#services/notifier/message'
import { listAlerts, putAlert, retryAlerts } from '#shared/desk/alerts/alerts'
import {
  agree,
  askedBy,
  askOwner,
  askUnasked,
  forgetAsked,
  nameAsked,
} from '#shared/desk/alerts/consent'
import { tellRemoved } from '#shared/desk/alerts/messages'
import {
  adoptRefusals,
  lockMailbox,
  refuse,
  refusedByLink,
  takeBack,
} from '#shared/desk/alerts/refusals'
import { putSet, renameSet } from '#shared/desk/outlet-sets'
import { changeSearch, removeSearch } from '#shared/desk/searches'
import { createLogger } from '#shared/log/logger'
import { createKey } from '#shared/plans/keys'
import { readColumn, readValue, transaction } from '#shared/postgres/pool'
import { keepAlert } from '#test/alerts'
import { createTestPool, holdLock, lockWaits } from '#test/database'
import { until } from '#test/fleet'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import { PLAN } from './api.ts'

let numbered = 0

/** A database of its own with a writer, and what tests do with keys and alerts there. */
async function openDesk(t: Pick<Test, 'teardown'>) {
  const { database, pool } = await createTestPool(t)
  const { indexer, writer } = openTestWriter(pool, 3_600_000)
  return {
    database,
    pool,
    indexer,
    writer,
    index: (title: string, domain: string, count: number) =>
      writer.write(
        Array.from({ length: count }, () =>
          newArticle(++numbered, {
            title: `${title} ${numbered}`,
            outlet: { name: domain, domain },
            addresses: [`https://${domain}/${numbered}`],
          }),
        ),
      ),
    issue: async () => (await createKey(pool, 'test', PLAN)).key.id,
    async tell(keyId: string, search: string, to: string, withinDays: number | null = null) {
      const { id, searchId } = await keepAlert(pool, keyId, search, { to, withinDays })
      return { search: searchId, alert: id }
    },
    opened: async (alert: string) =>
      (
        await pool.query<{ id: string; seqs: string[] }>(
          'select message_id as id, seqs from alert_messages where delivered_at is null and alert_id = $1',
          [alert],
        )
      ).rows,
    telling(): void {
      const own = startTelling(pool, openIndex(pool), createLogger('test', 'silent'))
      t.teardown(own.close)
    },
  }
}

const { database, pool, issue, tell, opened } = await openDesk(t)
const MOST = { ofHost: 8, ofKey: 32 }
const waiting = async () => (await readWaiting(pool, MOST)).map(({ id }) => id)

// They wait for the next look at what is new, which looks at all alerts of a database.
t.test('what is found for alerts', async t => {
  t.jobs = 5
  t.test('an alert may leave out what was published long before it came', async t => {
    const { pool, writer, issue, tell, opened, telling } = await openDesk(t)
    const key = await issue()
    const all = await tell(key, 'q=molen', 'https://a.example/')
    const lately = await tell(key, 'q=molen', 'https://b.example/', 30)
    const days = [0, 29, 31, 2_000].map(ago => new Date(Date.now() - ago * 86_400_000))
    const written = await writer.write(
      [...days, null].map(publishedAt => newArticle(++numbered, { title: 'Molen', publishedAt })),
    )
    telling()
    await until(async () => (await opened(all.alert)).length > 0, 20_000)
    await until(async () => (await opened(lately.alert)).length > 0, 20_000)
    const told = async (alert: string) => {
      const { rows } = await pool.query<{ id: string }>(
        'select id from articles where seq = any ($1::bigint[]) order by seq',
        [(await opened(alert))[0]!.seqs],
      )
      return rows.map(({ id }) => id)
    }
    const ids = written.map(one => one!.id)
    t.same(await told(all.alert), ids)
    t.same(await told(lately.alert), [ids[0], ids[1], ids[4]], 'without a date it passes')
  })

  t.test('a changed set of outlets is another question: nothing of the former is told', async t => {
    const { database, pool, index, issue, tell, opened, telling } = await openDesk(t)
    const key = await issue()
    await putSet(pool, key, { name: 'papers', domains: ['brug.example'] })
    const { alert } = await tell(key, 'q=waterpeil&outlets=papers', 'https://a.example/')
    await index('Waterpeil', 'brug.example', 150)
    await index('Waterpeil', 'sluis.example', 1)
    telling()
    const next = async (before = '') => {
      const isThere = async () => {
        const [one] = await opened(alert)
        return one !== undefined && one.id !== before
      }
      await until(isThere, 20_000)
      return (await opened(alert))[0]!
    }
    const first = await next()
    t.equal(first.seqs.length, 100)
    t.same(await putSet(pool, key, { name: 'Papers', domains: ['brug.example'] }), { isNew: false })
    t.same(await opened(alert), [first], 'the same outlets change nothing')

    await putSet(pool, key, { name: 'papers', domains: ['sluis.example', 'dijk.example'] })
    const second = await next(first.id)
    t.equal(
      second.seqs.length,
      1,
      'the message is withdrawn, and its articles are looked for again',
    )

    await putSet(pool, key, { name: 'papers', domains: ['brug.example'] })
    const third = await next(second.id)
    t.equal(third.seqs.length, 100)
    const [taken] = await takeMessages(pool, [third.id])
    await index('Waterpeil', 'sluis.example', 1)
    await putSet(pool, key, { name: 'papers', domains: ['sluis.example'] })
    await noteDelivered(pool, taken!, taken!.ids)
    const fourth = await next(third.id)
    t.equal(fourth.seqs.length, 2, 'a message that was on its way moves no place')

    await putSet(pool, key, { name: 'papers', domains: ['brug.example'] })
    const fifth = await next(fourth.id)
    const [sent] = await takeMessages(pool, [fifth.id])
    const kept = () => database.count(`alert_finds where alert_id = '${alert}'`)
    t.equal(await kept(), 1)
    await pool.query(
      "update search_alerts set due_at = now() + interval '1 hour' where alert_id = $1",
      [alert],
    )
    await index('Waterpeil', 'dijk.example', 1)
    await noteDelivered(pool, sent!, sent!.ids)
    await putSet(pool, key, { name: 'papers', domains: ['dijk.example', 'sluis.example'] })
    const sixth = await next(fifth.id)
    t.equal(sixth.seqs.length, 3, 'what was found beyond the message is found anew')
  })

  t.test('a set with another name is the same question: all that was found stays', async t => {
    const { pool, index, issue, tell, opened, telling } = await openDesk(t)
    const key = await issue()
    await putSet(pool, key, { name: 'dailies', domains: ['krant.example'] })
    const { alert } = await tell(key, 'q=kiezers&outlets=dailies', 'https://a.example/')
    await index('Kiezers', 'krant.example', 150)
    telling()
    await until(async () => (await opened(alert)).length > 0, 20_000)
    const [first] = await opened(alert)
    const [taken] = await takeMessages(pool, [first!.id])
    const finds = async () =>
      (
        await pool.query(
          'select from alert_finds f join alert_messages m using (alert_id, question) where alert_id = $1',
          [alert],
        )
      ).rowCount
    t.equal(await finds(), 1)
    await renameSet(pool, key, 'Dailies', 'Kranten')
    t.same(await opened(alert), [first])
    t.equal(await finds(), 1, 'also what was found beyond the message')
    await noteDelivered(pool, taken!, taken!.ids)
    await until(async () => ![undefined, first!.id].includes((await opened(alert))[0]?.id), 20_000)
    const [second] = await opened(alert)
    t.equal(second!.seqs.length, 50, 'a message that was on its way has moved the place')
    await renameSet(pool, key, 'kranten', 'KRANTEN')
    t.equal((await takeMessages(pool, [second!.id])).length, 1)
  })

  t.test('an alert whose question became too dear rests, and says what to do', async t => {
    const { pool, index, issue, tell, opened, telling } = await openDesk(t)
    const key = await issue()
    const words = Array.from({ length: 58 }, (_, at) => `w${at}`).join(' OR ')
    const q = encodeURIComponent(`duur NEAR/9 (dicht OR ${words})`)
    const { alert, search } = await tell(key, `search=expression&q=${q}`, 'https://duur.example/')
    const reason = async () =>
      (
        await pool.query<{ rests: string | null }>(
          'select rests from search_alerts where alert_id = $1',
          [alert],
        )
      ).rows[0]!.rests
    await index('Duur dicht', 'brug.example', 1_700)
    telling()
    await until(async () => (await reason()) !== null, 20_000)
    t.match(await reason(), /NEAR are too frequent.*Add a word that must appear/)
    await changeSearch(pool, key, search, { search: 'q=duur' })
    await until(async () => (await opened(alert)).length === 1, 20_000)
    t.equal(await reason(), null)
  })

  t.test('a burst of alerts costs each of them the same, before Postgres knows of it', async t => {
    const burst = await openDesk(t)
    const { key } = await createKey(burst.pool, 'test', PLAN)
    const many = 300
    await burst.pool.query(
      `with kept as (
         insert into kept_searches (search_id, key_id, name, search, position)
         select 'search_' || n, $1, 'Search', 'q=stormvloed', n from generate_series(1, $2::int) n returning search_id)
       insert into search_alerts (search_id, alert_id, key_id, told_to, told_when, time_zone, seq, at, confirmed_at)
       select search_id, 'alert_' || search_id, $1, 'https://a.example/', 'at once', 'UTC', last_seq, last_at, now()
         from kept, ingest_clock`,
      [key.id, many],
    )
    await burst.index('Stormvloed', 'brug.example', 1)
    await burst.indexer.close()
    const blocks = async () => {
      await burst.pool.query('select pg_stat_force_next_flush()')
      const hit = 'select blks_hit::float8 from pg_stat_database where datname = current_database()'
      return (await readValue<number>(burst.pool, hit))!
    }
    const before = await blocks()
    burst.telling()
    const written = () => burst.database.count('alert_messages')
    await until(async () => (await written()) === many, 25_000)
    const looked = await blocks()
    for (;;) {
      const found = await readWaiting(burst.pool, MOST)
      if (found.length === 0) break
      const ids = found.map(({ id }) => id)
      await takeMessages(burst.pool, ids)
    }
    const sent = await blocks()
    t.ok(looked - before < 400 * many, 'to look for what is new')
    t.ok(sent - looked < 400 * many, 'to take their messages')
  })
})

t.test('no key keeps others from a mailbox, and many keys do not flood it', async t => {
  const keys = [await issue(), await issue(), await issue(), await issue()]
  const mails = async () => database.count(`alert_asks where told_to = 'mailto:vol@example.org'`)
  const asked: number[] = []
  for (const [at, key] of [0, 0, 0, 0, 1, 1, 2, 3, 0].entries()) {
    await tell(keys[key]!, `q=vol${at}`, `mailto:v.ol+${at}@example.org`)
    asked.push(await mails())
  }
  t.same(asked, [1, 2, 3, 3, 4, 4, 5, 5, 5])
  const many = await Promise.all(Array.from({ length: 7 }, issue))
  await Promise.all(many.map(key => tell(key, 'q=tegelijk', 'mailto:tegelijk@example.org')))
  t.equal(await database.count("alert_asks where address = 'mailto:tegelijk@example.org'"), 3)
})

t.test('an alert that joined the mail of another is asked when that one ends', async t => {
  const key = await issue()
  const to = 'mailto:lezer@example.org'
  const first = await tell(key, 'q=een', to)
  const second = await tell(key, 'q=twee', to)
  const asked = async ({ alert }: { alert: string }) => (await opened(alert)).map(({ id }) => id)
  const [ask = ''] = await asked(first)
  t.same(await asked(second), [], 'one mail names both')
  const about = (name: string) => ({ name, search: name, when: 'at once', zone: 'UTC' })
  t.same(await nameAsked(pool, ask, first.alert), ['q=een', 'q=twee'].map(about))
  await askUnasked(pool)
  t.same(await asked(second), [])

  await removeSearch(pool, key, first.search)
  await askUnasked(pool)
  const [other = ''] = await asked(second)
  t.same(await nameAsked(pool, other, second.alert), [about('q=twee')])
  const [taken] = await takeMessages(pool, [other])
  const late = await tell(key, 'q=drie', to)
  await noteDelivered(pool, taken!, undefined)
  t.same(await askedBy(pool, other), [about('q=twee')])
  await askUnasked(pool)
  t.same(await asked(second), [], 'who was asked is not asked again')
  t.equal((await asked(late)).length, 1, 'who came while the mail was sent is')

  await refuse(pool, second.alert, 'link')
  await pool.query('delete from alert_messages')
  await askUnasked(pool)
  t.same(await opened(late.alert), [], 'who refused is asked no more')
})

t.test('what may not be sent is not taken, and takes no place', async t => {
  const key = await issue()
  const hook = await tell(key, 'q=een', 'https://a.example/')
  const mail = await tell(key, 'q=twee', 'mailto:ander@example.org')
  const [ask] = (await opened(mail.alert)).map(({ id }) => id)
  for (const { alert } of [hook, mail])
    await pool.query(
      `insert into alert_messages (message_id, alert_id, kind, seqs, more) values ('msg_' || $1, $1, 'articles', '{1}', 0)`,
      [alert],
    )
  t.same((await waiting()).toSorted(), [ask, `msg_${hook.alert}`].toSorted(), 'no consent')
  // As a version did that left alerts with their keys.
  await pool.query('update api_keys set revoked_at = now() where id = $1', [key])
  t.same(await waiting(), [], 'the key has ended')
  t.same(await takeMessages(pool, [`msg_${hook.alert}`]), [])
  t.equal(await database.count('alert_messages where attempts > 0'), 0)
})

t.test('a refusal is whole, or did not happen', async t => {
  const key = await issue()
  const { alert } = await tell(key, 'q=een', 'mailto:derde@example.org')
  await database.query(
    "create function fail() returns trigger language plpgsql as $$begin raise 'no'; end$$",
  )
  await database.query(
    'create trigger fail before delete on alert_messages for each row execute function fail()',
  )
  await t.rejects(refuse(pool, alert, 'link'))
  const state = () =>
    database.count(`search_alerts where rests is not null and alert_id = '${alert}'`)
  t.equal(await state(), 0)
  await database.query('drop trigger fail on alert_messages')
  await refuse(pool, alert, 'link')
  t.equal(await state(), 1)
  t.same(await opened(alert), [])
})

const state = async (alert: string) =>
  (
    await pool.query<{ on: boolean; rests: string | null }>(
      'select confirmed_at is not null as on, rests from search_alerts where alert_id = $1',
      [alert],
    )
  ).rows[0]
const confirm = (alert: string) =>
  pool.query('update search_alerts set confirmed_at = now() where alert_id = $1', [alert])
const UNWANTED = /wants no more/

t.test('more mail than its owner agreed to asks again, and meanwhile nothing is sent', async t => {
  const key = await issue()
  const to = 'mailto:vaak@example.org'
  const { search, alert } = await tell(key, 'q=vaak', to)
  const put = async (when: string, address = to) => {
    await pool.query("delete from alert_messages where kind = 'ask'")
    await putAlert(pool, key, search, { to: address, when, zone: 'UTC', language: 'nl' })
    return [(await state(alert))?.on, (await opened(alert)).length]
  }
  await confirm(alert)
  for (const when of ['friday 09:00', 'monday 08:00']) t.same(await put(when), [true, 0], when)
  for (const when of ['08:00', 'at once']) {
    t.same(await put(when), [false, 1], when)
    await confirm(alert)
    t.same(await put(when), [true, 0], 'agreed')
  }
  for (const when of ['08:00', 'monday 08:00']) t.same(await put(when), [true, 0], when)
  await put('08:00', 'https://vaak.example/')
  t.same(await put('at once', 'https://vaak.example/'), [true, 0], 'a webhook asks nobody')
})

t.test('other times of a digest are no way to send more mail than was agreed to', async t => {
  const to = 'mailto:stil@example.org'
  const { search, alert } = await tell(await issue(), 'q=stil', to)
  const owner = (await listAlerts(pool, null)).find(({ id }) => id === alert)!.keyId
  /** Hours until the alert looks, after it is set to the next minute of the coming day. */
  const hours = async (isWeekly: boolean) => {
    const soon = new Date(Date.now() + 120_000)
    const day = soon.toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' }).toLowerCase()
    const time = soon.toISOString().slice(11, 16)
    const when = isWeekly ? `${day} ${time}` : time
    await putAlert(pool, owner, search, { to, when, zone: 'UTC', language: 'nl' })
    const due = await readValue<Date>(
      pool,
      'select due_at from search_alerts where alert_id = $1',
      [alert],
    )
    return Math.round((due!.getTime() - Date.now()) / 3_600_000)
  }
  const set = (columns: string) =>
    pool.query(`update search_alerts set ${columns} where alert_id = $1`, [alert])
  await set("confirmed_at = now(), told_when = '08:00'")
  t.equal(await hours(false), 0, 'before its first mail any time is free')
  await set('delivered_at = now()')
  t.equal(await hours(false), 24)
  await set("delivered_at = now() - interval '1 month'")
  t.equal(await hours(true), 0)
  await pool.query(
    `insert into alert_messages (message_id, alert_id, kind, seqs, more) values ('msg_' || $1, $1, 'articles', '{1}', 0)`,
    [alert],
  )
  t.equal(await hours(true), 168, 'a mail is on its way')
  await set("told_on = null, told_when = 'at once'")
  t.equal(await hours(true), 0, 'who agreed to mail at once agreed to this')
})

t.test('a link agrees to no more mail than it said, and the owner is asked again', async t => {
  const key = await issue()
  const to = 'mailto:meer@example.org'
  const { search, alert } = await tell(key, 'q=meer', to)
  const put = (when: string) =>
    putAlert(pool, key, search, { to, when, zone: 'UTC', language: 'nl' })
  await put('monday 08:00')
  const asked = async () => (await opened(alert)).map(({ id }) => id)
  const [first = ''] = await asked()
  const [taken] = await takeMessages(pool, [first])
  t.equal((await nameAsked(pool, first, alert)).length, 1)
  await noteDelivered(pool, taken!, undefined)
  await put('friday 09:00')
  t.same(await asked(), [], 'who was asked is not asked again')
  t.equal((await askedBy(pool, first)).length, 1)
  await put('at once')
  t.same(await askedBy(pool, first), [])
  t.equal((await agree(pool, first, () => true)).isAgreed, false)
  const [second = ''] = await asked()
  t.match(await nameAsked(pool, second, alert), [{ when: 'at once' }])
  t.equal((await agree(pool, second, () => true)).isAgreed, true)

  const owner = await issue()
  const weekly = { to: 'mailto:tussen@example.org', when: 'monday 08:00', zone: 'UTC' }
  const beside = await keepAlert(pool, owner, 'q=tussen', weekly)
  const [ask] = await opened(beside.id)
  const [third] = await takeMessages(pool, [ask!.id])
  await nameAsked(pool, ask!.id, beside.id)
  await putAlert(pool, owner, beside.searchId, { ...weekly, when: 'at once', language: 'nl' })
  await noteDelivered(pool, third!, undefined)
  await askUnasked(pool)
  t.equal((await opened(beside.id)).length, 1, 'a mail that was on its way named less')
})

t.test(
  'of what is taken out a new mail address hears nothing, and a webhook that moved does',
  async t => {
    const key = await issue()
    for (const [before, after, waiting] of [
      ['mailto:eerst@example.org', 'mailto:later@example.org', []],
      ['https://eerst.example/', 'https://later.example/', ['{901}', '{902}']],
    ] as const) {
      const { alert, search } = await tell(key, 'q=weg', before)
      await pool.query(
        `insert into alert_messages (message_id, alert_id, kind, seqs, more, delivered_at, host, attempts, try_at)
       select 'msg_' || seqs || $1, $1, kind, seqs::bigint[], 0, at, 'eerst.example', 3, now() + interval '1 h'
         from (values ('articles', '{901,902,903}', now()), ('removed', '{901}', null), ('removed', '{903}', now())) m (kind, seqs, at)`,
        [alert],
      )
      await putAlert(pool, key, search, { to: after, when: 'at once', zone: 'UTC', language: 'nl' })
      await confirm(alert)
      await transaction(pool, client => tellRemoved(client, [901n, 902n]))
      const removals = `alert_messages where alert_id = '${alert}' and kind = 'removed'`
      const due = `seqs::text from ${removals} and delivered_at is null and host = 'later.example'
        and attempts = 0 and try_at <= now() and message_id not like '%{%'`
      t.same(await readColumn(pool, `select ${due} order by 1`), waiting, after)
      t.equal(await database.count(removals), waiting.length + 1, 'and what arrived before stays')
    }
  },
)

t.test('what was sent without an answer stays so when an operator has it tried again', async t => {
  const { alert } = await tell(await issue(), 'q=weg', 'https://eerst.example/')
  await pool.query(
    `insert into alert_messages (message_id, alert_id, kind, seqs, more, attempts)
     values ('msg_' || $1, $1, 'articles', '{911}', 0, 3)`,
    [alert],
  )
  const failed = "update search_alerts set rests = 'x', failing_since = now() where alert_id = $1"
  await pool.query(failed, [alert])
  t.same(await retryAlerts(pool, [alert]), [alert])
  await transaction(pool, client => tellRemoved(client, [911n]))
  const removals = `alert_messages where alert_id = '${alert}' and kind = 'removed'`
  t.equal(await database.count(removals), 1, 'it may have arrived')
})

t.test('a refusal is of the searches of one key, and outlives alert and key', async t => {
  const to = 'mailto:Refuser@example.org'
  const key = await issue()
  const first = await tell(key, 'q=een', to)
  const second = await tell(key, 'q=twee', to)
  await confirm(first.alert)
  await confirm(second.alert)
  const waits = await tell(key, 'q=nul', 'mailto:refuse.r@example.org')
  t.equal((await opened(waits.alert)).length, 1)
  await refuse(pool, first.alert, 'link one')
  t.match(await state(first.alert), { on: false, rests: UNWANTED })
  t.match(await state(waits.alert), { rests: UNWANTED }, 'and what waits for consent')
  t.same(await opened(waits.alert), [])
  t.same(await state(second.alert), { on: true, rests: null }, 'what its owner still wants')
  const third = await tell(key, 'q=drie', to.toLowerCase())
  t.match(await state(third.alert), { rests: UNWANTED }, 'the key asks no more')
  const told = (await listAlerts(pool, key)).map(one => alertObject(one).reason)
  t.match(told[0], /has ended such mail.*Only the owner can change that, by the link of the mail/)
  const spelled = await tell(key, 'q=vier', 'mailto:re.fuser+x@example.org')
  t.match(await state(spelled.alert), { rests: UNWANTED }, 'nor another spelling of the mailbox')
  const moved = await tell(key, 'q=vijf', 'mailto:gewild@example.org')
  await askOwner(pool, { id: moved.alert, to })
  t.match(await state(moved.alert), { rests: null }, 'nor for an address of before')
  const others = await issue()
  const other = await tell(others, 'q=een', to)
  t.equal((await opened(other.alert)).length, 1, 'another key may')
  await pool.query('delete from search_alerts where key_id = $1', [key])
  const kept = JSON.stringify(await database.query('select * from refusals'))
  t.notMatch(kept, /refuser/i, 'no address is kept')
  t.match(await state((await tell(key, 'q=vier', to)).alert), { rests: UNWANTED })
})

t.test('a refusal stands that meets a change of the alert, and neither deadlocks', async t => {
  const key = await issue()
  const to = 'mailto:tegelijk.nee@example.org'
  const terms = { to, when: 'at once', zone: 'UTC', language: 'nl' as const }
  const { id, searchId } = await keepAlert(pool, key, 'q=een', { ...terms, when: 'monday 08:00' })
  await pool.query('delete from alert_messages where alert_id = $1', [id])
  await confirm(id)
  const free = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  t.teardown(free.resolve)
  const asking = transaction(pool, async client => {
    await lockMailbox(client, to)
    held.resolve()
    await free.promise
  })
  await held.promise
  const changes = [putAlert(pool, key, searchId, terms), refuse(pool, id, 'link met')]
  await until(async () => (await lockWaits(pool)) === 2, 20_000)
  await pool.query('select from search_alerts where alert_id = $1 for update nowait', [id])
  free.resolve()
  await Promise.all([asking, ...changes])
  t.match(await state(id), { on: false, rests: UNWANTED })
  t.same(await opened(id), [])
})

t.test('all mail from here is refused, and taken back by the same link alone', async t => {
  const to = 'mailto:allen@example.org'
  const one = await issue()
  const two = await issue()
  const first = await tell(one, 'q=een', to)
  const second = await tell(two, 'q=een', to.toUpperCase().replace('MAILTO', 'mailto'))
  await confirm(first.alert)
  await confirm(second.alert)
  await refuse(pool, first.alert, 'link all', true)
  for (const { alert } of [first, second, await tell(await issue(), 'q=een', to)])
    t.match(await state(alert), { on: false, rests: UNWANTED })
  t.equal(await refusedByLink(pool, 'link all'), 'all')
  await takeBack(pool, 'another')
  const again = async () => {
    const terms = { to, when: 'at once', zone: 'UTC', language: 'nl' as const }
    await putAlert(pool, one, first.search, terms)
    return (await opened(first.alert)).length
  }
  t.equal(await again(), 0)
  await takeBack(pool, 'link all')
  t.equal(await refusedByLink(pool, 'link all'), null)
  t.match(await state(first.alert), { on: false, rests: UNWANTED }, 'it agrees to nothing')
  t.equal(await again(), 1, 'a mail asks')
})

t.test('refusals of an older version count, and mails that asked are forgotten', async t => {
  const to = 'mailto:ouder@example.org'
  const key = await issue()
  const legacy = 'insert into alert_asks (told_to, key_id, refused) values ($1, $2, true)'
  await pool.query(legacy, [to, key])
  const early = await tell(key, 'q=een', to)
  t.same(await opened(early.alert), [], 'before they are moved')
  await adoptRefusals(pool)
  t.equal(await database.count('alert_asks where refused'), 0)
  t.match(await state((await tell(key, 'q=twee', to)).alert), { rests: UNWANTED })

  const asked = await tell(await issue(), 'q=een', to)
  t.equal((await opened(asked.alert)).length, 1)
  await forgetAsked(pool)
  const noted = () => database.count(`alert_asks where told_to = '${to}'`)
  t.equal(await noted(), 1)
  await pool.query("update alert_asks set asked_at = now() - interval '49 hours'")
  const release = await holdLock(pool, 'select from alert_asks for update')
  t.teardown(release)
  await forgetAsked(pool)
  t.equal(await noted(), 1, 'it waits for nobody')
  await release()
  await forgetAsked(pool)
  t.equal(await noted(), 0)
})
