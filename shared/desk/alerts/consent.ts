import { changeKept } from '#shared/desk/feeds'
import { type Pool, type Queryable, transaction } from '#shared/postgres/pool'
import { hostOf, messageId, WHEN } from './messages.ts'
import { hashesOf, lockMailbox, mailboxOf, refusedBy, UNWANTED } from './refusals.ts'

/*
 * The owner of a mail address must consent before an alert sends anything to it, and may refuse at
 * any time.
 */

/**
 * The most mails in a day that ask owners of addresses for consent. `key`: for one key. `owner`: to
 * one owner. Keys that have not asked this owner yet may go beyond, once each, until `keys` have
 * asked. So no key keeps all others from an owner, and many keys together send five mails.
 */
const MOST_ASKED = { key: 20, owner: 3, keys: 3 }

// Whether a mail may ask about the alert `a`. A mail that waits to be sent will name the alert,
// too, so no other is needed. A process of an older version may have noted a refusal beside
// `refusals`. Indexes: alert_asks_to, alert_asks_key
const MAY_ASK = `
  a.confirmed_at is null and (a.asked_at is null or a.asked_at < now() - interval '24 hours')
    and not exists (select from alert_messages m join search_alerts o using (alert_id)
                     where o.key_id = a.key_id and lower(o.told_to) = lower(a.told_to) and m.kind = 'ask' and m.delivered_at is null)
    and not exists (select from alert_asks o where o.key_id = a.key_id and o.told_to = lower(a.told_to) and o.refused)
    and (select count(*) from alert_asks o where o.key_id = a.key_id and o.asked_at > now() - interval '24 hours') < ${MOST_ASKED.key}
    and (select count(*) < ${MOST_ASKED.owner} or (count(distinct o.key_id) < ${MOST_ASKED.keys} and not bool_or(o.key_id = a.key_id))
           from alert_asks o where o.told_to = ${mailboxOf('a.told_to')} and o.asked_at > now() - interval '24 hours')`

// An owner who refused is not asked, and an alert that has got another address since waits. $1
// alert, $2 message, $3 hashes of the address, $4 why, $5 the address.
const ASK = `
  with refused as (
    update search_alerts a set rests = $4 where alert_id = $1 and told_to = $5 and ${refusedBy('$3', 'a.key_id')} returning alert_id),
  asked as (
    update search_alerts a set rests = null
     where alert_id = $1 and told_to = $5 and ${MAY_ASK} and not ${refusedBy('$3', 'a.key_id')} returning alert_id, key_id, told_to),
  noted as (
    insert into alert_asks (told_to, key_id, ask_id, address)
    select ${mailboxOf('told_to')}, key_id, $2, lower(told_to) from asked),
  message as (
    insert into alert_messages (message_id, alert_id, kind, seqs, more, host)
    select $2, alert_id, 'ask', '{}', 0, ${hostOf('told_to')} from asked)
  select alert_id from refused`

/**
 * Asks the owner of a mail address for consent, unless the limits of such mails forbid it now. The
 * caller is within `changeKept`.
 *
 * @returns why the alert rests; null: its owner is asked now or later
 */
export async function askOwner(
  db: Queryable,
  { id, to }: { id: string; to: string },
): Promise<string | null> {
  const values = [id, messageId(), await hashesOf(db, to), UNWANTED, to]
  await lockMailbox(db, to)
  return (await db.query(ASK, values)).rowCount === 0 ? null : UNWANTED
}

// Alerts that no mail has named, one of each key and address. Their mail was withdrawn with the
// alert that asked, or a limit forbade it. Reads all alerts.
const UNASKED = `
  select distinct on (a.key_id, lower(a.told_to)) a.alert_id as id, a.told_to as to, a.key_id as key from search_alerts a
   where a.told_to like 'mailto:%' and a.rests is null and a.asked_at is null and ${MAY_ASK}
     and exists (select from api_keys k where k.id = a.key_id and k.revoked_at is null)`

/** Asks owners of addresses who were not asked yet. */
export async function askUnasked(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ id: string; to: string; key: string }>(UNASKED)
  for (const one of rows) await changeKept(pool, one.key, client => askOwner(client, one))
}

/** What the owner of an address is asked about: a search, and when it writes. */
export interface AskedAbout {
  name: string
  /** A query string. */
  search: string
  when: string
  zone: string
}

/** SQL: the columns of `AskedAbout`, of the alert `a` and its search `s`. */
const ABOUT = `s.name, s.search, ${WHEN} as when, a.time_zone as zone`

// $1 ask, $2 alert of its message.
const NAME = `
  with named as (
    select a.alert_id, a.search_id, a.told_on, a.told_when, a.time_zone from search_alerts own join search_alerts a using (key_id)
     where own.alert_id = $2 and lower(a.told_to) = lower(own.told_to) and a.confirmed_at is null and a.rests is null),
  noted as (
    update alert_asks set alerts = (select coalesce(array_agg(alert_id), '{}') from named)
     where ask_id = $1 and answered_at is null)
  select ${ABOUT} from named a join kept_searches s using (search_id) order by s.position, s.search_id`

