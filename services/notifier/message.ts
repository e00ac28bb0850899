import type { ArticleRow } from '#search/types'
import { articleObject } from '#shared/articles/article'
import type { Alert } from '#shared/desk/alerts/alerts'
import { hostOf, QUESTION, WHEN } from '#shared/desk/alerts/messages'
import type { Logger } from '#shared/log/logger'
import { describe } from '#shared/log/printable'
import { chargeQuota, MONTH_OF_KEY, type QuotaMonth } from '#shared/plans/counting'
import { type FoundKey, foundKey, PLAN_COLUMNS, type Plan, type PlanRow } from '#shared/plans/keys'
import { COVERED, coveredBy, covers } from '#shared/plans/reach'
import { type Pool, type Queryable, transaction } from '#shared/postgres/pool'
import type { Waiting } from './places.ts'
import { GIVES_UP, LEASE } from './retries.ts'

/** An article as a message has it: the article object of the contract. */
export type ToldArticle = ReturnType<typeof articleObject>

/** An article that the alert told of, and that was taken out since. */
interface ToldRemoval {
  number: number
  id: string
  /** ISO 8601 */
  removed_at: string
}

/** The content of a message, and the body of a webhook. */
export interface Message {
  id: string
  type: 'articles' | 'test' | 'ask' | 'removed'
  search: { id: string; name: string }
  articles: ToldArticle[]
  more: number
  /** Of the type `removed` alone. */
  removals?: ToldRemoval[]
}

/** What a mail says of one search. */
export interface Section {
  alert: Pick<Alert, 'id' | 'to' | 'when' | 'zone' | 'language'>
  message: Message
  /** The search, as a query string. */
  query: string
  /** How many articles the message is about, of which it tells each text once; null: not known. */
  found: number | null
  /** Of a mail, by the id of an article: the other outlets that have most of its text. */
  also?: ReadonlyMap<string, readonly string[]>
}

/** A message that a notifier has taken, with its alert and the plan of its key. */
export interface TakenMessage extends Omit<Message, 'articles'>, Omit<Section, 'message' | 'also'> {
  /** Empty unless it tells of removals. */
  removals: ToldRemoval[]
  /** How often it was sent, with this time. */
  attempts: number
  /** Numbers and ids of its articles. */
  seqs: bigint[]
  ids: string[]
  /** The message with which it goes out: its own id, or that of the mail that tells both. */
  with: string
  key: FoundKey
}

/**
 * SQL: whether the message `m` of the alert `a` may be sent now. A message that waits for its
 * alert, its key or a consent stays, and takes nobody's place.
 */
const MAY_BE_SENT = `
  m.delivered_at is null and m.try_at <= now()
    and (m.kind = 'ask' or a.confirmed_at is not null) and (m.kind <> 'articles' or a.rests is null)
    and exists (select from api_keys k where k.id = a.key_id and k.revoked_at is null)`

/** SQL: one mail tells all messages about articles that have this in common. */
const ONE_MAIL = `case when m.kind = 'articles' and a.told_to like 'mailto:%'
  then concat_ws(' ', a.key_id, a.language, a.told_to) else m.message_id end`

// A digest by mail waits a moment for those of the same time. An alert that is looked at is due
// within a minute, until its message is written. Index: search_alerts_key
const WAITS = `
  m.kind = 'articles' and a.told_when <> 'at once' and a.told_to like 'mailto:%' and m.created_at > now() - interval '2 min'
    and exists (select from search_alerts o where o.key_id = a.key_id and o.told_to = a.told_to and o.language = a.language
                   and o.told_when = a.told_when and o.time_zone = a.time_zone and o.rests is null
                   and o.confirmed_at is not null and o.due_at <= now() + interval '1 min')`

// The messages that are due: of those that one mail tells the first, and of these at most $1 of a
// host and $2 of a key. New ones come first. The hosts of a key take turns, so that one that takes
// nothing hides no other. Index: alert_messages_due
const WAITING = `
  with due as (
    select m.message_id as id, a.key_id as key, coalesce(m.host, ${hostOf('a.told_to')}, '') as host,
           m.attempts = 0 as "isNew", m.try_at,
           row_number() over (partition by ${ONE_MAIL} order by m.attempts > 0, m.try_at) as of_mail
      from alert_messages m join search_alerts a using (alert_id)
     where ${MAY_BE_SENT} and not (${WAITS})),
  of_hosts as (
    select *, row_number() over (partition by key, host order by not "isNew", try_at) as of_host
      from due where of_mail = 1),
  of_keys as (
    select *, row_number() over (partition by key order by of_host, not "isNew", try_at) as of_key
      from of_hosts where of_host <= $1)
  select id, key, host, "isNew" from of_keys where of_key <= $2 order by not "isNew", try_at`

