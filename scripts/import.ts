import { once } from 'node:events'
import { createReadStream, type ReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { type Indexer, lowerPriority, openIndexer } from '../search/indexer.ts'
import { type Importer, openImporter } from '../search/indexing/import.ts'
import { openArticleWriter } from '../search/indexing/writer.ts'
import { counted } from '../shared/log/printable.ts'
import { createPool } from '../shared/postgres/pool.ts'
import { type CommandContext, runCommand, sentenceOf, UsageError } from '../shared/process/command.ts'
import { dropRights } from '../shared/process/rights.ts'
import { type Group, orSilence, readGroups } from './archive/groups.ts'
import { createRate } from './archive/rate.ts'
import { openArchiveReader } from './archive/reader.ts'
import { whileAway } from './archive/while-away.ts'
import { archiveBar, type ProgressBar } from './terminal/terminal.ts'

/**
 * Articles at a rate do not wait for segments, so they must come more slowly than these are made.
 */
const MOST_PER_SECOND = 500

/** ms after which articles of a slow pipe are written although they make no segment yet. */
const PATIENCE = 2_000

await runCommand(
  {
    name: 'import',
    about: [
      'Indexes an archive: one JSON object a line with the fields of the article object (authors as names, outlet as name',
      'and domain), plus `body`, which may hold HTML unless `plain` is true. A given `ingested_at` is kept, also null, and',
      'must not lie in the future; the default is now. `id` is kept when it is free. An article whose address the outlet',
      'already has is skipped. A bad line is reported by its number and skipped. Exit code: 0 when all lines were good, else 1.',
      '',
      'A line: {"url": "https://krant.example/a/1", "title": "Regering valt", "body": "<p>Het kabinet …</p>",',
      '"published_at": "2024-02-29T09:00:00Z", "authors": ["Jan Jansen"], "outlet": {"name": "Krant", "domain":',
      '"krant.example"}, "language": "nl", "country": "NL"}',
      '',
      'It takes all the processor time that it can get, so searches on the same machine are slower meanwhile. With `--rate`',
      'it takes a part only, and longer.',
    ].join('\n'),
    usage: ['FILE.ndjson [--rate N] [--dry-run] [--json]', 'FILE.ndjson.gz', '-      (standard input)'],
    options: {
      rate: {
        type: 'string',
        value: 'N',
        about: `indexes at most N articles a second, from 1 to ${MOST_PER_SECOND}`,
      },
      json: { type: 'boolean', about: 'prints {"indexed", "known", "bad"} at the end' },
      'dry-run': { type: 'boolean', about: 'reads all lines and reports the bad ones; indexes nothing' },
    },
    needs: ['DATABASE_URL'],
  },
  async context => {
    const [file, ...rest] = context.positionals
    if (file === undefined || rest.length > 0) throw new UsageError('Name one file, or - for standard input.')
    const rate = rateOf(context.options.rate)
    const size = file === '-' ? null : (await stat(file)).size
    const source = file === '-' ? process.stdin : await openFile(file)
    // Searches beside it wait for its articles to be taken in, and must not wait for it as well.
    lowerPriority()
    const problem = dropRights()
    if (problem !== null) context.say(problem)
    const stream = file.endsWith('.gz') ? source.pipe(createGunzip()) : source
    source.on('error', (error: Error) => stream.destroy(error))
    const dryRun = context.options['dry-run'] === true
    const ahead = dryRun ? 0 : await whileAway(() => databaseAhead(context), context)
    const reader = openArchiveReader({ prepare: !dryRun, ahead })
    const archive = { groups: readGroups(stream, reader), bar: archiveBar(file.endsWith('.gz') ? null : size) }
    try {
      const counts = dryRun ? await readThrough(context, archive) : await importArchive(context, archive, rate)
      return report(context, counts, dryRun)
    } finally {
      await reader.close()
    }
  },
)

/** @returns articles a second; null: as many as it can */
function rateOf(option: CommandContext['options'][string]): number | null {
  if (option === undefined) return null
  const rate = Number(option)
  if (Number.isInteger(rate) && rate >= 1 && rate <= MOST_PER_SECOND) return rate
  throw new UsageError(`--rate takes a whole number from 1 to ${MOST_PER_SECOND}.`)
}

/** ms by which the clock of the database is ahead of ours: no line may be from a later time. */
async function databaseAhead({ config, say }: CommandContext): Promise<number> {
  const pool = createPool(config.DATABASE_URL, 'import', error => say(`Postgres: ${sentenceOf(error)}`), { max: 1 })
  try {
    const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now')
    return rows[0]!.now.getTime() - Date.now()
  } finally {
    await pool.end()
  }
}

interface Archive {
  groups: AsyncIterable<Group>
  bar: ProgressBar
}

interface Counts {
  /** Lines that hold an article. */
  good: number
  bad: number
  indexed: number
  /** Articles that the index had already. */
  known: number
}

async function openFile(file: string): Promise<ReadStream> {
  const source = createReadStream(file, { highWaterMark: 1 << 20 })
  await once(source, 'open')
  return source
}

/** Reads the archive and indexes nothing. */
async function readThrough({ signal }: CommandContext, archive: Archive): Promise<Counts> {
  const counts: Counts = { good: 0, bad: 0, indexed: 0, known: 0 }
  try {
    for await (const group of archive.groups) {
      countLines(counts, group, archive.bar)
      archive.bar.update(group.end, { articles: counts.good })
      if (signal.aborted) break
    }
  } finally {
    archive.bar.stop()
  }
  return counts
}

/** @param perSecond articles; null: as many as it can */
async function importArchive(
  context: CommandContext,
  { groups, bar }: Archive,
  perSecond: number | null,
): Promise<Counts> {
  const { signal } = context
  const rate = createRate(perSecond, signal)
  const counts: Counts = { good: 0, bad: 0, indexed: 0, known: 0 }
  try {
    await withImporter(context, counts, async (importer, indexer) => {
      for await (const group of orSilence(groups, PATIENCE)) {
        if (signal.aborted) return
        if (group === null) {
          await importer.flush()
          continue
        }
        countLines(counts, group, bar)
        if (perSecond === null) await importer.add(group.articles)
        else for await (const batch of rate.batches(group.articles)) rate.note(await importer.writeSingly(batch))
        bar.update(group.end, { articles: counts.indexed + counts.known })
        if (signal.aborted) return
      }
      if (perSecond !== null) bar.say('Making the last segments …')
      const finishing = perSecond === null ? importer.flush() : whileAway(() => indexer.finish('all'), context)
      // Whoever interrupts need not wait: the next process that writes makes the segments.
      await Promise.race([finishing, once(signal, 'abort')])
    })
  } finally {
    bar.stop()
  }
  return counts
}

function countLines(counts: Counts, { articles, bad }: Group, bar: ProgressBar): void {
  for (const { number, reason } of bad) bar.say(`Line ${number}: ${reason}`)
  counts.bad += bad.length
  counts.good += articles.length
}

/** Opens all that indexing needs, and closes it after `work`. */
async function withImporter(
  context: CommandContext,
  counts: Counts,
  work: (importer: Importer, indexer: Indexer) => Promise<void>,
): Promise<void> {
  const { config, say } = context
  const pool = createPool(config.DATABASE_URL, 'import', error => say(`Postgres: ${sentenceOf(error)}`), {
    statementTimeout: 0,
  })
  const indexer = openIndexer(pool)
  const embedDelay = config.EMBED_DELAY
  const importer = openImporter({
    ...{ pool, indexer, embedDelay, writer: openArticleWriter({ pool, indexer, embedDelay }) },
    patiently: work => whileAway(work, context),
    written({ indexed, known }) {
      counts.indexed += indexed
      counts.known += known
    },
  })
  try {
    await work(importer, indexer)
  } finally {
    await indexer.close()
    await pool.end()
  }
}

function report(
  { options, print, say, signal }: CommandContext,
  { good, bad, indexed, known }: Counts,
  dryRun: boolean,
): number {
  if (options.json === true) print(JSON.stringify({ indexed, known, bad }))
  if (dryRun) {
    say(`${counted(good, 'good line')}, ${counted(bad, 'bad one')}; nothing is indexed.`)
  } else {
    const knownToo = known > 0 ? `, ${known} known already` : ''
    say(
      `${signal.aborted ? 'Interrupted. ' : ''}Indexed ${counted(indexed, 'article')}${knownToo}; ${counted(bad, 'bad line')} skipped.`,
    )
  }
  return bad > 0 || signal.aborted ? 1 : 0
}