/**
 * Notes which alerts a mail that asks covers: all of the key to this address that wait for consent.
 *
 * @returns what the mail shows of them
 */
export const nameAsked = async (
  db: Queryable,
  askId: string,
  alertId: string,
): Promise<AskedAbout[]> => (await db.query<AskedAbout>(NAME, [askId, alertId])).rows

// A link that is in use stays until the next time, so this waits for nobody and cannot deadlock.
const FORGET = `
  delete from alert_asks where ctid = any (array(
    select ctid from alert_asks where not refused and asked_at < now() - interval '2 days' for update skip locked))`

/**
 * Forgets mails that asked long ago: their links have ended, and the limits count them no more. A
 * mail is tried for a day before its link begins to count.
 */
export async function forgetAsked(db: Queryable): Promise<void> {
  await db.query(FORGET)
}

/** For how many ms the link in a mail that asks for consent works. */
export const ASKED_FOR = 86_400_000

// An alert that has got another address since was not asked about. $1 ask, $2 ASKED_FOR.
const ASKED = `
  select a.alert_id, s.position, s.search_id, ${ABOUT} from alert_asks q
    join search_alerts a on a.alert_id = any (q.alerts) and a.key_id = q.key_id and lower(a.told_to) = q.address
    join kept_searches s using (search_id)
   where q.ask_id = $1 and q.answered_at is null and q.asked_at > now() - $2 * interval '1 ms'
     and a.confirmed_at is null and a.rests is null`

const BY_LINK = `select name, search, "when", zone from (${ASKED}) n order by position, search_id`

/** The searches to which a link would agree; empty: it was used, or has ended. */
export const askedBy = async (db: Queryable, askId: string): Promise<AskedAbout[]> =>
  (await db.query<AskedAbout>(BY_LINK, [askId, ASKED_FOR])).rows

// An owner may refuse at this moment: what was refused is not agreed to. Alerts are locked in
// order.
const AGREE = `
  with asked as materialized (${ASKED}),
  own as materialized (
    select a.alert_id from search_alerts a
     where a.alert_id = any (array(select alert_id from asked)) and a.rests is null order by a.alert_id for update),
  used as (update alert_asks set answered_at = now() where ask_id = $1 and answered_at is null returning alerts)
  update search_alerts a set confirmed_at = now() from own, used
   where a.alert_id = own.alert_id and a.alert_id = any (used.alerts)`

// Searches and alerts of a key change while it is locked (`changeKept`). $1 ask
const LOCK = `
  select from alert_asks q join api_keys k on k.id = q.key_id where q.ask_id = $1 for no key update of k, q`

/**
 * Agrees to what a mail named, once, if its page showed that.
 *
 * @param isShown whether the page showed these searches; they do not change meanwhile
 * @returns the searches, empty if it is too late
 */
export const agree = (
  pool: Pool,
  askId: string,
  isShown: (asked: AskedAbout[]) => boolean,
): Promise<{ asked: AskedAbout[]; isAgreed: boolean }> =>
  transaction(pool, async client => {
    await client.query(LOCK, [askId])
    const asked = await askedBy(client, askId)
    if (asked.length === 0 || !isShown(asked)) return { asked, isAgreed: false }
    const { rowCount } = await client.query(AGREE, [askId, ASKED_FOR])
    return rowCount === 0 ? { asked: [], isAgreed: false } : { asked, isAgreed: true }
  })

/** The longest name in a mail to somebody who has not agreed to anything. */
const LONGEST_NAME = 60
/** What a mail program would make a link of, in a word. */
const LINK = /:\/\/|www\.|[\p{L}\p{N}-]\.\p{L}{2}/iu

/**
 * What an invitation says of a search: its name, and the words that it looks for where the name
 * lacks them.
 */
export function invitedSearch({ name, search }: Pick<AskedAbout, 'name' | 'search'>): string[] {
  const q = new URLSearchParams(search).get('q') ?? ''
  // A reader sees the shown name alone, and what it leaves out could hide the words.
  const isNamed = invitedName(name).toLowerCase().includes(q.toLowerCase())
  return (isNamed ? [name] : [name, q]).map(invitedName)
}

/**
 * A text of a search as an invitation shows it: short, and without addresses. The asker wrote it,
 * and could otherwise send anybody a text with a link from here.
 */
export function invitedName(name: string): string {
  const words = name.trim().split(/\s+/)
  const text = words.map(word => (LINK.test(word) ? '…' : word)).join(' ')
  const letters = [...text]
  return letters.length > LONGEST_NAME ? `${letters.slice(0, LONGEST_NAME - 1).join('')}…` : text
}
