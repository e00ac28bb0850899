import {
  createNumberCollector,
  createPace,
  INDEX_STATE,
  type IndexState,
  SHORT_TURN,
  TooFrequent,
} from '#search/index'
import type { KeptArticle, SearchIndex } from '#search/types'
import { ApiError } from '#services/api/contract/errors'
import type { AlertTerms } from '#shared/desk/alerts/alerts'
import { hostOf, messageId, QUESTION, WHEN } from '#shared/desk/alerts/messages'
import { nextTime } from '#shared/desk/alerts/times'
import { withSets } from '#shared/desk/outlet-sets'
import type { Logger } from '#shared/log/logger'
import { createOutageLog } from '#shared/log/outage'
import { PLAN_COLUMNS, type PlanRow, planOf } from '#shared/plans/keys'
import { type Pool, PRIMARY_HISTORY } from '#shared/postgres/pool'
import { type Repeated, repeatEvery } from '#shared/process/repeat'
import { createTurns } from '#shared/resilience/turns'
import { type IngestionPlace, newOf } from './place.ts'

/**
 * ms between two searches for new articles. On a machine that is not busy, this is most of the time
 * from the indexing to the message, unless the alert pauses (`PAUSE`).
 */
const TICK = 1_000
/** The most articles of a message. */
const MOST = 100
/**
 * The most articles that one search collects. It collects one more, which shows that there are
 * more. OpenSearch gives at most 10,000 in one answer (`max_result_window`).
 */
const LOOKED_AT = 9_999
/**
 * Of the collected articles, those among which the copies are looked for. The rest waits for the
 * next message.
 */
const COMPARED = 400
/** ms after a message of an alert "at once" before the next, unless articles are left for it. */
const PAUSE = 15_000
/**
 * ms after which another process may take an alert, in case the process that took it has stopped.
 */
const CLAIM = 60_000
/** ms after which it is looked anew which keys have due alerts, so that each gets its turn. */
const ROUND = 1_000

/** What the last search of an alert found beyond its message. */
interface Found extends IngestionPlace {
  /** Strings, because the driver returns the elements of a bigint array as strings. */
  seqs: string[]
}

/** A due alert, with everything that is needed to find its new articles. */
interface Due
  extends Pick<AlertTerms, 'when' | 'zone' | 'withinDays'>,
    IngestionPlace,
    PlanRow,
    IndexState {
  alertId: string
  search: string
  question: string
  found: Found | null
  /** The time of the clock of ingestion. */
  lastAt: Date
  history: string
  /**
   * The time of the database, whose clock says what is due. By a clock that is behind it, a daily
   * alert would be due again at once.
   */
  now: Date
}

// The open message is looked up alert by alert, with alert_messages_open. A join of alerts and
// messages would compare all with all until Postgres has statistics of a burst.
const NONE_OPEN = `
  (select m.alert_id from alert_messages m where m.alert_id = a.alert_id and m.delivered_at is null and kind = 'articles') is null`

const IS_DUE = `
  a.rests is null and a.confirmed_at is not null and a.due_at <= now()
    and exists (select from api_keys k where k.id = a.key_id and k.revoked_at is null)
    and (a.told_when <> 'at once' or a.seq < last_seq) and ${NONE_OPEN}`

// The keys that have due alerts. Index: search_alerts_due
const WAITING = `select distinct a.key_id as key from search_alerts a, ingest_clock where ${IS_DUE}`

// Takes the longest due alert of a key for this process alone, and reads clock and history in the
// same statement. $1 key, $2 CLAIM. Index: search_alerts_turn
const TAKE = `
  with due as (
    select a.alert_id from search_alerts a, ingest_clock where a.key_id = $1 and ${IS_DUE}
     order by a.due_at limit 1 for update of a skip locked),
  taken as (
    update search_alerts a set due_at = now() + $2 * interval '1 ms' from due where a.alert_id = due.alert_id
    returning a.*)
  select a.alert_id as "alertId", ${WHEN} as when, a.time_zone as zone, a.within_days as "withinDays", a.seq, a.at, s.search, now() as now,
         ${QUESTION} as question, ${PRIMARY_HISTORY} as history, ${INDEX_STATE.columns}, last_at as "lastAt", p.*,
         case when f.question = ${QUESTION} and f.after = a.seq and a.told_when = 'at once'
              then json_build_object('seq', f.seq::text, 'at', f.at, 'seqs', f.seqs::text[]) end as found
    from taken a join kept_searches s using (search_id) join api_keys k on k.id = a.key_id
    join (select ${PLAN_COLUMNS} from api_keys) p on p.id = k.id
    left join alert_finds f on f.alert_id = a.alert_id, ${INDEX_STATE.tables}`