/** @param most how many of them are wanted at most, of a host and of a key */
export async function readWaiting(
  pool: Pool,
  most: { ofHost: number; ofKey: number },
): Promise<Waiting[]> {
  const values = [most.ofHost, most.ofKey]
  return (await pool.query<Waiting>({ name: 'waiting-messages', text: WAITING, values })).rows
}

/** Its `id` is that of the key. */
interface Row extends PlanRow, QuotaMonth, Omit<TakenMessage, 'id' | 'seqs' | 'key'> {
  messageId: string
  /** Strings, because the driver returns the elements of a bigint array as strings. */
  seqs: string[]
  isStale: boolean
}

/** The most articles and searches of one mail, unless its first message has more articles. */
const MAIL = { articles: 200, searches: 20 }

const ISO = `to_char(removed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

// Takes messages for this process alone, with those that the same mail tells: it counts the
// attempt, and nobody else sends the message before the lease ends. One statement reads the
// message, its question and its articles, so they are of one history. $1 messages, $2 LEASE.
// Indexes: the primary keys, search_alerts_key.
const TAKE = `
  with chosen as (
    select m.message_id, a.key_id, a.told_to, a.language, m.kind = 'articles' and a.told_to like 'mailto:%' as "isMail"
      from alert_messages m join search_alerts a using (alert_id) where m.message_id = any ($1)),
  beside as materialized (
    select m.message_id, c.message_id as "with",
           sum(cardinality(m.seqs)) over (partition by c.message_id order by m.message_id <> c.message_id, m.created_at, m.message_id) as articles,
           row_number() over (partition by c.message_id order by m.message_id <> c.message_id, m.created_at, m.message_id) as turn
      from chosen c cross join lateral (
        select message_id, seqs, created_at from alert_messages where message_id = c.message_id
        union
        select o.* from search_alerts a cross join lateral (
            select message_id, seqs, created_at from alert_messages m
             where m.alert_id = a.alert_id and kind = 'articles' and delivered_at is null and try_at + interval '0' <= now() limit 1) o
         where c."isMail" and a.key_id = c.key_id and a.told_to = c.told_to and a.language = c.language) m),
  due as (
    select m.message_id, b."with" from beside b join alert_messages m using (message_id) join search_alerts a using (alert_id)
     where (b.turn = 1 or b.articles <= ${MAIL.articles} and b.turn <= ${MAIL.searches}) and ${MAY_BE_SENT}
       for update of m skip locked),
  taken as (
    update alert_messages m set attempts = attempts + 1, try_at = now() + $2 * interval '1 ms'
      from due where m.message_id = due.message_id returning m.*, due."with")
  select g.message_id as "messageId", g."with", g.kind as type, g.attempts, g.more, g.found, s.search as query, p.*, m.*,
         json_build_object('id', a.alert_id, 'to', a.told_to, 'when', ${WHEN}, 'zone', a.time_zone, 'language', a.language) as alert,
         json_build_object('id', search_id, 'name', s.name) as search,
         coalesce(g.question <> ${QUESTION}, false) as "isStale", n.seqs, n.ids, coalesce(r.removals, '[]') as removals
    from taken g join search_alerts a using (alert_id) join kept_searches s using (search_id)
    join api_keys k on k.id = a.key_id
    join (select ${PLAN_COLUMNS} from api_keys) p on p.id = k.id
    cross join lateral (
      select coalesce(array_agg(seq order by seq), '{}') as seqs, coalesce(array_agg(id order by seq), '{}') as ids
        from articles where seq = any (g.seqs) and g.kind = 'articles') n
    left join lateral (
      select json_agg(json_build_object('number', number, 'id', id, 'removed_at', ${ISO}) order by number) as removals
        from tombstones where seq = any (g.seqs)) r on g.kind = 'removed'
    left join lateral (${MONTH_OF_KEY}) m on k.quota is not null`

/**
 * Takes messages that may be sent now. A message whose search or plan has changed is withdrawn: its
 * articles were found for another question, and the alert finds them again. A message waits while
 * the month of its key is used up.
 */
export async function takeMessages(pool: Pool, ids: string[]): Promise<TakenMessage[]> {
  const { rows } = await pool.query<Row>({
    name: 'take-messages',
    text: TAKE,
    values: [ids, LEASE],
  })
  const taken: TakenMessage[] = []
  for (const row of rows) {
    const message = messageOf(row)
    if (row.isStale) await withdraw(pool, message)
    else if (isUsedUp(message)) await putOff(pool, message)
    else taken.push(message)
  }
  return taken
}

const messageOf = ({ messageId: id, seqs, ...row }: Row): TakenMessage => ({
  ...row,
  id,
  seqs: seqs.map(BigInt),
  key: foundKey(row),
})

async function withdraw(pool: Pool, { id }: TakenMessage): Promise<void> {
  const statement = 'delete from alert_messages where message_id = $1 and delivered_at is null'
  await pool.query(statement, [id])
}

const isUsedUp = ({ type, key: { key, month } }: TakenMessage): boolean =>
  type === 'articles' && month !== null && key.plan.quota !== null && month.used >= key.plan.quota

/**
 * The message waits until the month ends, but for ten minutes at most, because an operator may
 * raise the quota. It was not sent, so this was no attempt.
 */
async function putOff(pool: Pool, { id, key }: TakenMessage): Promise<void> {
  await pool.query(
    `update alert_messages set try_at = least(to_timestamp($2), now() + interval '10 min'), attempts = attempts - 1
      where message_id = $1`,
    [id, key.month?.reset ?? 0],
  )
}

/**
 * The message in the form that is sent, with its articles as `/v1` shows them under the current
 * plan. Null: the plan shows none of its articles.
 *
 * @param rows articles by number
 * @throws HistoryChanged a number belongs to another article since a failover
 */
export function composed(
  { id, type, search, seqs, ids, more, key, removals }: TakenMessage,
  rows: ReadonlyMap<bigint, ArticleRow>,
): Message | null {
  const reach = coveredBy(key.key.plan)
  const articles = seqs.flatMap((seq, at) => {
    const row = rows.get(seq)
    if (row !== undefined && row.id !== ids[at]) throw new HistoryChanged()
    return row === undefined ? [] : [articleObject(row)]
  })
  const shown = articles.filter(article => covers(reach, article))
  if (type === 'removed')
    return removals.length === 0 ? null : { id, type, search, articles: [], more, removals }
  if (type === 'articles' && shown.length === 0) return null
  return { id, type, search, articles: shown, more }
}

// Articles that were taken out, and those of outlets that reserve rights, stand in no group. Two
// outlets may have one name, and then the domain tells them apart. $1 ids, $2 countries, $3 history
// start, $4 the most copies of an article. Indexes: copy_sketches_id, copy_sketches_group.
const ALSO = `
  select id, array_agg(name order by first) as outlets from (
    select s.id, min(a.seq) as first,
           (array_agg(case when p.name is distinct from own.name then coalesce(p.name, p.domain) else p.domain end order by a.seq))[1] as name
      from copy_sketches s join articles told on told.seq = s.seq join publishers own on own.publisher_no = told.publisher_no
      cross join lateral (select seq from copy_sketches where first_seq = s.first_seq limit $4) c
      join articles a on a.seq = c.seq join publishers p on p.publisher_no = a.publisher_no
     where s.id = any ($1) and p.outlet <> own.outlet and ${COVERED} group by s.id, p.outlet) o
   where name is not null group by id`

/** How many copies of an article are looked at, so that a large group holds up no mail. */
const MOST_COPIES = 100

/**
 * Reads which other outlets have most of the text of articles, as far as the plan covers that now.
 * If that fails, the mail goes out without it.
 */
export async function readAlso(
  db: Queryable,
  plan: Plan,
  ids: string[],
  log: Logger,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { countries, since } = coveredBy(plan)
  const statement = { name: 'also-in', text: ALSO, values: [ids, countries, since, MOST_COPIES] }
  const { rows } = await db
    .query<{ id: string; outlets: string[] }>(statement)
    .catch((error: unknown) => {
      log.warn({ err: describe(error) }, 'a mail goes out without the outlets of copies')
      return { rows: [] }
    })
  return new Map(rows.map(({ id, outlets }) => [id, outlets]))
}

/** The message was read from one history of the database, and its articles from another. */
class HistoryChanged extends Error {
  override name = 'HistoryChanged'
  constructor() {
    super('The database failed over while a message was read; it is sent later.')
  }
}

/**
 * Records a delivery. In the same transaction the alert moves on to its new place, and the key pays
 * for the message. A message that was withdrawn while it was sent moves nothing.
 *
 * @param shown ids of the articles that were sent; undefined: the plan shows none, nothing was sent
 */
export async function noteDelivered(
  pool: Pool,
  message: TakenMessage,
  shown: readonly string[] | undefined,
): Promise<void> {
  const costs = message.type === 'articles' && shown !== undefined
  const seqs = message.seqs.filter((_, at) => shown?.includes(message.ids[at] ?? ''))
  const values = [message.id, message.alert.id, costs, seqs]
  const note = async (db: Queryable) =>
    (await db.query({ name: 'note-delivered', text: DELIVERED, values })).rowCount === 1
  const { id, plan } = message.key.key
  const { quota } = plan
  if (quota === null) return void (await note(pool))
  await transaction(pool, async client => {
    if ((await note(client)) && costs) await chargeQuota(client, id, quota)
  })
}

// A link and then alerts are locked (`lockMailbox` says the order). A mail that asks is noted for
// all alerts that its link still covers. Only the articles that were shown are kept. An alert that
// rests stays as it is, also when a test or a removal arrives. $1 message, $2 alert, $3 whether
// articles were told, $4 their numbers.
const DELIVERED = `
  with link as materialized (select alerts from alert_asks where ask_id = $1 for update),
  own as (
    select a.alert_id, a.alert_id = any (l.alerts) as named, ${QUESTION} as question
      from (select coalesce((select alerts from link), '{}') as alerts) l
      join search_alerts a on a.alert_id = any (l.alerts || $2::text)
      join kept_searches s using (search_id) join api_keys k on k.id = a.key_id
     order by a.alert_id for update of a),
  gone as (
    delete from alert_messages m using own
     where m.message_id = $1 and m.alert_id = own.alert_id and m.delivered_at is null and m.question <> own.question),
  told as (
    update alert_messages m set delivered_at = now(), seqs = case when m.kind = 'articles' then $4 else m.seqs end from own
     where m.message_id = $1 and m.alert_id = own.alert_id and m.delivered_at is null
       and coalesce(m.question = own.question, true)
     returning m.kind, m.seq, m.at)
  update search_alerts a set seq = coalesce(told.seq, a.seq), at = coalesce(told.at, a.at), failure = null,
         failing_since = case when a.rests is not null then a.failing_since end,
         asked_at = case when told.kind = 'ask' and own.named then now() else a.asked_at end,
         delivered_at = case when $3 then now() else delivered_at end
    from told, own where a.alert_id = own.alert_id`

// A message that is no articles is dropped when its alert rests. Removals are tried for a day, also
// when the alert rests already. An alert that something else ended does not fail, too. $1 message,
// $2 alert, $3 attempt, $4 ms until the next, $5 why, $6 whether the receiver is gone, $7 GIVES_UP.
const FAILED = `
  with own as (
    select alert_id from search_alerts
     where alert_id = $2 and exists (select from alert_messages m where m.message_id = $1 and m.delivered_at is null)
       for update),
  failed as (
    update search_alerts a set failure = $5,
           failing_since = case when rests is null or $6 then coalesce(failing_since, now()) else failing_since end,
           rests = case when $6 then $5
                        when failing_since < now() - $7 * interval '1 ms' then 'It has failed for a day: ' || $5
                        else rests end
      from own where a.alert_id = own.alert_id returning a.alert_id, a.rests is not null as rests),
  dropped as (
    delete from alert_messages m using failed
     where m.message_id = $1 and failed.rests and m.kind <> 'articles'
       and (m.kind <> 'removed' or $6 or m.created_at < now() - $7 * interval '1 ms')
    returning m.message_id)
  update alert_messages m set try_at = now() + $4 * interval '1 ms'
   where m.message_id = $1 and m.attempts = $3 and m.delivered_at is null and not exists (select from dropped)`

/** Records a failure, and when the message is sent next. */
export async function noteFailed(
  pool: Pool,
  { id, alert, attempts }: TakenMessage,
  failure: { why: string; wait: number; isGone: boolean },
): Promise<void> {
  const values = [id, alert.id, attempts, failure.wait, failure.why, failure.isGone, GIVES_UP]
  await pool.query(FAILED, values)
}
