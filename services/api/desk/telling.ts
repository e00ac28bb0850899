import { createNumberCollector, TooFrequent } from '../../../search/index.ts'
import type { SearchIndex } from '../../../search/types.ts'
import type { AlertTerms } from '../../../shared/desk/alerts/alerts.ts'
import { messageId } from '../../../shared/desk/alerts/messages.ts'
import { nextTime } from '../../../shared/desk/alerts/times.ts'
import type { Logger } from '../../../shared/log/logger.ts'
import { createOutageLog } from '../../../shared/log/outage.ts'
import { foundKey, PLAN_COLUMNS, type PlanRow } from '../../../shared/plans/keys.ts'
import { type Pool, readColumn, readRow } from '../../../shared/postgres/pool.ts'
import { type Repeated, repeatEvery } from '../../../shared/process/repeat.ts'
import { ApiError } from '../contract/errors.ts'
import { type IngestionPlace, newOf, readPlace } from './place.ts'

/**
 * ms between two searches for new articles. On a machine that is not busy, this is most of the time
 * from the indexing to the message, unless the alert pauses (`PAUSE`).
 */
const TICK = 3_000
/** The most articles of a message. */
const MOST = 100
/**
 * The most articles that are read and counted for a message. The search collects one more, which
 * shows that there are more.
 */
const LOOKED_AT = { atOnce: 1_000, digest: 10_000 }
/** ms after a message of an alert "at once" before the next, unless articles are left for it. */
const PAUSE = 15_000
/**
 * ms after which another process may take an alert, in case the process that took it has stopped.
 */
const CLAIM = 60_000

/** A due alert, with everything that is needed to find its new articles. */
interface Due extends Omit<AlertTerms, 'to'>, IngestionPlace, PlanRow {
  alertId: string
  search: string
  /**
   * The time of the database, whose clock says what is due. By a clock that is behind it, a daily
   * alert would be due again at once.
   */
  now: Date
}

// Takes one due alert for this process alone. $1 CLAIM. Index: search_alerts_due
const DUE = `
  with due as (
    select a.alert_id from search_alerts a, ingest_clock
     where a.rests is null and a.confirmed_at is not null and a.due_at <= now()
       and exists (select from api_keys k where k.id = a.key_id and k.revoked_at is null)
       and (a.told_when <> 'at once' or a.seq < last_seq)
       and not exists (select from alert_messages m where m.alert_id = a.alert_id and m.delivered_at is null and kind = 'articles')
     order by a.due_at limit 1 for update of a skip locked),
  taken as (
    update search_alerts a set due_at = now() + $1 * interval '1 ms' from due where a.alert_id = due.alert_id
    returning a.*)
  select a.alert_id as "alertId", a.told_when as when, a.time_zone as zone, a.seq, a.at, s.search, now() as now, k.*
    from taken a join kept_searches s using (search_id)
    join (select ${PLAN_COLUMNS} from api_keys) k on k.id = a.key_id`

/**
 * Searches regularly for new articles for the alerts of all keys, and writes the messages that the
 * notifier sends. Each process of the API does this, because it has the index in memory. Only one
 * process takes each alert.
 */
export function startTelling(
  pool: Pool,
  index: Pick<SearchIndex, 'collect'>,
  log: Logger,
): Repeated {
  const outage = createOutageLog(
    log,
    'could not search for new articles of alerts',
    'searches for new articles of alerts work again',
  )
  const work = async (closing: AbortSignal) => {
    while (!closing.aborted && (await tellNext(pool, index))) {
      // Each call writes the message of one alert.
    }
  }
  return repeatEvery(TICK, work, { first: TICK, outage })
}

/** @returns whether an alert was due */
async function tellNext(pool: Pool, index: Pick<SearchIndex, 'collect'>): Promise<boolean> {
  const due = await readRow<Due>(pool, DUE, [CLAIM])
  if (due === undefined) return false
  const now = await readPlace(pool)
  const { plan } = foundKey({ ...due, used: 0, period: '', reset: 0, left: 0 }).key
  try {
    const query = newOf(due.search, due, plan)
    const range = { above: due.seq, state: now.state }
    const most = due.when === 'at once' ? LOOKED_AT.atOnce : LOOKED_AT.digest
    const seqs = (await index.collect(query, () => createNumberCollector(most + 1), range)).seqs()
    await write(pool, due, now, seqs.slice(0, most), seqs.length > most)
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof TooFrequent)) throw error
    // The plan has become smaller, the search has become one by meaning, or its words are too
    // frequent. The alert rests until its owner changes it or its search.
    await pool.query('update search_alerts set rests = $2 where alert_id = $1', [
      due.alertId,
      error.message,
    ])
  }
  return true
}

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
  return readColumn<bigint>(pool, ONCE, [seqs, alertId])
}

// Writes only when place and search are still those that were read. If the owner has changed the
// search meanwhile, the next call searches again. $1 alert, $2 its place, $3 due, $4 new place, $5
// its time, $6 seqs, $7 more, $8 id, $9 search.
const WRITE = `
  with own as (
    update search_alerts set due_at = $3, seq = case when $6::bigint[] = '{}' then $4 else seq end,
           at = case when $6::bigint[] = '{}' then $5 else at end
     where alert_id = $1 and seq = $2 and (select search from kept_searches s where s.search_id = search_alerts.search_id) = $9
     returning alert_id)
  insert into alert_messages (message_id, alert_id, kind, seqs, more, seq, at)
  select $8, alert_id, 'articles', $6, $7, $4, $5 from own where $6::bigint[] <> '{}' on conflict do nothing`

/**
 * Writes the message, or only moves the place when nothing is new. When one message cannot hold all
 * articles, an alert with "at once" sends the others in its next message. A daily message only
 * tells their number.
 */
async function write(
  pool: Pool,
  due: Due,
  now: IngestionPlace,
  looked: bigint[],
  hasMore: boolean,
): Promise<void> {
  const once = await eachTextOnce(pool, due.alertId, looked)
  const told = once.slice(0, MOST)
  const rest = once.length - told.length + Number(hasMore)
  const isAtOnce = due.when === 'at once'
  const last = told.at(-1) ?? looked.at(-1)
  const place = isAtOnce && rest > 0 && last !== undefined ? { seq: last, at: due.at } : now
  const pause = isAtOnce && told.length > 0 && rest === 0 ? PAUSE : 0
  const next = nextTime(due.when, due.zone, new Date(due.now.getTime() + pause))
  await pool.query(WRITE, [
    due.alertId,
    due.seq,
    next,
    place.seq,
    place.at,
    told,
    rest,
    messageId(),
    due.search,
  ])
}
