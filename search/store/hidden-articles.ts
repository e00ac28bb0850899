import { setTimeout as pause } from 'node:timers/promises'
import type { Queryable } from '../../shared/postgres/pool.ts'

/*
 * Articles that are written and not shown yet: those of an import, until their segment is used,
 * and whatever is written meanwhile, because articles are shown in the order of their numbers.
 * `ingest_clock.shown_seq` is the newest article that is shown. It is stored and only grows: if it
 * followed from the time of day, a search could show an article and a later one could not.
 *
 * Articles of one transaction have one stamp, so they are shown together: a client that has read
 * some of them asks for later stamps (decision 23).
 */

/**
 * Articles that are there when the time begins are shown when it ends, at the latest. The time
 * begins again when all of them are shown, so no article waits for more than twice as long. On two
 * cores an article has its segment after some ten seconds.
 */
const LONGEST = "interval '30 s'"

/**
 * One time for a whole statement. `clock_timestamp()` goes on between two columns, and a row that
 * says half of the time that it is over would hide its articles for good.
 */
const NOW = 'statement_timestamp()'

/** Far ahead is a time that was written before the server's clock was set back. */
const OVERDUE = `(hidden_until <= ${NOW} or hidden_until > ${NOW} + 2 * ${LONGEST})`

/**
 * Assignments for an `update ingest_clock` that adds articles.
 *
 * @param hides a parameter: whether the new articles are hidden. Articles behind hidden ones are
 *   hidden in any case, and shown in any case when hidden ones have waited for too long
 * @param added SQL: their number
 */
export const hidingSql = (hides: string, added: string): string => `
  hidden_after = case when ${OVERDUE} then null
                      when ${hides} then coalesce(hidden_after, last_seq) else hidden_after end,
  hidden_mark  = case when ${OVERDUE} then null
                      when ${hides} then coalesce(hidden_mark, last_seq + ${added}) else hidden_mark end,
  hidden_until = case when ${OVERDUE} then null
                      when ${hides} then coalesce(hidden_until, ${NOW} + ${LONGEST}) else hidden_until end`

/**
 * Shows articles up to this one, and those that were written with it, within the transaction from
 * which their segment is used.
 */
export async function showUpTo(client: Queryable, seq: bigint): Promise<void> {
  await client.query(SHOW_UP_TO, [seq])
}

/** Shows all articles. */
export async function showAll(db: Queryable): Promise<void> {
  await db.query(`${SHOW} where hidden_after is not null`)
}

/**
 * Articles that are shown at a time, if they were not written with more, and ms after each.
 * Processes that search take each one in, and a search waits until all of them are.
 */
const STEP = 32
const REST = 1.25

/** Shows all articles that are there now, so slowly that searches need not wait. */
export async function showGently(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ last_seq: bigint }>('select last_seq from ingest_clock')
  const last = rows[0]!.last_seq
  let before: bigint | null = null
  for (;;) {
    const { rows: moved } = await db.query<{ shown: bigint }>(SHOW_NEXT, [STEP, last])
    const shown = moved[0]?.shown ?? last
    if (shown >= last) return
    await pause(REST * (before === null ? STEP : Number(shown - before)))
    before = shown
  }
}

/** Shows all articles when hidden ones have waited for too long: an import may be killed. */
export async function showOverdue(db: Queryable): Promise<void> {
  await db.query({ name: 'show-overdue', text: `${SHOW} where ${OVERDUE}` })
}

const SHOW = 'update ingest_clock set hidden_after = null, hidden_mark = null, hidden_until = null'

/**
 * SQL: the last article that was written in the transaction of another one. Numbers of a
 * transaction follow each other, and rows of articles never change, so `xmin` is the transaction
 * that wrote them. In a database that was restored it is one for all, which are then shown at once.
 */
const writtenWith = (seq: string): string => `
  coalesce(
    (select later.seq - 1 from articles later
     where later.seq > ${seq} and later.xmin <> (select one.xmin from articles one where one.seq = ${seq})
     order by later.seq limit 1),
    (select max(seq) from articles))`

// $1 how many, $2 the last one
const SHOW_NEXT = `
  update ingest_clock set (hidden_after, hidden_mark, hidden_until) =
    (select next, hidden_mark, hidden_until
     from least(hidden_after + $1::bigint, $2::bigint) as wanted, lateral ${writtenWith('wanted')} as next
     where next < last_seq)
  where hidden_after < $2::bigint
  returning shown_seq as shown`

// $1 seq
const SHOW_UP_TO = `
  with shown as materialized (select ${writtenWith('$1::bigint')} as seq)
  update ingest_clock set
    hidden_after = case when last_seq > shown.seq then shown.seq end,
    hidden_mark  = case when last_seq > shown.seq
                        then case when hidden_mark > shown.seq then hidden_mark else last_seq end end,
    hidden_until = case when last_seq > shown.seq
                        then case when hidden_mark > shown.seq then hidden_until else ${NOW} + ${LONGEST} end end
  from shown
  where hidden_after < shown.seq`
