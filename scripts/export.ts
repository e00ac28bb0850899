import { once } from 'node:events'
import { createPool } from '../shared/postgres/pool.ts'
import { runCommand, sentenceOf, UsageError } from '../shared/process/command.ts'
import { countArchive, readArchive } from './archive/export.ts'
import { readInstant } from './archive/instant.ts'
import { articlesBar } from './terminal/progress-bar.ts'

await runCommand(
  {
    name: 'export',
    about: [
      'Writes all articles to standard output in the format of `import`, one JSON object a line, in the order in which',
      'they became visible. Articles that arrive during the run are left to the next run.',
    ].join('\n'),
    usage: ['[--body] [--ingested-after T] > FILE.ndjson'],
    options: {
      body: { type: 'boolean', about: 'with the whole text' },
      json: { type: 'boolean', about: 'JSON lines, as always' },
      'ingested-after': {
        type: 'string',
        value: 'T',
        about: 'only articles that entered the index at or after T (ISO 8601)',
      },
    },
    needs: ['DATABASE_URL'],
  },
  async ({ config, positionals, options, say, signal }) => {
    if (positionals.length > 0) throw new UsageError('export takes no file name; it writes to standard output.')
    const after = options['ingested-after']
    const ingestedAfter = typeof after === 'string' ? readInstant(after) : null
    if (typeof after === 'string' && ingestedAfter === null) {
      throw new UsageError('--ingested-after must be a date-time such as 2026-11-21T08:30:00Z.')
    }
    const pool = createPool(config.DATABASE_URL, 'export', error => say(`Postgres: ${sentenceOf(error)}`), {
      max: 1,
      statementTimeout: 0,
    })
    // A bar and lines on the same terminal would overwrite each other.
    const bar = process.stdout.isTTY ? null : articlesBar(await countArchive(pool, ingestedAfter))
    let written = 0
    try {
      for await (const { lines, articles } of readArchive(pool, { body: options.body === true, ingestedAfter })) {
        if (signal.aborted) return 1
        written += articles
        bar?.update(written)
        // Waits for a slow reader, because an archive does not fit in memory.
        if (!process.stdout.write(lines)) await once(process.stdout, 'drain')
      }
    } finally {
      bar?.stop()
      await pool.end()
    }
    return 0
  },
)
