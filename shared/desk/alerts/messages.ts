import { randomBytes } from 'node:crypto'
import type { Client } from '#shared/postgres/pool'

/*
 * A message of an alert, as its row in `alert_messages` says. It waits until `try_at`. A notifier
 * that takes it counts the attempt and sets `try_at` to the end of its lease, so that another
 * notifier sends it if the first one dies. After a failure, `try_at` is the time of the next
 * attempt. `delivered_at` ends it. No queue has to know of it, so nothing is lost with a queue.
 */

/** A new id of a message. Receivers see it, and know a message that comes twice by it. */
export const messageId = (): string => `msg_${randomBytes(16).toString('hex')}`

/**
 * SQL: the host that receives what is sent to `told_to`. It is host and port of a webhook, or the
 * domain of a mail address.
 */
export const hostOf = (address: string): string =>
  `coalesce(substring(${address} from '^https?://([^/?#]+)'), substring(${address} from '@(.+)$'))`

/**
 * SQL: `when` of an alert `a`. Its day has a column of its own, so that an older version, which
 * knows no weeks, tells each day during an upgrade.
 */
export const WHEN = "concat_ws(' ', told_on, told_when)"

/**
 * SQL: the digest of what an alert asks: the search of `kept_searches s` with its sets of outlets,
 * the days of `search_alerts a`, and the plan of `api_keys k`. An answer that was stored for
 * another question is worth nothing.
 */
export const QUESTION = `encode(sha256(convert_to(concat_ws(E'\\n', s.search, array_to_string(k.countries, ','),
  extract(epoch from k.history_start), k.history_days, extract(epoch from s.sets_changed_at), 'within ' || a.within_days), 'UTF8')), 'hex')`

/** SQL: that an alert tells, or will once its owner agrees again; not that its owner refused. */
const TELLS = '(confirmed_at is not null or rests is null)'

// The alerts that told of articles. They are locked before their messages are, as a delivery does,
// so that no two can deadlock. $1 seqs. Index: alert_messages_seqs.
const TELLERS = `
  select from search_alerts a where ${TELLS} and alert_id in (
    select alert_id from alert_messages where kind = 'articles' and seqs && $1::bigint[])
   order by alert_id for key share`

// A message that was sent may have arrived, although no answer to it did. Removals are told after
// it. $1 seqs. Index: alert_messages_seqs.
const TELL_REMOVED = `
  with told as materialized (
    select alert_id, seqs, try_at, delivered_at from alert_messages
     where kind = 'articles' and seqs && $1::bigint[] and (attempts > 0 or delivered_at is not null)
       for update),
  news as (
    select t.alert_id, array_agg(distinct s.seq) as seqs, max(t.try_at) filter (where t.delivered_at is null) as after
      from told t, unnest(t.seqs) s (seq)
     where s.seq = any ($1::bigint[]) and not exists (
       select from alert_messages r where r.alert_id = t.alert_id and r.kind = 'removed' and s.seq = any (r.seqs))
     group by 1)
  insert into alert_messages (message_id, alert_id, kind, seqs, more, host, try_at)
  select 'msg_' || replace(gen_random_uuid()::text, '-', ''), a.alert_id, 'removed', n.seqs, 0,
         ${hostOf('a.told_to')}, greatest(now(), n.after)
    from news n join search_alerts a using (alert_id) where ${TELLS}`

/**
 * Has each alert that told of articles tell that they are taken out (GDPR, article 19). What was
 * told is known for a week, for as long as delivered messages are kept. It may run again.
 */
export async function tellRemoved(client: Client, seqs: bigint[]): Promise<void> {
  await client.query(TELLERS, [seqs])
  await client.query(TELL_REMOVED, [seqs])
}
