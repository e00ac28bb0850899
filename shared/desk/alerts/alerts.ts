import { randomBytes } from 'node:crypto'
import type { Language } from '#shared/articles/article'
import { changeKept } from '#shared/desk/feeds'
import { type Pool, type Queryable, readColumn, readRow } from '#shared/postgres/pool'
import { askOwner } from './consent.ts'
import { hostOf, WHEN } from './messages.ts'
import { lockMailbox } from './refusals.ts'
import { nextTime } from './times.ts'

/*
 * An alert belongs to a kept search and remembers a place in the order of ingestion. Articles after
 * that place are new. The owner of a mail address must consent first, and may refuse at any time.
 */

/** The address to which an alert sends its messages, and the time when it does so. */
export interface AlertTerms {
  /** `https://…` or `mailto:…` */
  to: string
  /** `at once`, a local time such as `08:00`, or a day and a time such as `monday 08:00`. */
  when: string
  /** The IANA name of the time zone of `when`. */
  zone: string
  /** The language of its mails. */
  language: Language
  /** Only articles without a date, or published so many days before they came; null: all. */
  withinDays?: number | null
}

/** Whether an alert tells once in a day or a week. */
export const isDigest = (when: string): boolean => when !== 'at once'

/** An alert of a kept search. */
export interface Alert extends AlertTerms {
  id: string
  searchId: string
  keyId: string
  /** null: the owner of the address has not followed the link in the mail yet. */
  confirmedAt: Date | null
  /** Why the alert rests; null: it does not rest. */
  rests: string | null
  failingSince: Date | null
  failure: string | null
  deliveredAt: Date | null
  createdAt: Date
}

/** The columns of `Alert` in `search_alerts`. */
const ALERT_COLUMNS: string = `alert_id as id, search_id as "searchId", key_id as "keyId", told_to as to, ${WHEN} as when,
  time_zone as zone, language, confirmed_at as "confirmedAt", rests, failing_since as "failingSince", failure,
  delivered_at as "deliveredAt", created_at as "createdAt", within_days as "withinDays"`

/** The alerts of a key; null: of all keys. Index: search_alerts_key */
export async function listAlerts(db: Queryable, keyId: string | null): Promise<Alert[]> {
  const { rows } = await db.query<Alert>(
    `select ${ALERT_COLUMNS} from search_alerts where $1::text is null or key_id = $1 order by created_at, alert_id`,
    [keyId],
  )
  return rows
}

/** SQL: how often an alert tells: once a week, once a day, at once. */
const oftenOf = (day: string, time: string): string =>
  `case when ${time} = 'at once' then 2 when ${day} is null then 1 else 0 end`

// A link that was sent says how often the alert would write, so it does not cover more than that.
// The links are changed before the alert (`lockMailbox` says the order). $1 search, $2 day, $3
// time.
const WITHDRAW = `
  update alert_asks q set alerts = array_remove(q.alerts, a.alert_id) from search_alerts a
   where a.search_id = $1 and q.key_id = a.key_id and a.alert_id = any (q.alerts) and q.answered_at is null
     and ${oftenOf('$2::text', '$3::text')} > ${oftenOf('a.told_on', 'a.told_when')}`

/**
 * SQL: for how many hours after a mail of the alert `a` its owner agreed to none; 0 for one that
 * tells at once. A little less than a day or a week, so that an earlier time skips no digest.
 */
const QUIET = `case ${oftenOf('a.told_on', 'a.told_when')} when 0 then 140 when 1 then 20 else 0 end`

// A message that is on its way counts as one that is sent now. $1 search, $2 the address.
const BEFORE = `
  select a.told_to as to, case when a.told_to = $2 and a.told_to like 'mailto:%' and a.confirmed_at is not null then
    case when exists (select from alert_messages m where m.alert_id = a.alert_id and m.kind = 'articles' and m.delivered_at is null)
         then now() else a.delivered_at end + ${QUIET} * interval '1 hour' end as "quietUntil"
    from search_alerts a where a.search_id = $1 for update of a`

/** SQL: whether the new times of the alert `a` are no more often than those before. */
const IS_NO_MORE = `${oftenOf('excluded.told_on', 'excluded.told_when')} <= ${oftenOf('a.told_on', 'a.told_when')}`

