import { createHmac } from 'node:crypto'
import {
  loadSharedSecret,
  type Pool,
  type Queryable,
  readRow,
  transaction,
} from '#shared/postgres/pool'

/*
 * What owners of mail addresses refuse, for good: the mail of one key, or all mail from here. The
 * database has an HMAC in place of the address, and the refusal outlives alerts and keys.
 */

/**
 * SQL: the mailbox of an address. Dots and what follows a `+` make no other mailbox at many
 * providers.
 */
export const mailboxOf = (address: string): string =>
  `replace(split_part(split_part(lower(${address}), '@', 1), '+', 1), '.', '') || '@' || split_part(lower(${address}), '@', 2)`

// $1 address.
const ONE_BY_ONE = `select pg_advisory_xact_lock(hashtextextended('asks ' || ${mailboxOf('$1::text')}, 0))`

/**
 * Has the keys that ask the owner of a mailbox, and the owner who refuses, wait for each other
 * until their transactions end. Else each key would see room, and could ask who refuses just then.
 *
 * So that no two can deadlock, all lock in this order: the key (`changeKept`), the mailbox, links
 * that ask, alerts by id, their messages.
 */
export async function lockMailbox(db: Queryable, address: string): Promise<void> {
  await db.query(ONE_BY_ONE, [address])
}

/** Why an alert rests after the owner of its address unsubscribed. */
export const UNWANTED = 'The owner of the address wants no more of it.'

// A restore may have brought the secret of another installation, beside its own.
const SECRETS = "select value from secrets where name ~ '^refusals' order by name"

/**
 * The two forms of an address that are hashed: the address, and its mailbox without dots and what
 * follows a `+`. Who refused the mail of a key is not asked by that key in another spelling.
 */
function formsOf(address: string): string[] {
  const written = address.toLowerCase()
  const [name = '', domain = ''] = written.split('@')
  return [written, `mailbox ${name.split('+')[0]?.replaceAll('.', '')}@${domain}`]
}

/**
 * The hashes under which an address may stand; the first two are for new refusals: of the address,
 * and of its mailbox.
 */
export async function hashesOf(db: Queryable, address: string): Promise<Buffer[]> {
  await loadSharedSecret(db, 'refusals')
  const { rows } = await db.query<{ value: Buffer }>(SECRETS)
  return rows.flatMap(({ value }) =>
    formsOf(address).map(form => createHmac('sha256', value).update(form).digest()),
  )
}

/** SQL: whether the owner of an address refused a key. @param hashes what `hashesOf` gives */
export const refusedBy = (hashes: string, key: string): string =>
  `exists (select from refusals r where r.hash = any (${hashes}) and (r.everything or r.key_id = ${key}))`

// The statement locks alerts before their messages and in order. An alert that has just got another
// address is not of this owner. Alerts of the key that wait for consent of the mailbox rest, too.
// $1 alert, $2 why, $3 address, $4 hash, $5 link, $6 everything, $7 hash of the mailbox, of which
// never all is refused.
const REFUSE = `
  with named as (
    select alert_id, key_id from search_alerts where alert_id = $1 and told_to = $3),
  own as (
    select alert_id from search_alerts
     where exists (select from named) and (alert_id = $1 and told_to = $3 or $6 and lower(told_to) = lower($3)
       or confirmed_at is null and key_id = (select key_id from named) and ${mailboxOf('told_to')} = ${mailboxOf('$3::text')})
     order by alert_id for update),
  ended as (
    update search_alerts a set confirmed_at = null, asked_at = null, rests = $2, failing_since = null
      from own where a.alert_id = own.alert_id),
  unsent as (
    delete from alert_messages m using own where m.alert_id = own.alert_id and m.delivered_at is null)
  insert into refusals (hash, key_id, everything, links) 
  select hash, key_id, $6 and hash = $4, array[sha256($5)] from named, unnest(array[$4, $7]::bytea[]) hash
    order by hash
  on conflict (hash, key_id) do update set everything = refusals.everything or excluded.everything, refused_at = now(),
    links = array(select distinct unnest(refusals.links || excluded.links))`

/**
 * Ends an alert for the owner of its address, whom its key asks no more: what waits for consent
 * rests.
 *
 * @param link the token of the link that ends it, which may take the refusal back
 * @param everything ends all alerts to the address, of all keys, and no key asks any more
 */
export async function refuse(
  pool: Pool,
  alertId: string,
  link: string,
  everything = false,
): Promise<void> {
  const read = 'select told_to as to from search_alerts where alert_id = $1'
  const alert = await readRow<{ to: string }>(pool, read, [alertId])
  if (alert === undefined) return
  const [hash, mailbox] = await hashesOf(pool, alert.to)
  const values = [alertId, UNWANTED, alert.to, hash, Buffer.from(link), everything, mailbox]
  await transaction(pool, async client => {
    await lockMailbox(client, alert.to)
    await client.query(REFUSE, values)
  })
}

/** What was refused by a link; null: nothing. Index: refusals_links */
export async function refusedByLink(db: Queryable, link: string): Promise<'key' | 'all' | null> {
  const read =
    'select bool_or(everything) as "isAll" from refusals where links @> array[sha256($1)]'
  const found = await readRow<{ isAll: boolean | null }>(db, read, [Buffer.from(link)])
  const isAll = found?.isAll ?? null
  return isAll === null ? null : isAll ? 'all' : 'key'
}

/**
 * Takes back what was refused by a link. This agrees to nothing: who keeps a search has to set its
 * alert again, and a mail then asks. So nobody gets more than that mail by the link of another.
 *
 * @returns whether anything was refused by it
 */
export async function takeBack(db: Queryable, link: string): Promise<boolean> {
  return ((await db.query(TAKE_BACK, [Buffer.from(link)])).rowCount ?? 0) > 0
}

// Locks in the order in which `REFUSE` writes. $1 the token. Index: refusals_links
const TAKE_BACK = `
  with own as (
    select hash, key_id from refusals where links @> array[sha256($1)] order by hash for update)
  delete from refusals r using own where (r.hash, r.key_id) = (own.hash, own.key_id)`

/** Moves refusals that processes of an older version wrote, with the address, to their table. */
export async function adoptRefusals(db: Queryable): Promise<void> {
  const read = 'select told_to as to, key_id as key, asked_at as at from alert_asks where refused'
  const { rows } = await db.query<{ to: string; key: string; at: Date }>(read)
  for (const { to, key, at } of rows) {
    const [hash] = await hashesOf(db, to)
    await db.query(ADOPT, [hash, key, at, to])
  }
}

// $1 hash, $2 key, $3 when, $4 address.
const ADOPT = `
  with gone as (
    delete from alert_asks where refused and told_to = $4 and key_id = $2 returning key_id)
  insert into refusals (hash, key_id, refused_at) select distinct $1::bytea, key_id, $3::timestamptz from gone
  on conflict do nothing`
