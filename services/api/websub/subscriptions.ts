import type { Queryable } from '../../../shared/postgres/pool.ts'

/** The longest and the shortest lease that we believe, in seconds. */
const LEASES = { shortest: 300, longest: 90 * 86_400 }
/** The part of a lease after which we ask for another one. */
const RENEWED_AFTER = 0.8

/**
 * Confirms a subscription that we asked for (W3C WebSub §5.3). Index: the unique token.
 *
 * @param seconds the lease that the hub grants
 * @returns false: we did not ask for it
 */
export async function confirm(db: Queryable, token: string, topic: string, seconds: number): Promise<boolean> {
  const lease = Math.min(Math.max(seconds, LEASES.shortest), LEASES.longest)
  const { rowCount } = await db.query(
    `update websub_subscriptions w
        set state = 'active', failures = 0, last_error = null,
            lease_until = clock_timestamp() + $3 * interval '1 s',
            next_try_at = clock_timestamp() + $3 * $4 * interval '1 s'
       from feeds f
      where w.token = $1 and w.topic = $2 and w.state in ('asked', 'active')
        and f.feed_no = w.feed_no and f.active`,
    [token, topic, lease, RENEWED_AFTER],
  )
  return rowCount === 1
}

/** Notes that the hub refuses the subscription (§5.2). The next poll after a day asks again. */
export async function deny(db: Queryable, token: string, topic: string, reason: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update websub_subscriptions
        set state = 'denied', last_error = $3, next_try_at = clock_timestamp() + interval '1 day'
      where token = $1 and topic = $2`,
    [token, topic, reason],
  )
  return rowCount === 1
}

/** The secret of a subscription; null: there is none, or its feed has left the catalogue. */
export async function secretOf(db: Queryable, token: string): Promise<string | null> {
  const { rows } = await db.query<{ secret: string }>(
    `select w.secret from websub_subscriptions w join feeds f using (feed_no) where w.token = $1 and f.active`,
    [token],
  )
  return rows[0]?.secret ?? null
}

/** Shortest time between two polls that a hub causes, in ms. */
const SHORTEST = 10_000

/**
 * Makes the feed due, as soon as its last poll is ten seconds old. A feed that fails keeps its
 * back-off. A poll that is under way looks at `rung_at` when it ends.
 */
export async function ring(db: Queryable, token: string): Promise<void> {
  await db.query(
    `with rung as (
       update websub_subscriptions set rung_at = clock_timestamp() where token = $1 returning feed_no
     )
     update feeds f
        set next_poll_at = least(next_poll_at, greatest(clock_timestamp(), last_polled_at + $2 * interval '1 ms'))
       from rung where f.feed_no = rung.feed_no and f.active and f.failures = 0 and not f.parsing`,
    [token, SHORTEST],
  )
}
