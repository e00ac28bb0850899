import { createPool } from '../shared/postgres/pool.ts'
import { runCommand, sentenceOf, UsageError } from '../shared/process/command.ts'
import { readRanges, withoutSealing } from '../shared/segments/sealing.ts'
import { reindexFresh } from './reindex/fresh.ts'
import { reindexSegment } from './reindex/segments.ts'

await runCommand(
  {
    name: 'reindex',
    about: [
      'Makes the index of words anew from the texts: after an upgrade with another tokenizer, other stop words or stems, or',
      'when the index is not believed. Articles stay as they are; searches go on, and see each part in its old or its new',
      'form. Interrupted, it can be started again.',
    ].join('\n'),
    needs: ['DATABASE_URL'],
  },
  async ({ config, positionals, say, signal }) => {
    if (positionals.length > 0) throw new UsageError('reindex takes no names; it does everything.')
    const pool = createPool(config.DATABASE_URL, 'reindex', error => say(`Postgres: ${sentenceOf(error)}`), {
      statementTimeout: 0,
    })
    try {
      // Fresh articles stay where they are until all is done.
      return await withoutSealing(pool, async () => {
        const ranges = await readRanges(pool)
        for (const [number, range] of ranges.entries()) {
          if (signal.aborted) return 1
          await reindexSegment(pool, range)
          say(`Segment ${number + 1} of ${ranges.length}: articles ${range.first} to ${range.last}.`)
        }
        const fresh = await reindexFresh(pool)
        say(`${fresh} fresh articles. The index is new.`)
        return 0
      })
    } finally {
      await pool.end()
    }
  },
)
