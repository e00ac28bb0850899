import { counted } from '#shared/log/printable'
import { type Pool, type Queryable, readRow, readValue } from '#shared/postgres/pool'
import type { Report } from './report.ts'

/** What a verification compared, and how long that took. */
interface Compared {
  articles: number
  seconds: number
  /** How many segments were drawn at random; null: all were compared. */
  sample: number | null
}

/** How many verifications are remembered. */
const KEPT = 100

/** Remembers what a verification said. A standby cannot; its primary does not know of it. */
export async function noteVerification(
  pool: Pool,
  { articles, seconds, sample }: Compared,
  report: Report,
): Promise<void> {
  if (await readValue<boolean>(pool, 'select pg_is_in_recovery()')) return
  // Those of a time when the server's clock was ahead would stay the last ones.
  await pool.query('delete from verifications where ended_at > now()')
  const kinds = [...report.kinds.values()].filter(({ mend }) => mend !== null)
  await pool.query(
    `insert into verifications (seconds, articles, sample, differences, kinds) values ($1, $2, $3, $4, $5)`,
    [
      seconds,
      articles,
      sample,
      kinds.reduce((sum, { count }) => sum + count, 0),
      kinds.map(({ kind }) => kind),
    ],
  )
  await pool.query(
    'delete from verifications where ended_at < (select ended_at from verifications order by ended_at desc offset $1 limit 1)',
    [KEPT],
  )
}

interface Verification {
  at: Date
  articles: number
  sample: number | null
  differences: number
  kinds: string[]
}

/** A sentence on the last verification, and whether someone should do something. */
export interface Verified {
  isWell: boolean
  text: string
}

/** Says when the index was verified, and with what result. */
export async function lastVerification(db: Queryable): Promise<Verified> {
  const last = await readRow<Verification>(
    db,
    `select ended_at as at, articles::float8 as articles, sample, differences, kinds
       from verifications order by ended_at desc limit 1`,
  )
  if (last === undefined) return { isWell: false, text: `The index was never verified: ${VERIFY}.` }
  const { at, articles, sample, differences, kinds } = last
  const part = sample === null ? '' : `, ${counted(sample, 'segment')} drawn at random`
  const when = `on ${at.toISOString().slice(0, 16).replace('T', ' ')} UTC (${counted(articles, 'article')}${part})`
  if (differences === 0) return { isWell: true, text: `nothing differed ${when}` }
  return {
    isWell: false,
    text: `${counted(differences, 'difference')} in ${kinds.join(', ')} ${when}: mend what verify named, and ${VERIFY} again.`,
  }
}

const VERIFY = 'run "npm run verify"'
