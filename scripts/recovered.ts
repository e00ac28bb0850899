import { counted } from '../shared/log/counted.ts'
import { createPool, type Pool, transaction } from '../shared/postgres/pool.ts'
import { runCommand, UsageError } from '../shared/process/command.ts'
import { readInstant } from './archive/instant.ts'
import { checkNobodyConnected } from './backup/connected.ts'
import { compareVectors } from './backup/vectors.ts'

/** Clocks of servers differ by seconds. A time far ahead is a typing error. */
const MOST_AHEAD = 86_400_000

await runCommand(
  {
    name: 'recovered',
    about: [
      'Run this once after a recovery of the database server to an earlier point in time, before any service starts. It moves',
      'the clock of ingestion past everything that clients were shown, ends the pagination sequences that clients are in, and',
      'removes vectors of articles that are gone. Articles, keys and quotas stay as the recovery left them.',
    ].join('\n'),
    usage: ['[--seen T] [--json]'],
    options: {
      seen: {
        type: 'string',
        value: 'T',
        about: 'newest `ingested_at` that a client has; default: the time of the server',
      },
      json: { type: 'boolean', about: 'prints {"articles", "last", "clock", "vectors"}' },
    },
    needs: ['DATABASE_URL'],
  },
  async ({ config, options, print, say, signal }) => {
    const seen = typeof options.seen === 'string' ? instantOf(options.seen) : null
    const pool = createPool(config.DATABASE_URL, 'recovered', () => {}, {
      max: 2,
      statementTimeout: 0,
      mayBeStandby: true,
    })
    try {
      await checkWritable(pool)
      await checkNobodyConnected(pool, 'recovered')
      const { articles, last, clock } = await goOn(pool, seen)
      const vectors = await compareVectors(pool, config, 'this moment', signal)
      if (options.json === true) print(JSON.stringify({ articles, last, clock, vectors }))
      say(`The database holds ${counted(articles, 'article')}, the last one of ${last ?? 'never'}.`)
      say(`New articles are stamped after ${clock}. Cursors from before the recovery are refused.`)
      say(vectors)
      say('Keys that were revoked after the last article may be valid again; see `npm run keys -- list`.')
    } finally {
      await pool.end()
    }
  },
)

function instantOf(text: string): Date {
  const at = readInstant(text)
  if (at === null) throw new UsageError(`--seen "${text}" is no time; write it as 2026-11-23T10:00:00.000Z.`)
  if (at.getTime() > Date.now() + MOST_AHEAD) throw new UsageError(`--seen ${text} is more than a day ahead.`)
  return at
}

/** @throws UsageError while the server still replays its log */
async function checkWritable(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ replays: boolean }>('select pg_is_in_recovery() as replays')
  if (rows[0]?.replays === false) return
  throw new UsageError(
    'The server still replays its log; when the moment is right, run `select pg_wal_replay_resume()` there, and then this again.',
  )
}

/**
 * Makes the database safe to write to after it went back. Numbers of the articles that are gone are
 * given out again. A cursor from before would let new articles with such numbers into its frozen
 * pages, so all cursors end. A poller asks from the last time that it has, so no new article may
 * have that time or an earlier one.
 */
async function goOn(pool: Pool, seen: Date | null): Promise<{ articles: number; last: string | null; clock: string }> {
  return transaction(pool, async client => {
    const before = await client.query<{ articles: number; last: Date | null }>(
      // Not `last_at`: an earlier run of this command has moved it. An import may keep old times.
      `select last_seq::int as articles,
         (select max(ingested_at) from articles where seq > last_seq - 1000 and seq <= last_seq) as last
       from ingest_clock for update`,
    )
    const after = await client.query<{ clock: Date }>(
      `update ingest_clock set last_at = greatest(last_at, date_trunc('milliseconds', clock_timestamp()), $1),
         hidden_after = null, hidden_mark = null, hidden_until = null
       returning last_at as clock`,
      [seen],
    )
    await client.query("delete from secrets where name = 'cursor'")
    await client.query('delete from semantic_sets')
    const { articles = 0, last = null } = before.rows[0] ?? {}
    return { articles, last: last?.toISOString() ?? null, clock: after.rows[0]?.clock.toISOString() ?? '' }
  })
}
