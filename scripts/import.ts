import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { openIndexer } from '../search/indexer.ts'
import { openArticleWriter } from '../shared/indexing/article-writer.ts'
import { createPool } from '../shared/postgres/pool.ts'
import { runCommand, sentenceOf, UsageError } from '../shared/process/command.ts'
import { dropRights } from '../shared/process/rights.ts'
import { createBoss } from '../shared/queues/delayed-jobs.ts'
import { readGroups } from './import/groups.ts'
import { progressBar } from './import/progress.ts'

await runCommand(
  {
    name: 'import',
    about: [
      'Indexes an archive: one JSON object a line with the fields of the article object (authors as names, outlet as name',
      'and domain), plus `body`, which may hold HTML unless `plain` is true. `ingested_at` is kept if given, null too; else',
      'it is now. `id` is kept when it is free. An address that its outlet is known to have is skipped, unchanged. A bad',
      'line is reported by its number and skipped; exit code 1 then, 0 when all lines were good.',
    ].join('\n'),
    usage: ['FILE.ndjson', 'FILE.ndjson.gz', '-      (standard input)'],
    options: {
      json: { type: 'boolean', about: 'prints {"indexed", "known", "bad"} at the end' },
      'dry-run': { type: 'boolean', about: 'reads all lines and reports the bad ones; indexes nothing' },
    },
    needs: ['DATABASE_URL'],
  },
  async ({ config, positionals: [file, ...rest], options, print, say, signal }) => {
    if (file === undefined || rest.length > 0) throw new UsageError('Name one file, or - for standard input.')
    const size = file === '-' ? null : (await stat(file)).size
    const source = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: 1 << 20 })
    if (file !== '-') await once(source, 'open')
    const problem = dropRights()
    if (problem !== null) say(problem)
    const bar = progressBar(file.endsWith('.gz') ? null : size)
    const pool = createPool(config.DATABASE_URL, 'import', error => say(`Postgres: ${sentenceOf(error)}`), {
      statementTimeout: 0,
    })
    const boss = createBoss(config.DATABASE_URL, error => say(`Delayed jobs: ${sentenceOf(error)}`), {
      supervise: false,
    })
    const indexer = openIndexer(pool)
    const writer = openArticleWriter({ pool, boss, indexer, embedDelay: config.EMBED_DELAY })
    const dryRun = options['dry-run'] === true
    const counts = { indexed: 0, known: 0, bad: 0 }
    let good = 0
    try {
      if (!dryRun) await boss.start()
      const stream = file.endsWith('.gz') ? source.pipe(createGunzip()) : source
      source.on('error', (error: Error) => stream.destroy(error))
      for await (const { articles, bad, end } of readGroups(stream)) {
        for (const { number, reason } of bad) bar.say(`Line ${number}: ${reason}`)
        counts.bad += bad.length
        good += articles.length
        if (dryRun) {
          bar.update(end, good)
          if (signal.aborted) break
          continue
        }
        const results = await writer.write(articles, { bulk: true })
        for (const { outcome } of results) counts[outcome]++
        bar.update(end, counts.indexed + counts.known)
        if (signal.aborted) break
      }
      // What is left for smaller segments, and what is under way: a search is fast when the command
      // has ended.
      if (!signal.aborted && !dryRun) await indexer.finish()
    } finally {
      bar.stop()
      await boss.stop({ graceful: false }).catch(() => {})
      await indexer.close()
      await pool.end()
    }
    if (options.json === true) print(JSON.stringify(counts))
    if (dryRun) {
      say(`${good} good lines, ${counts.bad} bad ones; nothing is indexed.`)
      return counts.bad > 0 || signal.aborted ? 1 : 0
    }
    const known = counts.known > 0 ? `, ${counts.known} known already` : ''
    say(
      `${signal.aborted ? 'Interrupted. ' : ''}Indexed ${counts.indexed} articles${known}; ${counts.bad} bad lines skipped.`,
    )
    return counts.bad > 0 || signal.aborted ? 1 : 0
  },
)