// Rests an alert whose search cannot be answered, unless its owner has changed search or plan
// meanwhile. $1 alert, $2 why, $3 question, $4 history.
const REST = `
  update search_alerts a set rests = $2, failing_since = null from kept_searches s, api_keys k
   where a.alert_id = $1 and s.search_id = a.search_id and k.id = a.key_id
     and ${QUESTION} = $3 and ${PRIMARY_HISTORY} = $4`

type TellingIndex = Pick<SearchIndex<KeptArticle>, 'collect' | 'articles'>

/**
 * Searches regularly for new articles for the alerts of all keys, and writes the messages that the
 * notifier sends. Each process of the API does this, because it has the index in memory. Only one
 * process takes each alert. Keys take turns by the time that their searches took, so a key whose
 * searches are expensive delays no other by more than one of them.
 */
export function startTelling(pool: Pool, index: TellingIndex, log: Logger): Repeated {
  const outage = createOutageLog(
    log,
    'could not search for new articles of alerts',
    'searches for new articles of alerts work again',
  )
  const turns = createTurns()
  const isLeft = async (closing: AbortSignal): Promise<boolean> => {
    let waiting = (await pool.query<{ key: string }>(WAITING)).rows
    const end = performance.now() + ROUND
    while (waiting.length > 0 && performance.now() < end && !closing.aborted) {
      const { key } = turns.next(waiting)!
      const start = performance.now()
      const wasDue = await tell(pool, index, key).finally(() =>
        turns.charge(key, performance.now() - start),
      )
      if (!wasDue) waiting = waiting.filter(one => one.key !== key)
    }
    return waiting.length > 0
  }
  const work = async (closing: AbortSignal) => {
    while (!closing.aborted && (await isLeft(closing))) {
      // Each call looks anew what is due.
    }
  }
  return repeatEvery(TICK, work, { first: TICK, outage })
}

/** Looks what is new for one due alert of a key. @returns whether the key had one */
async function tell(pool: Pool, index: TellingIndex, key: string): Promise<boolean> {
  const [due] = (await pool.query<Due>({ name: 'take-alert', text: TAKE, values: [key, CLAIM] }))
    .rows
  if (due === undefined) return false
  try {
    const looked = due.found === null ? await search(pool, index, due) : read(due.found)
    await write(pool, index, due, looked)
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof TooFrequent)) throw error
    // The plan has become smaller, the search has become one by meaning, or its words are too
    // frequent. The alert rests until its owner changes it or its search.
    const why = error instanceof ApiError ? error.sentence : error.message
    await pool.query(REST, [due.alertId, why, due.question, due.history])
  }
  return true
}

/** New articles of an alert, in order, and the place up to which all of them are known. */
interface Looked {
  seqs: bigint[]
  to: IngestionPlace
  /** There are more than these. */
  hasMore: boolean
}

/** Searches from the place of the alert up to the clock. */
async function search(pool: Pool, index: TellingIndex, due: Due): Promise<Looked> {
  const { id, lastSeq, version, wordsVersion } = due
  const query = newOf(await withSets(pool, id, due.search), due, planOf(due), due.withinDays)
  // Requests of this process wait for one short turn.
  const pace = createPace(SHORT_TURN)
  const range = { above: due.seq, state: { lastSeq, version, wordsVersion }, pace }
  const all = (await index.collect(query, () => createNumberCollector(LOOKED_AT + 1), range)).seqs()
  const seqs = all.slice(0, LOOKED_AT)
  const last = seqs.at(-1)
  const hasMore = all.length > LOOKED_AT
  return hasMore && last !== undefined
    ? { seqs, to: { seq: last, at: due.at }, hasMore }
    : { seqs, to: { seq: lastSeq, at: due.lastAt }, hasMore: false }
}

/** What the search before this one found beyond its message. */
const read = ({ seq, at, seqs }: Found): Looked => ({
  seqs: seqs.map(BigInt),
  to: { seq: BigInt(seq), at: new Date(at) },
  // If there are more, the next search finds them.
  hasMore: false,
})

// Keeps one article of several copies, or none when an earlier message had a copy. $1 seqs, $2
// alert.
const ONCE = `
  select min(n.seq) as seq from unnest($1::bigint[]) n (seq) left join copy_sketches c using (seq)
   where c.first_seq is null or not exists (
     select from alert_messages m, unnest(m.seqs) t (seq) join copy_sketches o on o.seq = t.seq
      where m.alert_id = $2 and o.first_seq = c.first_seq)
   group by coalesce(c.first_seq, n.seq) order by 1`

