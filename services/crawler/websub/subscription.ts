import { randomBytes } from 'node:crypto'
import type { Pool } from '../../../shared/postgres/pool.ts'
import type { DueFeed } from '../feeds/due-feed.ts'

/** A subscription that is to be asked for, or renewed. */
export interface DueSubscription {
  hub: string
  topic: string
  token: string
  secret: string
}

/**
 * Remembers where a feed wants to be subscribed to. Another hub or topic begins anew, with another
 * secret. A feed that no longer names a hub is forgotten: the hub is then told so by our answers.
 */
export async function noteHub(pool: Pool, feed: DueFeed, hub: string | null, topic: string): Promise<void> {
  if (hub === null) {
    await pool.query('delete from websub_subscriptions where feed_no = $1', [feed.feedNo])
    return
  }
  await pool.query(
    `insert into websub_subscriptions as known (feed_no, hub, topic, token, secret)
     select feed_no, $2, $3, $4, $5 from feeds where feed_no = $1 and active
     on conflict (feed_no) do update
        set hub = excluded.hub, topic = excluded.topic, token = excluded.token, secret = excluded.secret,
            state = 'wanted', next_try_at = clock_timestamp(), failures = 0, lease_until = null, last_error = null
      where known.hub <> excluded.hub or known.topic <> excluded.topic`,
    [feed.feedNo, hub, topic, randomToken(), randomToken()],
  )
}

/** 256 random bits: nobody guesses the address or the signature. */
const randomToken = () => randomBytes(32).toString('base64url')

/** The first pause between two requests to a hub that does not confirm, in ms. It doubles. */
const FIRST_PAUSE = 600_000
const LONGEST_PAUSE = 86_400_000

/**
 * Takes the feed's subscription if the hub is to be asked now. The next request is moved ahead
 * before this one is made, so a crash asks no hub too often. Null: nothing is due.
 */
export async function takeDue(pool: Pool, feed: DueFeed): Promise<DueSubscription | null> {
  const { rows } = await pool.query<DueSubscription>(
    `update websub_subscriptions
        set state = case when state = 'active' and lease_until > clock_timestamp() then 'active' else 'asked' end,
            next_try_at = clock_timestamp() + least($2 * 2 ^ least(failures, 30), $3) * interval '1 ms',
            failures = failures + 1
      where feed_no = $1 and next_try_at <= clock_timestamp()
     returning hub, topic, token, secret`,
    [feed.feedNo, FIRST_PAUSE, LONGEST_PAUSE],
  )
  return rows[0] ?? null
}

export async function noteRefusal(pool: Pool, feed: DueFeed, error: string): Promise<void> {
  await pool.query('update websub_subscriptions set last_error = $2 where feed_no = $1', [feed.feedNo, error])
}
