import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type TimeZone, timeZoneNamed } from '../../search/query/calendar.ts'
import { addressRule } from '../addresses.ts'
import type { Config } from '../config/config.ts'
import {
  loadSharedSecret,
  type Pool,
  type Queryable,
  readRow,
  readValue,
} from '../postgres/pool.ts'
import { withTimeLimit } from '../resilience/time-limit.ts'
import { changeKept } from './search-feeds.ts'

/*
 * An alert belongs to a kept search and remembers a place in the order of ingestion. Articles after
 * that place are new. The owner of a mail address must consent first, and may refuse at any time.
 */

/** The address to which an alert sends its messages, and the time when it does so. */
export interface AlertTerms {
  /** `https://…` or `mailto:…` */
  to: string
  /** `at once`, or a local time such as `08:00`. */
  when: string
  /** The IANA name of the time zone of `when`. */
  zone: string
}

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

const COLUMNS = `alert_id as id, search_id as "searchId", key_id as "keyId", told_to as to, told_when as when,
  time_zone as zone, confirmed_at as "confirmedAt", rests, failing_since as "failingSince", failure,
  delivered_at as "deliveredAt", created_at as "createdAt"`

/** The alerts of a key; null: of all keys. Index: search_alerts_key */
export async function listAlerts(db: Queryable, keyId: string | null): Promise<Alert[]> {
  const { rows } = await db.query<Alert>(
    `select ${COLUMNS} from search_alerts where $1::text is null or key_id = $1 order by created_at, alert_id`,
    [keyId],
  )
  return rows
}

