import type { Queryable } from '../../postgres/pool.ts'
import { hostOf, messageId } from './messages.ts'

/*
 * The owner of a mail address must consent before an alert sends anything to it, and may refuse at
 * any time.
 */

/** The actions that a link in a mail offers to the owner of the address. */
export type LinkPurpose = 'confirm' | 'unsubscribe'

/**
 * The most mails in a day that ask owners of addresses for consent. `key`: for one key. `owner`: to
 * one owner, for all keys together.
 */
const MOST_ASKED = { key: 20, owner: 3 }
// One mail asks for consent to all alerts of a key and an address. An owner who refuses gets no
// other such mail within a day. $1 alert, $2 key, $3 message. Indexes: alert_asks_to,
// alert_asks_key
const ASKS = `
  with asked as (
    update search_alerts a set asked_at = now(), rests = null
     where alert_id = $1 and confirmed_at is null and (asked_at is null or asked_at < now() - interval '24 hours')
       and not exists (select from search_alerts o where o.key_id = $2 and o.told_to = a.told_to and o.confirmed_at is null
                          and o.rests is null and o.asked_at > now() - interval '24 hours')
       and (select count(*) from alert_asks where key_id = $2 and asked_at > now() - interval '24 hours') < ${MOST_ASKED.key}
       and (select count(*) < ${MOST_ASKED.owner} and not coalesce(bool_or(refused), false) from alert_asks o
             where o.told_to = lower(a.told_to) and o.asked_at > now() - interval '24 hours')
    returning alert_id, told_to),
  noted as (insert into alert_asks (told_to, key_id) select lower(told_to), $2 from asked)
  insert into alert_messages (message_id, alert_id, kind, seqs, more, host)
  select $3, alert_id, 'ask', '{}', 0, ${hostOf('told_to')} from asked`

/** Asks the owner of a mail address for consent, unless the limits of such mails forbid it now. */
export async function askOwner(db: Queryable, alertId: string, keyId: string): Promise<void> {
  await db.query(ASKS, [alertId, keyId, messageId()])
}

/** For how many ms the link in a mail that asks for consent works. */
export const ASKED_FOR = 86_400_000

/** Why an alert rests after the owner of its address unsubscribed. */
export const UNWANTED = 'The owner of the address wants no more of it.'

/** Stores what the owner of an address decided. */
export async function answerOwner(
  db: Queryable,
  purpose: LinkPurpose,
  alertId: string,
): Promise<void> {
  if (purpose === 'confirm') {
    await db.query(
      `update search_alerts a set confirmed_at = coalesce(a.confirmed_at, now()), rests = null from search_alerts own
        where own.alert_id = $1 and own.asked_at > now() - $2 * interval '1 ms' and a.key_id = own.key_id
          and a.told_to = own.told_to and (a.alert_id = $1 or (a.confirmed_at is null and a.rests is null))`,
      [alertId, ASKED_FOR],
    )
    return
  }
  await db.query(
    `with own as (
       update search_alerts set confirmed_at = null, asked_at = now(), rests = $2 where alert_id = $1 returning told_to, key_id)
     insert into alert_asks (told_to, key_id, refused) select lower(told_to), key_id, true from own`,
    [alertId, UNWANTED],
  )
  await db.query('delete from alert_messages where alert_id = $1 and delivered_at is null', [
    alertId,
  ])
}
