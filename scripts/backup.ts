import { existsSync } from 'node:fs'
import { counted } from '../shared/log/counted.ts'
import { createPool } from '../shared/postgres/pool.ts'
import { runCommand, UsageError } from '../shared/process/command.ts'
import { writeBackup } from './backup/dump.ts'
import { confirm } from './terminal/confirm.ts'

await runCommand(
  {
    name: 'backup',
    about: [
      'Writes the whole database to FILE, as of one moment, while everything runs: articles, crawl memory, open work, keys and',
      'quotas. Vectors are not in it; the embedder compares them after a restore and embeds missing ones again. FILE holds the',
      "hashes of keys: keep it to yourself. It is an archive of pg_dump's custom format.",
    ].join('\n'),
    usage: ['FILE [--yes] [--json]'],
    options: {
      yes: { type: 'boolean', about: 'overwrites FILE without asking' },
      json: { type: 'boolean', about: 'prints {"file", "bytes", "articles", "schema", "made_at", "seconds"}' },
    },
    needs: ['DATABASE_URL'],
  },
  async ({ config, positionals: [file, ...rest], options, print, say, signal }) => {
    if (file === undefined || rest.length > 0) throw new UsageError('Name the file to write.')
    if (existsSync(file) && options.yes !== true && !(await confirm(`${file} exists. Overwrite it?`, signal))) {
      throw new UsageError(`${file} exists; name another file, or add --yes.`)
    }
    const start = performance.now()
    const pool = createPool(config.DATABASE_URL, 'backup', () => {}, { max: 1, mayBeStandby: true })
    try {
      const { bytes, articles, schema, made_at } = await writeBackup({
        databaseUrl: config.DATABASE_URL,
        ...{ pool, file, signal, say },
      })
      const seconds = Math.round((performance.now() - start) / 1_000)
      if (options.json === true) print(JSON.stringify({ file, bytes, articles, schema, made_at, seconds }))
      say(
        `Wrote ${file}: ${counted(articles, 'article')} as of ${made_at}, ${(bytes / 1_000_000).toFixed(1)} MB, in ${seconds} s.`,
      )
    } finally {
      await pool.end()
    }
  },
)