// $1 search, $2 alert, $3 key, $4 to, $5 when, $6 zone, $7 seq, $8 at, $9 due, $10 is it mail.
const PUT = `
  insert into search_alerts (search_id, alert_id, key_id, told_to, told_when, time_zone, seq, at, due_at, confirmed_at)
  select $1, $2, $3, $4, $5, $6, $7, $8, $9, case when not $10 or exists (
    select from search_alerts where key_id = $3 and told_to = $4 and search_id <> $1 and confirmed_at is not null) and not exists (
    select from alert_asks where key_id = $3 and told_to = lower($4) and refused) then now() end
  on conflict (search_id) do update set
    told_when = $5, time_zone = $6, due_at = $9, failing_since = null, failure = null, told_to = $4,
    rests = case when search_alerts.told_to = $4 and search_alerts.confirmed_at is null then search_alerts.rests end,
    asked_at = case when search_alerts.told_to = $4 then search_alerts.asked_at end,
    confirmed_at = case when search_alerts.told_to = $4 then search_alerts.confirmed_at else excluded.confirmed_at end
  returning ${COLUMNS}, xmax = 0 as "isNew"`

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
  insert into alert_messages (message_id, alert_id, kind, seqs, more) select $3, alert_id, 'ask', '{}', 0 from asked`

/**
 * Gives a kept search an alert, or changes its existing alert, which keeps its place. The owner of
 * a mail address must consent first. Null when the key has no such search.
 *
 * @param place where a new alert begins
 */
export function putAlert(
  pool: Pool,
  keyId: string,
  searchId: string,
  terms: AlertTerms,
  place: { seq: bigint; at: Date },
): Promise<(Alert & { isNew: boolean }) | null> {
  return changeKept(pool, keyId, async client => {
    const { rowCount } = await client.query(
      'update kept_searches set of_feed = false where search_id = $1 and key_id = $2',
      [searchId, keyId],
    )
    if (rowCount === 0) return null
    const { to, when, zone } = terms
    const before = await readValue<string>(
      client,
      'select told_to from search_alerts where search_id = $1',
      [searchId],
    )
    const due = nextTime(when, zone, new Date())
    const isMail = to.startsWith('mailto:')
    const id = `alert_${randomBytes(8).toString('hex')}`
    const values = [searchId, id, keyId, to, when, zone, place.seq, place.at, due, isMail]
    const alert = (await readRow<Alert & { isNew: boolean }>(client, PUT, values))!
    // Removes undelivered messages to the previous address. The alert finds their articles again.
    if (before !== null && before !== to) {
      await client.query(
        'delete from alert_messages where alert_id = $1 and delivered_at is null',
        [alert.id],
      )
    }
    if (alert.confirmedAt === null) await client.query(ASKS, [alert.id, keyId, messageId()])
    return alert
  })
}

export async function endAlert(db: Queryable, keyId: string, searchId: string): Promise<void> {
  await db.query('delete from search_alerts where search_id = $1 and key_id = $2', [
    searchId,
    keyId,
  ])
}

export const messageId = (): string => `msg_${randomBytes(16).toString('hex')}`

const DAY = 86_400_000

/**
 * The next time at which an alert looks for new articles. A daily alert looks at its local time of
 * day, and the result is later than `after`. For `at once` the result is `after` itself.
 */
export function nextTime(when: string, zoneName: string, after: Date): Date {
  const zone = timeZoneNamed(zoneName)
  const clock = /^(\d\d):(\d\d)$/.exec(when)
  if (clock === null || zone === null) return after
  const ofDay = (Number(clock[1]) * 60 + Number(clock[2])) * 60_000
  const today = Math.floor(after.getTime() / DAY) * DAY
  const times = [-1, 0, 1, 2].map(day => instantOf(today + day * DAY + ofDay, zone))
  return new Date(times.find(time => time > after.getTime())!)
}

/**
 * The first instant at which the clocks of a time zone show a time. If the clocks are set forward
 * and skip that time, the result is the instant when they are set.
 *
 * @param local ms since 1970, as if the clocks showed UTC
 */
function instantOf(local: number, zone: TimeZone): number {
  const spans = zone.spans(local - 2 * DAY, local + 2 * DAY)
  for (const { from, to, offset } of spans) {
    if (local - offset < to) return Math.max(from, local - offset)
  }
  return local
}

/** The name of a host must resolve within this many ms. */
const RESOLVES = 3_000
const MAIL =
  /^mailto:([^\s\p{Cc}\p{Cs}@<>()[\]\\,;:"?&%]{1,64}@(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63})$/iu

/**
 * Whether an address is on a host that the operator has allowed in ALERT_HOSTS, as `host` or
 * `host:port`.
 */
export const isOwn = (
  { hostname, host }: URL,
  { ALERT_HOSTS }: Pick<Config, 'ALERT_HOSTS'>,
): boolean => ALERT_HOSTS.some(one => [hostname, host].includes(one.toLowerCase()))

export const PUBLIC = addressRule([], ['443'])

/**
 * Checks the address to which an alert shall send messages.
 *
 * @returns the address in one spelling, or the sentence that says why it is refused
 */
export async function readAddress(
  written: string,
  config: Pick<Config, 'ALERT_HOSTS' | 'SMTP_URL'>,
): Promise<{ to: string } | { why: string }> {
  const text = written.trim()
  if (/^mailto:/i.test(text)) {
    const mail = MAIL.exec(text)?.[1]
    if (mail === undefined)
      return { why: 'Write one address, as mailto:name@example.org, without anything else.' }
    return config.SMTP_URL === '' ? { why: 'This server sends no mail.' } : { to: `mailto:${mail}` }
  }
  const url = text.length <= 2_000 && URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    return { why: 'Write an address that begins with https:// or mailto:.' }
  if (url.username !== '' || url.password !== '')
    return { why: 'Write the address without a name or a password.' }
  url.hash = ''
  if (isOwn(url, config)) return { to: url.href }
  if (url.protocol === 'http:')
    return { why: 'Write an address that begins with https://: http is read on its way.' }
  if (url.port !== '') return { why: 'Leave the port out: only 443 is asked.' }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const found = isIP(host) ? [{ address: host }] : await resolve(host)
  if (found === null) return { why: `The host ${host} has no address.` }
  if (!found.some(({ address }) => PUBLIC.isPublic(address)))
    return { why: `The host ${host} has no public address.` }
  return { to: url.href }
}

const resolve = (host: string): Promise<{ address: string }[] | null> =>
  withTimeLimit(
    lookup(host, { all: true }).catch(() => null),
    RESOLVES,
    () => null,
  )

/** The actions that a link in a mail offers to the owner of the address. */
export type LinkPurpose = 'confirm' | 'unsubscribe'

/**
 * The secrets of alerts. All are computed from one secret that all processes share, so the database
 * stores none of them. `signing` gives the secret that signs the webhooks of an alert (Standard
 * Webhooks: `whsec_` and base64). `token` gives the tokens of links, each for one address.
 */
export async function loadAlertSecrets(db: Queryable) {
  const secret = await loadSharedSecret(db, 'alerts')
  const made = (...parts: string[]) =>
    createHmac('sha256', secret).update(JSON.stringify(parts)).digest()
  const tokenOf = (purpose: LinkPurpose, { id, to }: Pick<Alert, 'id' | 'to'>): string =>
    `${id.slice('alert_'.length)}${made(purpose, id, to).toString('base64url')}`
  return {
    signing: (alertId: string): string => `whsec_${made('sign', alertId).toString('base64')}`,
    token: tokenOf,
    /** Finds the alert of a token; null: no alert has this token. */
    async open(purpose: LinkPurpose, token: string): Promise<Alert | null> {
      const id = `alert_${token.slice(0, 16)}`
      const alert = await readRow<Alert>(
        db,
        `select ${COLUMNS} from search_alerts where alert_id = $1`,
        [id],
      )
      if (alert === undefined) return null
      // This compares texts, because the last letter of base64url has bits without meaning, and
      // decoding would ignore them.
      const given = Buffer.from(token)
      const own = Buffer.from(tokenOf(purpose, alert))
      return given.length === own.length && timingSafeEqual(given, own) ? alert : null
    },
  }
}

/** For how many ms the link in a mail that asks for consent works. */
export const ASKED_FOR: 86400000 = DAY

/** Why an alert rests after the owner of its address unsubscribed. */
export const UNWANTED = 'The owner of the address wants no more of it.'

/** Stores what the owner of an address decided. */
export async function answerOwner(
  db: Queryable,
  purpose: LinkPurpose,
  { id }: Alert,
): Promise<void> {
  if (purpose === 'confirm') {
    await db.query(
      `update search_alerts a set confirmed_at = coalesce(a.confirmed_at, now()), rests = null from search_alerts own
        where own.alert_id = $1 and own.asked_at > now() - $2 * interval '1 ms' and a.key_id = own.key_id
          and a.told_to = own.told_to and (a.alert_id = $1 or (a.confirmed_at is null and a.rests is null))`,
      [id, ASKED_FOR],
    )
    return
  }
  await db.query(
    `with own as (
       update search_alerts set confirmed_at = null, asked_at = now(), rests = $2 where alert_id = $1 returning told_to, key_id)
     insert into alert_asks (told_to, key_id, refused) select lower(told_to), key_id, true from own`,
    [id, UNWANTED],
  )
  await db.query('delete from alert_messages where alert_id = $1 and delivered_at is null', [id])
}
