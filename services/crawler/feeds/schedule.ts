import type { Validators } from '#services/crawler/fetch/request'
import type { Config } from '#shared/config/config'
import { printableLine } from '#shared/log/printable'
import { type Pool, readValue } from '#shared/postgres/pool'
import { type IntervalRange, nextPollAfterFailure } from './rhythm.ts'

/** A feed that is due. */
export interface DueFeed extends Validators {
  feedNo: number
  outletNo: number
  url: string
  kind: 'feed' | 'sitemap'
  /** The number of polls in a row that failed. */
  failures: number
  /** The last poll ended while it parsed a document. The document may have ended the crawler. */
  parsing: boolean
}

export type PollIntervalSettings = Pick<Config, 'POLL_INTERVAL_MIN' | 'POLL_INTERVAL_MAX'>

export const intervalRangeOf = (config: PollIntervalSettings): IntervalRange => ({
  min: config.POLL_INTERVAL_MIN,
  max: config.POLL_INTERVAL_MAX,
})

/**
 * Schedules the next poll before foreign bytes are parsed, as if this poll had failed. Otherwise, a
 * document that ends the process would be due at once for the next crawler. The validators of the
 * last saved document stay, so nothing is lost. If the process ends here, the next poll counts this
 * one as a failure when it comes this far.
 */
export async function beforeParsing(
  pool: Pool,
  feed: DueFeed,
  config: PollIntervalSettings,
): Promise<void> {
  const failures = feed.failures + (feed.parsing ? 1 : 0)
  await pool.query(
    `update feeds
        set parsing = true, next_poll_at = clock_timestamp() + $2::int * interval '1 ms',
            failures = $3, last_error = case when $4 then $5 else last_error end
      where feed_no = $1`,
    [
      feed.feedNo,
      nextPollAfterFailure(failures + 1, intervalRangeOf(config)),
      failures,
      feed.parsing,
      BROKEN_OFF,
    ],
  )
}

const BROKEN_OFF = 'the crawler ended while it parsed the document'

/**
 * Records a poll that failed. If the feed had moved for good, this tells the operator where. The
 * wait until the next poll grows, up to POLL_INTERVAL_MAX.
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
  const failures = await readValue<number>(
    pool,
    `update feeds
        set failures = failures + 1, last_polled_at = clock_timestamp(), parsing = false,
            last_error = $2 || coalesce('; it has moved for good: name ' || left(moved_to, 300) || ' in the catalogue', '')
      where feed_no = $1 returning failures`,
    [feed.feedNo, printable(error)],
  )
  const backOff = nextPollAfterFailure(failures ?? 1, intervalRangeOf(config))
  await pool.query(
    `update feeds
        set next_poll_at = clock_timestamp() + $2::int * interval '1 ms', poll_interval = $2::int where feed_no = $1`,
    [feed.feedNo, Math.ceil(wait.exactly ?? Math.max(wait.atLeast ?? 0, backOff))],
  )
}

/**
 * Removes control characters: errors may quote a server's headers, and operators read them on
 * terminals.
 */
const printable = (error: string) => printableLine(error.slice(0, 500))

/**
 * Postpones a poll by `wait` ms, as if it had not been tried.
 *
 * @param why what the operator has to do first; by default nothing
 */
export async function postpone(
  pool: Pool,
  feed: DueFeed,
  wait: number,
  why?: string,
): Promise<void> {
  await pool.query(
    `update feeds
        set next_poll_at = clock_timestamp() + $2 * interval '1 ms', last_error = coalesce($3, last_error), parsing = false
      where feed_no = $1`,
    [feed.feedNo, wait, why === undefined ? null : printable(why)],
  )
}