// A new alert begins at the clock, which the same statement reads. The owner of a mail address has
// agreed to how often it writes, so more mail than before asks anew. $1 search, $2 alert, $3 key,
// $4 to, $5 time of day, $6 zone, $7 due, $8 is it mail, $9 weekday, $10 language, $11 days.
const PUT = `
  insert into search_alerts as a (search_id, alert_id, key_id, told_to, told_when, time_zone, seq, at, due_at, confirmed_at, told_on, language, within_days)
  select $1, $2, $3, $4, $5, $6, last_seq, last_at, $7, case when not $8 then now() end, $9, $10, $11 from ingest_clock
  on conflict (search_id) do update set
    told_when = $5, time_zone = $6, told_on = $9, language = $10, within_days = $11, due_at = $7, failing_since = null, failure = null, told_to = $4,
    rests = case when a.told_to = $4 and a.confirmed_at is null then a.rests end,
    asked_at = case when a.told_to = $4 and ${IS_NO_MORE} then a.asked_at end,
    confirmed_at = case when a.told_to = $4 and ${IS_NO_MORE} then a.confirmed_at else excluded.confirmed_at end
  returning ${ALERT_COLUMNS}, xmax = 0 as "isNew"`

// Removes undelivered messages to the previous address. The alert finds their articles again. A
// webhook that moved is still told what is taken out; another mail address was told of nothing.
// What the previous one was told of removals stays, for the proof of each. $1 alert, $2 is it mail.
const LEAVE = `
  delete from alert_messages
   where alert_id = $1 and (($2 and kind = 'articles') or (delivered_at is null and ($2 or kind <> 'removed')))`

// Another id, because a delivery to the previous address that ends now must not count. $1 alert,
// $2 to.
const MOVE = `
  update alert_messages set message_id = 'msg_' || replace(gen_random_uuid()::text, '-', ''),
         host = ${hostOf('$2::text')}, try_at = now(), attempts = 0
   where alert_id = $1 and delivered_at is null`

/**
 * Gives a kept search an alert, or changes its existing alert, which keeps its place. The owner of
 * a mail address must consent first. Null when the key has no such search.
 */
export function putAlert(
  pool: Pool,
  keyId: string,
  searchId: string,
  terms: AlertTerms,
): Promise<(Alert & { isNew: boolean }) | null> {
  return changeKept(pool, keyId, async client => {
    const { rowCount } = await client.query(
      'update kept_searches set of_feed = false where search_id = $1 and key_id = $2',
      [searchId, keyId],
    )
    if (rowCount === 0) return null
    const { to, when, zone, language, withinDays = null } = terms
    const [, day = null, time] = /^(?:([a-z]+day) )?(.*)$/.exec(when)!
    const isMail = to.startsWith('mailto:')
    if (isMail) await lockMailbox(client, to)
    await client.query(WITHDRAW, [searchId, day, time])
    const before = await readRow<{ to: string; quietUntil: Date | null }>(client, BEFORE, [
      searchId,
      to,
    ])
    const quietUntil = isDigest(when) ? (before?.quietUntil?.getTime() ?? 0) : 0
    const due = nextTime(when, zone, new Date(Math.max(Date.now(), quietUntil)))
    const id = `alert_${randomBytes(8).toString('hex')}`
    const values = [searchId, id, keyId, to, time, zone, due, isMail, day, language, withinDays]
    const alert = (await readRow<Alert & { isNew: boolean }>(client, PUT, values))!
    if (before != null && before.to !== to) {
      await client.query(LEAVE, [alert.id, isMail || before.to.startsWith('mailto:')])
      await client.query(MOVE, [alert.id, to])
    }
    if (alert.confirmedAt !== null) return alert
    return { ...alert, rests: (await askOwner(client, alert)) ?? alert.rests }
  })
}

export async function endAlert(db: Queryable, keyId: string, searchId: string): Promise<void> {
  await db.query('delete from search_alerts where search_id = $1 and key_id = $2', [
    searchId,
    keyId,
  ])
}

// Lets alerts that rest after failures try again. Alerts that their owner, a plan or a search ended
// stay ended, and what was sent stays an attempt. They are locked in order, as in all statements
// that change several. $1 ids; null: all.
const RETRY = `
  with own as materialized (
    select alert_id from search_alerts
     where ($1::text[] is null or alert_id = any ($1)) and rests is not null and failing_since is not null
       and confirmed_at is not null
     order by alert_id for update),
  again as (
    update search_alerts a set rests = null, failing_since = null from own
     where a.alert_id = own.alert_id returning a.alert_id),
  sent as (
    update alert_messages set try_at = now(), attempts = least(attempts, 1)
     where alert_id in (select alert_id from again) and delivered_at is null)
  select alert_id as id from again`

/** Has alerts that rest after failures try again. @returns their ids */
export const retryAlerts = (db: Queryable, ids: string[] | null): Promise<string[]> =>
  readColumn<string>(db, RETRY, [ids])
