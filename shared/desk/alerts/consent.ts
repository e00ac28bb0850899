import { type Pool, type Queryable, readColumn } from '../../postgres/pool.ts'
import { changeKept } from '../feeds.ts'
import { hostOf, messageId } from './messages.ts'

/*
 * The owner of a mail address must consent before an alert sends anything to it, and may refuse at
 * any time.
 */

/**
 * The most mails in a day that ask owners of addresses for consent. `key`: for one key. `owner`: to
 * one owner, for all keys together.
 */
const MOST_ASKED = { key: 20, owner: 3 }
/**
 * SQL: the mailbox of an address, for counting alone. Dots and what follows a `+` make no other
 * mailbox at many providers.
 */
const mailboxOf = (address: string): string =>
  `replace(split_part(split_part(lower(${address}), '@', 1), '+', 1), '.', '') || '@' || split_part(lower(${address}), '@', 2)`

// Whether a mail may ask about the alert `a`. A mail that waits to be sent will name the alert,
// too, so no other is needed. An owner who refused is asked by this key no more. Indexes:
// alert_asks_to, alert_asks_key
const MAY_ASK = `
  a.confirmed_at is null and (a.asked_at is null or a.asked_at < now() - interval '24 hours')
    and not exists (select from alert_messages m join search_alerts o using (alert_id)
                     where o.key_id = a.key_id and lower(o.told_to) = lower(a.told_to) and m.kind = 'ask' and m.delivered_at is null)
    and not exists (select from alert_asks o where o.key_id = a.key_id and o.told_to = lower(a.told_to) and o.refused)
    and (select count(*) from alert_asks o where o.key_id = a.key_id and o.asked_at > now() - interval '24 hours') < ${MOST_ASKED.key}
    and (select count(*) from alert_asks o where o.told_to = ${mailboxOf('a.told_to')} and not o.refused
            and o.asked_at > now() - interval '24 hours') < ${MOST_ASKED.owner}`

// $1 alert, $2 message.
const ASK = `
  with asked as (
    update search_alerts a set rests = null where alert_id = $1 and ${MAY_ASK} returning alert_id, key_id, told_to),
  noted as (
    insert into alert_asks (told_to, key_id, ask_id, address)
    select ${mailboxOf('told_to')}, key_id, $2, lower(told_to) from asked)
  insert into alert_messages (message_id, alert_id, kind, seqs, more, host)
  select $2, alert_id, 'ask', '{}', 0, ${hostOf('told_to')} from asked`

/**
 * Asks the owner of a mail address for consent, unless the limits of such mails forbid it now. The
 * caller is within `changeKept`.
 */
export async function askOwner(db: Queryable, alertId: string): Promise<void> {
  await db.query(ASK, [alertId, messageId()])
}

// Alerts that no mail has named, one of each key and address. Their mail was withdrawn with the
// alert that asked, or a limit forbade it. Reads all alerts.
const UNASKED = `
  select distinct on (a.key_id, lower(a.told_to)) a.alert_id as id, a.key_id as key from search_alerts a
   where a.told_to like 'mailto:%' and a.rests is null and a.asked_at is null and ${MAY_ASK}
     and exists (select from api_keys k where k.id = a.key_id and k.revoked_at is null)`

/** Asks owners of addresses who were not asked yet. */
export async function askUnasked(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ id: string; key: string }>(UNASKED)
  for (const { id, key } of rows) await changeKept(pool, key, client => askOwner(client, id))
}

// $1 ask, $2 alert of its message.
const NAME = `
  with named as (
    select a.alert_id, a.search_id from search_alerts own join search_alerts a using (key_id)
     where own.alert_id = $2 and lower(a.told_to) = lower(own.told_to) and a.confirmed_at is null and a.rests is null),
  noted as (
    update alert_asks set alerts = (select coalesce(array_agg(alert_id), '{}') from named)
     where ask_id = $1 and answered_at is null)
  select s.name from named join kept_searches s using (search_id) order by s.position, s.search_id`

/**
 * Notes which alerts a mail that asks covers: all of the key to this address that wait for consent.
 *
 * @returns the names of their searches, which the mail shows
 */
export const nameAsked = (db: Queryable, askId: string, alertId: string): Promise<string[]> =>
  readColumn<string>(db, NAME, [askId, alertId])

/** For how many ms the link in a mail that asks for consent works. */
export const ASKED_FOR = 86_400_000

// An alert that has got another address since was not asked about. $1 ask, $2 ASKED_FOR.
const ASKED = `
  select k.alert_id, s.name from alert_asks q
    join search_alerts k on k.alert_id = any (q.alerts) and k.key_id = q.key_id and lower(k.told_to) = q.address
    join kept_searches s using (search_id)
   where q.ask_id = $1 and q.answered_at is null and q.asked_at > now() - $2 * interval '1 ms'
     and k.confirmed_at is null and k.rests is null`

/** The names of the searches to which a link would agree; empty: it was used, or has ended. */
export const askedBy = (db: Queryable, askId: string): Promise<string[]> =>
  readColumn<string>(db, `select name from (${ASKED} order by s.position, s.search_id) n`, [
    askId,
    ASKED_FOR,
  ])

const AGREE = `
  with asked as materialized (${ASKED}),
  used as (update alert_asks set answered_at = now() where ask_id = $1 and answered_at is null returning ask_id)
  update search_alerts a set confirmed_at = now() from asked, used where a.alert_id = asked.alert_id`

/** Agrees to what a mail named, once. @returns whether it was not too late */
export async function agree(db: Queryable, askId: string): Promise<boolean> {
  return ((await db.query(AGREE, [askId, ASKED_FOR])).rowCount ?? 0) > 0
}

/** Why an alert rests after the owner of its address unsubscribed. */
export const UNWANTED = 'The owner of the address wants no more of it.'

// The alert is locked first, as in all statements that change it. $1 alert, $2 why.
const REFUSE = `
  with own as (
    update search_alerts set confirmed_at = null, asked_at = now(), rests = $2 where alert_id = $1
    returning alert_id, told_to, key_id),
  unsent as (
    delete from alert_messages m using own where m.alert_id = own.alert_id and m.delivered_at is null)
  insert into alert_asks (told_to, key_id, refused) select lower(told_to), key_id, true from own`

/** Ends an alert for the owner of its address, whom its key asks no more. */
export async function refuse(db: Queryable, alertId: string): Promise<void> {
  await db.query(REFUSE, [alertId, UNWANTED])
}

/** The longest name in a mail to somebody who has not agreed to anything. */
const LONGEST_NAME = 60
/** What a mail program would make a link of, in a word. */
const LINK = /:\/\/|www\.|[\p{L}\p{N}-]\.\p{L}{2}/iu

/**
 * The name of a search as an invitation shows it: short, and without addresses. The asker wrote it,
 * and could otherwise send anybody a text with a link from here.
 */
export function invitedName(name: string): string {
  const words = name.trim().split(/\s+/)
  const text = words.map(word => (LINK.test(word) ? '…' : word)).join(' ')
  const letters = [...text]
  return letters.length > LONGEST_NAME ? `${letters.slice(0, LONGEST_NAME - 1).join('')}…` : text
}
