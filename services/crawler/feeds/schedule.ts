import type { Config } from '../../../shared/config/config.ts'
import { printableLine } from '../../../shared/log/printable.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'

/** A feed that is due. */
export interface DueFeed {
  feedNo: number
  outletNo: number
  url: string
  kind: 'feed' | 'sitemap'
  etag: string | null
  lastModified: string | null
  /** The number of polls in a row that failed. */
  failures: number
  /** The last poll ended while a document was parsed: perhaps the document ended the crawler. */
  parsing: boolean
}

export type PollIntervalSettings = Pick<Config, 'POLL_INTERVAL_MIN' | 'POLL_INTERVAL_MAX'>

export const intervalRangeOf = (config: PollIntervalSettings) => ({
  min: config.POLL_INTERVAL_MIN,
  max: config.POLL_INTERVAL_MAX,
})

/**
 * Moves the next poll ahead before foreign bytes are parsed, as if this poll had failed. Without
 * that, a document that ends the process would be due at once for the next crawler. The validators
 * of the last saved document stay, so nothing is lost. A poll that ended here is counted as a
 * failure when the next poll comes this far.
 */
export async function beforeParsing(pool: Pool, feed: DueFeed, config: PollIntervalSettings): Promise<void> {
  const failures = feed.failures + (feed.parsing ? 1 : 0)
  await pool.query(
    `update feeds
        set parsing = true, next_poll_at = clock_timestamp() + $2::int * interval '1 ms',
            failures = $3, last_error = case when $4 then $5 else last_error end
      where feed_no = $1`,
    [feed.feedNo, nextPollAfterFailure(failures + 1, intervalRangeOf(config)), failures, feed.parsing, BROKEN_OFF],
  )
}

const BROKEN_OFF = 'the crawler ended while it parsed the document'

/**
 * Notes a poll that failed. The wait until the next one grows, up to POLL_INTERVAL_MAX.
 *
 * @param wait.atLeast ms that the server asked for
 * @param wait.exactly ms after which the next try is known to be useful
 */
export async function saveFailure(
  pool: Pool,
  feed: DueFeed,
  error: string,
  wait: { atLeast?: number; exactly?: number },
  config: PollIntervalSettings,
): Promise<void> {
  const { rows } = await pool.query<{ failures: number }>(
    `update feeds
        set failures = failures + 1, last_error = $2, last_polled_at = clock_timestamp(), parsing = false
      where feed_no = $1 returning failures`,
    [feed.feedNo, printable(error)],
  )
  const backOff = nextPollAfterFailure(rows[0]?.failures ?? 1, intervalRangeOf(config))
  await pool.query(
    `update feeds
        set next_poll_at = clock_timestamp() + $2::int * interval '1 ms', poll_interval = $2::int where feed_no = $1`,
    [feed.feedNo, Math.ceil(wait.exactly ?? Math.max(wait.atLeast ?? 0, backOff))],
  )
}

/** Errors may quote a server's headers, and operators read them on terminals. */
const printable = (error: string) => printableLine(error.slice(0, 500))

/**
 * Postpones a poll by `wait` ms, as if it had not been tried.
 *
 * @param why what the operator has to do first; by default nothing
 */
export async function postpone(pool: Pool, feed: DueFeed, wait: number, why?: string): Promise<void> {
  await pool.query(
    `update feeds
        set next_poll_at = clock_timestamp() + $2 * interval '1 ms', last_error = coalesce($3, last_error), parsing = false
      where feed_no = $1`,
    [feed.feedNo, wait, why === undefined ? null : printable(why)],
  )
}

/** The publishing habits of a feed. Times in ms, by the clock of the database. */
interface Habits {
  /** The smoothed time between two new articles (column `rhythm`); null: not known yet. */
  articleInterval: number | null
  /** Time since the last poll with a new article; since the first poll when there was none. */
  silence: number
  /** Time for which the answer says that it stays as it is. */
  fresh?: number
}

interface IntervalRange {
  /** POLL_INTERVAL_MIN and POLL_INTERVAL_MAX. */
  min: number
  max: number
}

/**
 * The number of polls in the time between two articles. With four, an article waits an eighth of
 * that time on average.
 */
const POLLS_PER_ARTICLE = 4
/**
 * The part of the longest interval for which `max-age` is believed. By default a quarter of an
 * hour: some servers send a day with everything, and news must not wait for it.
 */
const BELIEVED_FRESH = 1 / 4
/** The weight of the latest gap in the smoothed interval. */
const SMOOTHING = 0.3
const LONGEST_INTERVAL = 20 * 86_400_000

/**
 * ms until the next poll of a feed that answers. It is a quarter of the feed's article interval, or
 * of its present silence when that is longer. A busy feed is thus polled every minute or two. A
 * feed that is silent at night is polled less and less often, but no feed is forgotten. An answer
 * that calls itself fresh is not asked for again before that time is over, within limits.
 */
export function nextPoll({ articleInterval, silence, fresh = 0 }: Habits, { min, max }: IntervalRange): number {
  const believed = Math.min(fresh, max * BELIEVED_FRESH)
  const wanted = Math.max(Math.max(articleInterval ?? 0, silence) / POLLS_PER_ARTICLE, believed)
  return Math.round(Math.min(Math.max(wanted, min), Math.max(min, max)))
}

/**
 * ms until the next poll of a feed that fails. The wait doubles with each failure, up to sixteen
 * times the shortest. It stays there for eight failures, so that we soon notice the end of an
 * outage of an hour or two. Then it grows to the longest.
 *
 * @param failures the number of failures in a row, this one included
 */
export function nextPollAfterFailure(failures: number, { min, max }: IntervalRange): number {
  const doublings = failures <= PLATEAU ? failures : Math.max(PLATEAU, failures - PLATEAU_FAILURES)
  return Math.round(Math.min(Math.max(min, 1) * 2 ** Math.min(doublings, 30), Math.max(min, max)))
}

const PLATEAU = 4
const PLATEAU_FAILURES = 8

/**
 * The article interval after a poll with `discovered` new addresses. A poll without any does not
 * change it, nor does the first poll: that one finds the whole feed.
 */
export function nextArticleInterval(
  { articleInterval, silence }: Habits,
  discovered: number,
  first: boolean,
): number | null {
  if (discovered === 0 || first) return articleInterval
  const gap = Math.min(silence / discovered, LONGEST_INTERVAL)
  return Math.round(articleInterval === null ? gap : articleInterval + SMOOTHING * (gap - articleInterval))
}

/**
 * ms for which an answer stays fresh by its own statement (RFC 9111 §4.2): `max-age` less the time
 * that a cache has held it. 0: the answer does not say, or must not be kept.
 *
 * `s-maxage` speaks to caches between the outlet and its readers, and `Expires` is mostly a date
 * that a template wrote, so neither counts.
 */
export function freshFor(headers: Record<string, string>): number {
  const directives = (headers['cache-control'] ?? '').slice(0, LONGEST_HEADER).toLowerCase().split(',')
  const values = new Map(
    directives.map(directive => {
      const [name = '', value = ''] = directive.split('=')
      return [name.trim(), value.trim().replace(/^"|"$/g, '')]
    }),
  )
  if (values.has('no-cache') || values.has('no-store')) return 0
  return Math.max(0, secondsOf(values.get('max-age')) - secondsOf(headers.age)) * 1_000
}

const LONGEST_HEADER = 1_000
/** RFC 9111 §1.2.2: a larger number counts as this one. */
const MOST_SECONDS = 2 ** 31

const secondsOf = (text: string | undefined) =>
  text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Math.min(Number(text), MOST_SECONDS) : 0
