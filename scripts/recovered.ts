import { counted } from '#shared/log/printable'
import { type Pool, readValue, UNFINISHED } from '#shared/postgres/pool'
import { runCommand, UsageError } from '#shared/process/command'
import { instantOf } from './articles/line.ts'
import { checkNobodyConnected, compareVectors, goOn, keepRefusals } from './backup/database.ts'
import { addKept, readRemovals, takeOutAgain } from './backup/removals.ts'

/**
 * ms by which `--seen` may be ahead of our clock. Clocks of servers differ by seconds. A time far
 * ahead is a typing error.
 */
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
        value: 'T',
        about: 'newest `ingested_at` that a client has; default: the time of the server',
      },
      json: { about: 'prints {"articles", "last", "clock", "vectors"}' },
    },
    needs: ['DATABASE_URL'],
  },
  async ({ config, options, print, say, openPool, signal }) => {
    const seen = instantOf(options, 'seen')
    if ((seen?.getTime() ?? 0) > Date.now() + MOST_AHEAD)
      throw new UsageError(`--seen ${options.seen} is more than a day ahead.`)
    const pool = openPool({ max: 2, statementTimeout: 0, mayBeStandby: true })
    await checkWritable(pool)
    await checkNobodyConnected(pool, 'recovered')
    const removals = await readRemovals(config.BACKUP_FOLDERS)
    // Until `goOn`, services that start are refused, as they are while a restore runs.
    await pool.query(`create schema if not exists ${UNFINISHED}`)
    await checkNobodyConnected(pool, 'recovered')
    await keepRefusals(pool)
    await addKept(pool, removals)
    const again = await takeOutAgain(pool, removals)
    const { articles, last, clock } = await goOn(pool, seen)
    const vectors = await compareVectors(pool, config, 'this moment', signal)
    if (options.json) print(JSON.stringify({ articles, last, clock, vectors }))
    say(`The database holds ${counted(articles, 'article')}, the last one of ${last ?? 'never'}.`)
    say(`New articles are stamped after ${clock}. Cursors from before the recovery are refused.`)
    say(vectors)
    say(
      'Snippets and vectors that `npm run outlets -- rights DOMAIN --apply` removed later are back; run it again.',
    )
    say(
      'Keys that were revoked later may be valid again, and addresses that unsubscribed later are told again;',
    )
    say('see `npm run keys -- list` and `npm run alerts -- list`.')
    return (await again.end(config, say, signal)) ? 0 : 1
  },
)

/** @throws UsageError while the server still replays its log */
async function checkWritable(pool: Pool): Promise<void> {
  if (!(await readValue<boolean>(pool, 'select pg_is_in_recovery()'))) return
  throw new UsageError(
    'The server still replays its log; when the moment is right, run `select pg_wal_replay_resume()` there, and then this again.',
  )
}