/** One article of each text in order of `seq`, as far as its copies are known. */
async function eachTextOnce(pool: Pool, alertId: string, seqs: bigint[]): Promise<bigint[]> {
  if (seqs.length === 0) return []
  const statement = { name: 'texts-once', text: ONCE, values: [seqs, alertId] }
  return (await pool.query<{ seq: bigint }>(statement)).rows.map(({ seq }) => seq)
}

// Writes only when the place of the alert, its question and the history of the primary are still
// those that were read, and when each number still belongs to the article that was found. Otherwise
// the next call searches again. After a search of more than `CLAIM`, another process may have
// written the message: its articles are not new any more, and the place must not move past them.
// $1 alert, $2 its place, $3 due, $4 new place, $5 its time, $6 seqs, $7 more, $8 message, $9
// question, $10 history, $11 ids of the articles of $6; beyond the message: $12 seqs, $13 place,
// $14 its time. $15 how many articles the message is about.
const WRITE = `
  with own as (
    update search_alerts a set due_at = $3, seq = case when $6::bigint[] = '{}' then $4 else a.seq end,
           at = case when $6::bigint[] = '{}' then $5 else a.at end
      from kept_searches s, api_keys k
     where a.alert_id = $1 and a.seq = $2 and s.search_id = a.search_id and k.id = a.key_id
       and ${QUESTION} = $9 and ${PRIMARY_HISTORY} = $10
       and (select count(*) from unnest($6::bigint[], $11::text[]) n (seq, id) join articles using (seq, id)) = cardinality($6::bigint[])
       and ${NONE_OPEN}
     returning a.alert_id, a.told_to),
  kept as (
    insert into alert_finds (alert_id, question, after, seqs, seq, at)
    select alert_id, $9, $4, $12::bigint[], $13, $14 from own where $12::bigint[] <> '{}'
    on conflict (alert_id) do update set question = $9, after = $4, seqs = $12::bigint[], seq = $13, at = $14),
  gone as (
    delete from alert_finds f using own where f.alert_id = own.alert_id and $12::bigint[] = '{}')
  insert into alert_messages (message_id, alert_id, kind, seqs, more, seq, at, host, question, found)
  select $8, alert_id, 'articles', $6, $7, $4, $5, ${hostOf('told_to')}, $9, $15 from own where $6::bigint[] <> '{}'
  on conflict do nothing`

/**
 * Writes the message, or only moves the place when nothing is new. When one message cannot hold all
 * articles, an alert with "at once" sends the others in its next message. A daily message only
 * tells their number.
 */
async function write(
  pool: Pool,
  index: TellingIndex,
  due: Due,
  { seqs, to, hasMore }: Looked,
): Promise<void> {
  const isAtOnce = due.when === 'at once'
  const compared = isAtOnce ? seqs.slice(0, COMPARED) : seqs
  const once = await eachTextOnce(pool, due.alertId, compared)
  const told = once.slice(0, MOST)
  const left = once.length - told.length + seqs.length - compared.length
  // An alert at once goes on after its last article. Without any, all that was compared are copies.
  const last = left > 0 ? (told.at(-1) ?? compared.at(-1)) : undefined
  const goesOn = isAtOnce && last !== undefined
  const found = goesOn ? seqs.filter(seq => seq > last) : []
  const newest = isAtOnce ? to : { seq: due.lastSeq, at: due.lastAt }
  const place = goesOn ? { seq: last, at: due.at } : newest
  const pause = isAtOnce && told.length > 0 && !goesOn && !hasMore ? PAUSE : 0
  // What the index still has but no longer shows is left out.
  const articles = told.length === 0 ? [] : await index.articles(told, due)
  const shown = articles.toSorted((a, b) => (a.seq < b.seq ? -1 : 1))
  await pool.query({
    name: 'write-alert',
    text: WRITE,
    values: [
      due.alertId,
      due.seq,
      nextTime(due.when, due.zone, new Date(due.now.getTime() + pause)),
      place.seq,
      place.at,
      shown.map(({ seq }) => seq),
      left + Number(hasMore),
      messageId(),
      due.question,
      due.history,
      shown.map(({ id }) => id),
      found,
      to.seq,
      to.at,
      (goesOn ? compared.filter(seq => seq <= last) : seqs).length + Number(hasMore),
    ],
  })
}
