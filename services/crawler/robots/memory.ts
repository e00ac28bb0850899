import type { Pool } from '../../../shared/postgres/pool.ts'
import { type RobotsRules, readRules, writeRules } from './rules.ts'

/** The rules are known until `until`, a monotonic time. */
export interface RobotsKnown {
  kind: 'known'
  rules: RobotsRules['rules']
  until: number
}

/**
 * The robots.txt is unreachable. Nothing may be fetched for `wait` ms, then it is requested again.
 */
export interface RobotsBlocked {
  kind: 'blocked'
  wait: number
  detail: string
}

/** The state of a host's robots.txt in the database. */
export type KnownRobots = RobotsKnown | RobotsBlocked | { kind: 'unknown'; failures: number }

/** ms. RFC 9309 §2.4 allows a day at most. */
const KEEP = 86_400_000

export async function readMemory(pool: Pool, host: string): Promise<KnownRobots> {
  const { rows } = await pool.query<Row>(
    `select robots, robots_blocked as blocked, robots_failures as failures, last_error as error,
            extract(epoch from robots_until - clock_timestamp())::float8 * 1000 as left
       from hosts where host = $1`,
    [host],
  )
  const [row] = rows
  if (row === undefined) return { kind: 'unknown', failures: 0 }
  if (row.left <= 0) return { kind: 'unknown', failures: row.failures }
  if (row.blocked) return { kind: 'blocked', wait: row.left, detail: row.error ?? 'robots.txt does not answer' }
  return { kind: 'known', rules: readRules(row.robots ?? ''), until: performance.now() + row.left }
}

interface Row {
  robots: string | null
  blocked: boolean
  failures: number
  error: string | null
  left: number
}

/**
 * Saves the rules of a robots.txt. Its Crawl-delay holds from now on. `delay`: CRAWL_HOST_DELAY.
 */
export async function rememberRobots(
  pool: Pool,
  host: string,
  { rules, crawlDelay }: RobotsRules,
  delay: number,
): Promise<RobotsKnown> {
  await pool.query(
    `update hosts
        set robots = $2, crawl_delay = $3::int, robots_until = clock_timestamp() + $4 * interval '1 ms',
            robots_blocked = false, robots_failures = 0,
            free_at = greatest(free_at, clock_timestamp() + (1 + $5::int) * interval '1 ms')
      where host = $1`,
    [host, writeRules(rules), crawlDelay, KEEP, Math.max(delay, crawlDelay ?? 0)],
  )
  return { kind: 'known', rules, until: performance.now() + KEEP }
}

/**
 * Notes that a robots.txt could not be read. Nothing is fetched from the host until it can be read
 * (RFC 9309 §2.3.1.4).
 */
export async function rememberUnreachable(
  pool: Pool,
  host: string,
  wait: number,
  detail: string,
): Promise<RobotsBlocked> {
  await pool.query(
    `update hosts
        set robots_until = clock_timestamp() + $2 * interval '1 ms', robots_blocked = true,
            robots_failures = robots_failures + 1, last_error = $3
      where host = $1`,
    [host, wait, detail],
  )
  return { kind: 'blocked', wait, detail }
}
