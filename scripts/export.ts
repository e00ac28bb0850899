import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { access, constants, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import product from '#package.json' with { type: 'json' }
import { openArchive } from '#search/archive/archive'
import { openIndex, SEARCH_SETTINGS } from '#search/index'
import { openSemanticSearch } from '#services/api/semantic/search'
import { archiveSettingsOf } from '#shared/config/archive'
import { createLogger } from '#shared/log/logger'
import { counted } from '#shared/log/printable'
import { type Pool, readValue } from '#shared/postgres/pool'
import { type CommandContext, runCommand, UsageError, wholeNumber } from '#shared/process/command'
import {
  countAll,
  createFormat,
  FORMATS,
  type FormatName,
  type Parts,
  readAll,
  readFound,
  readSelection,
  SELECTION_OPTIONS,
  sampled,
} from './articles/export.ts'
import { instantOf } from './articles/line.ts'
import { articlesBar } from './terminal/terminal.ts'

/** The most articles of a sample, which is held in memory. */
const MOST_SAMPLED = 50_000

await runCommand(
  {
    name: 'export',
    about: [
      'Writes articles to standard output: all of them in the order in which they became visible, or those that filters',
      'select, oldest first. Articles that arrive during the run are left to the next run. NDJSON is the format of `import`.',
      'PARAMETERS are those of /explore/articles, such as --q and --country. The format words is a table of the words of at',
      'least 50 articles (CSV: word, articles, times), without those that fewer than five have and without stop words.',
    ].join('\n'),
    usage: [
      '[PARAMETERS] [--ingested-after T] [--body] [--copies] [--format ndjson|csv|parquet | --json] > FILE',
      '--country BE --language fr --format csv --manifest FILE.json > FILE.csv',
      '--q brug --sample 500 --seed 1 > FILE',
      '--q brug --format words > FILE.csv',
    ],
    options: {
      body: { about: 'with the whole text' },
      copies: {
        about: 'with the first article of the same text, and the news agencies that it came from',
      },
      format: { value: FORMATS.join('|'), about: 'what is written; ndjson by default' },
      json: { about: 'JSON lines, the default' },
      sample: {
        value: 'N',
        about: `a random sample of N articles, at most ${MOST_SAMPLED}; the same for the same seed`,
      },
      seed: { value: 'S', about: 'any text, for another sample' },
      manifest: {
        value: 'FILE',
        about:
          'writes to FILE what was exported: query, newest time of ingestion, articles, bytes, SHA-256, version',
      },
      ...SELECTION_OPTIONS,
      'ingested-after': {
        value: 'T',
        about: 'only articles that entered the index at or after T (ISO 8601)',
      },
    },
    needs: ['DATABASE_URL'],
  },
  async context => {
    const { options } = context
    const format = readFormat(options)
    const pool = context.openPool({
      mayBeStandby: true,
      max: 2,
      statementTimeout: 0,
      settings: SEARCH_SETTINGS,
    })
    const { manifest } = options
    // A folder that cannot be written fails here, before a long export, instead of after it.
    if (typeof manifest === 'string') await access(dirname(manifest), constants.W_OK)
    const watermark = typeof manifest === 'string' ? await readWatermark(pool) : null
    const size = wholeNumber('sample', options.sample, MOST_SAMPLED)
    if (size === null && options.seed !== undefined)
      throw new UsageError('--seed goes with --sample N.')
    const { total, parts, close } = await select(context, pool)
    const some = size === null ? parts : sampled(parts, size, String(options.seed ?? ''))
    const out = createOutput()
    const code = await write(context, format, Math.min(total, size ?? total), some, out).finally(
      close,
    )
    if (typeof manifest === 'string' && code === 0) {
      const { json: _json, manifest: _manifest, format: _format, ...query } = options
      const about = {
        version: product.version,
        format,
        query,
        watermark,
        exported_at: new Date().toISOString(),
        ...out.told(),
      }
      await writeFile(manifest, `${JSON.stringify(about, null, 2)}\n`)
    }
    return code
  },
)

function readFormat(options: CommandContext['options']): FormatName {
  const format = FORMATS.find(name => name === (options.format ?? 'ndjson'))
  if (format === undefined) throw new UsageError(`--format is one of ${FORMATS.join(', ')}.`)
  if (options.json && format !== 'ndjson')
    throw new UsageError(`--json and --format ${format} contradict each other; write one of them.`)
  if (format === 'parquet' && process.stdout.isTTY)
    throw new UsageError('Parquet is not for a terminal; write it to a file: … > FILE.parquet.')
  return format
}

interface Selection {
  total: number
  parts: Parts
  close?(): Promise<void>
}

async function select({ config, options }: CommandContext, pool: Pool): Promise<Selection> {
  const body = options.body === true || options.format === 'words'
  const having = { body, copies: options.copies === true }
  const selected = readSelection(options)
  if (selected !== null) {
    const index = openIndex(pool, { elsewhere: openArchive(pool, archiveSettingsOf(config)) })
    if (selected.kind === 'words') {
      const parts = readFound(pool, index, selected.query, having)
      return { total: await index.count(selected.query), parts, close: () => index.close() }
    }
    const semantic = await openSemanticSearch(config, pool, index, createLogger('export', 'silent'))
    const { total } = await semantic.search(selected.query, null)
    const close = async () => void (await Promise.all([semantic.close(), index.close()]))
    return { total, parts: readFound(pool, semantic, selected.query, having), close }
  }
  const ingestedAfter = instantOf(options, 'ingested-after')
  return {
    total: await countAll(pool, ingestedAfter),
    parts: readAll(pool, { ...having, ingestedAfter }),
  }
}

async function write(
  context: CommandContext,
  name: FormatName,
  total: number,
  parts: Parts,
  { print, told }: Output,
) {
  const { options, say, signal } = context
  const format = createFormat(name, {
    body: options.body === true,
    copies: options.copies === true,
  })
  // A bar and lines on the same terminal would overwrite each other.
  const bar = process.stdout.isTTY ? null : articlesBar(total)
  try {
    for await (const lines of parts) {
      if (signal.aborted) return 1
      await print(await format.add(lines), lines.length)
      bar?.update(told().articles)
    }
    await print(await format.end())
  } finally {
    bar?.stop()
  }
  if (process.stderr.isTTY) say(`Wrote ${counted(told().articles, 'article')}.`)
  return 0
}

interface Output {
  /** Waits for a slow reader, because all articles do not fit in memory. */
  print(data: string | Uint8Array, more?: number): Promise<void>
  told(): { articles: number; bytes: number; sha256: string }
}

/** Standard output, with a count and a digest of what was written. */
function createOutput(): Output {
  const hash = createHash('sha256')
  let articles = 0
  let bytes = 0
  return {
    async print(data, more = 0) {
      articles += more
      bytes += Buffer.byteLength(data)
      hash.update(data)
      if (data.length > 0 && !process.stdout.write(data)) await once(process.stdout, 'drain')
    },
    told: () => ({ articles, bytes, sha256: hash.copy().digest('hex') }),
  }
}

/**
 * The newest time of ingestion before the export. A later export continues from it with
 * `--ingested-after`.
 */
async function readWatermark(pool: Pool): Promise<string | null> {
  return (
    (await readValue<Date>(pool, 'select max(ingested_at) from articles'))?.toISOString() ?? null
  )
}
