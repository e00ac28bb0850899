import { once } from 'node:events'
import { createReadStream, type ReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { lowerPriority, openIndexer } from '#search/indexer'
import { openImporter } from '#search/indexing/import'
import { openArticleWriter } from '#search/indexing/writer'
import type { Importer, Indexer, NewArticle } from '#search/types'
import { openCopyGroups } from '#shared/copies/pass'
import { counted, printableLine } from '#shared/log/printable'
import { readValue } from '#shared/postgres/pool'
import { SEGMENT_THREAD } from '#shared/postgres/segment-thread'
import { type CommandContext, runCommand, UsageError, wholeNumber } from '#shared/process/command'
import { dropPrivileges } from '#shared/process/privileges'
import { badInWords, type Group, orSilence, readGroups } from './articles/groups.ts'
import { type Notes, noNotes } from './articles/line.ts'
import { KNOWN_COLUMNS, readMapping } from './articles/mapping.ts'
import { openArticleReader } from './articles/reader.ts'
import { formatOf, recordsOf } from './articles/records.ts'
import { whileAway } from './articles/while-away.ts'
import { createRateLimit, type RateLimit } from './reindex/run.ts'
import { importBar, type ProgressBar } from './terminal/terminal.ts'

/*
 * An import has two modes. As fast as possible, it stores whole segments, which searches use at
 * once. At a rate, it writes small batches, as a crawl does, so that searches beside it stay quick.
 */

/**
 * The highest rate, in articles a second. Articles at a rate do not wait for segments, so they must
 * arrive more slowly than segments are made.
 */
const MOST_PER_SECOND = 500

/**
 * How many articles are indexed together when a rate is set. Every process that searches reads new
 * articles before it answers, so a search may wait for a whole batch.
 */
const BATCH = 16

/** ms after which articles of a slow pipe are written although they do not fill a segment. */
const PATIENCE = 2_000
/**
 * ms after which articles of a steady pipe are written. To fill a segment of 4,096 may take an
 * hour.
 */
const OLDEST = 5_000

/** The most ignored fields that are told. */
const MOST_TOLD = 20

/** ms that an interrupted import waits for its last writes. */
const LAST_WRITES = 10_000

await runCommand(
  {
    name: 'import',
    words: true,
    about: [
      'Indexes articles: one JSON object a line with the fields of the article object (authors as names, outlet as name',
      'and domain), plus `body`, which may hold HTML unless `plain` is true. A given `ingested_at` is kept, also null, and',
      'must not lie in the future; the default is now. `id` is kept when it is free. An article whose address the outlet',
      'already has is skipped. A title is cut at 500 characters, a body at 500,000, as those of pages are. `rights`, as',
      'export writes it, bounds an article here as there. A bad line is reported by its number and skipped. Exit code: 0',
      'when all lines were good, else 1.',
      '',
      'A line: {"url": "https://krant.example/a/1", "title": "Regering valt", "body": "<p>Het kabinet …</p>",',
      '"published_at": "2024-02-29T09:00:00Z", "authors": ["Jan Jansen"], "outlet": {"name": "Krant", "domain":',
      '"krant.example"}, "language": "nl", "country": "NL"}',
      '',
      '`section`, `kind` (news, opinion, live, analysis, review) and `access` (free, paid) are what the outlet says of it.',
      'Fields that it does not know are counted and told. A `published_at` more than 24 hours ahead is told, and null. Of CSV',
      'and JSON arrays it knows the columns of Media Cloud, AmCAT and 4CAT, and those of export; `outlet_name` and',
      '`outlet_domain` stand for outlet, whose domain is else that of the address.',
      '',
      'It takes all the processor time that it can get, so searches on the same machine are slower meanwhile. With `--rate`',
      'it takes a part only, and longer.',
    ].join('\n'),
    usage: [
      'FILE.ndjson [--rate N] [--dry-run] [--json]',
      'FILE.csv --default country=NL,language=nl [--map text=body]',
      'FILE.ndjson.gz',
      '- [--format ndjson|csv|json]      (standard input)',
    ],
    options: {
      rate: {
        value: 'N',
        about: `indexes at most N articles a second, from 1 to ${MOST_PER_SECOND}`,
      },
      format: {
        value: 'ndjson|csv|json',
        about: 'the form of FILE; by default its ending says it: .csv, .tsv, .json (one array)',
      },
      map: {
        value: 'NAME=FIELD,…',
        about: 'fields of FILE that have another name, as text=body,date=published_at',
      },
      default: {
        value: 'FIELD=VALUE,…',
        about: 'values of fields that a line does not have, as country=NL,language=nl',
      },
      json: {
        about: 'prints {"indexed", "known", "removed", "bad", "ignored", "ahead"} at the end',
      },
      'dry-run': { about: 'reads all lines and reports the bad ones; indexes nothing' },
    },
    needs: ['DATABASE_URL'],
  },
  async context => {
    const [file, ...rest] = context.positionals
    if (file === undefined || rest.length > 0)
      throw new UsageError('Name one file, or - for standard input.')
    const rate = wholeNumber('rate', context.options.rate, MOST_PER_SECOND)
    const found = file === '-' ? null : await stat(file)
    const isPipe = found?.isFile() !== true
    const source = file === '-' ? process.stdin : await openFile(file)
    // Gives searches priority. They already wait while they read the new articles, and must not
    // also wait for processors.
    lowerPriority()
    const problem = dropPrivileges()
    if (problem !== null) context.say(problem)
    const stream = file.endsWith('.gz') ? source.pipe(createGunzip()) : source
    source.on('error', (error: Error) => stream.destroy(error))
    const dryRun = context.options['dry-run'] === true
    const ahead = dryRun ? 0 : await databaseAhead(context)
    const format = formatOf(file, context.options.format)
    const { map, default: defaults } = context.options
    const mapping = readMapping(map, defaults, format !== 'ndjson')
    const reader = openArticleReader({ prepare: !dryRun, ahead, mapping })
    const bar = importBar(isPipe || file.endsWith('.gz') ? null : found.size)
    const warn = await unnamedWarning(context, dryRun, sentence => bar.say(sentence))
    const input = { groups: readGroups(stream, reader, recordsOf(format)), bar, isPipe, warn }
    try {
      const counts = dryRun
        ? await readThrough(context, input)
        : await importAll(context, input, rate)
      return report(context, counts, dryRun)
    } finally {
      await reader.close()
    }
  },
)

/** ms by which the clock of the database is ahead of ours. No line may have a later time. */
function databaseAhead(context: CommandContext): Promise<number> {
  const pool = context.openPool({ max: 1 })
  const ahead = async () =>
    (await readValue<Date>(pool, 'select clock_timestamp()'))!.getTime() - Date.now()
  return whileAway(ahead, context)
}

interface Input {
  groups: AsyncIterable<Group>
  bar: ProgressBar
  /** Whether lines may arrive slowly, and without an end. */
  isPipe: boolean
  /** Is told of all articles. */
  warn(articles: readonly NewArticle[]): void
}

function noCounts(): ImportCounts {
  return { good: 0, bad: 0, indexed: 0, known: 0, removed: 0, notes: noNotes() }
}
/**
 * Counts of lines with and without a valid article, and of articles that are new, known, or were
 * taken out by an operator.
 */
interface ImportCounts {
  good: number
  bad: number
  indexed: number
  known: number
  removed: number
  notes: Notes
}

async function openFile(file: string): Promise<ReadStream> {
  const source = createReadStream(file, { highWaterMark: 1 << 20 })
  await once(source, 'open')
  return source
}

/** Reads the articles without indexing them. */
async function readThrough({ signal }: CommandContext, input: Input): Promise<ImportCounts> {
  const counts = noCounts()
  try {
    for await (const group of input.groups) {
      countLines(counts, group, input)
      input.bar.update(group.end, { articles: counts.good })
      if (signal.aborted) break
    }
  } finally {
    input.bar.stop()
  }
  return counts
}

/** Indexes articles in small batches, with the pauses that the rate demands. */
async function addAtRate(
  importer: Importer,
  articles: NewArticle[],
  limit: RateLimit,
  signal: AbortSignal,
) {
  for (let from = 0; from < articles.length && !signal.aborted; from += BATCH) {
    await limit(await importer.writeSingly(articles.slice(from, from + BATCH)))
  }
}

/**
 * Yields null, for a write, when articles have waited for `OLDEST` ms. Only the time in which we
 * wait for lines counts. The time of our own writing does not, because a quick pipe soon fills its
 * next segment.
 */
async function* bounded(
  groups: AsyncIterable<Group | null>,
  importer: Importer,
): AsyncGenerator<Group | null> {
  let silent = 0
  let waiting = 0
  let since = performance.now()
  for await (const group of groups) {
    silent += performance.now() - since
    yield group
    // When fewer articles wait than before, a segment was written.
    if (importer.waiting() === 0 || importer.waiting() < waiting) silent = 0
    else if (silent >= OLDEST) yield null
    waiting = importer.waiting()
    since = performance.now()
  }
}

/** @param perSecond articles; null: as many as possible */
async function importAll(context: CommandContext, input: Input, perSecond: number | null) {
  const { groups, bar, isPipe } = input
  const { signal } = context
  const limit = createRateLimit(perSecond, signal)
  const counts = noCounts()
  try {
    await withImporter(context, counts, async (importer, indexer) => {
      // Only a pipe can be silent. The next lines of a file are always there, even if a busy
      // machine reads them slowly.
      for await (const group of isPipe ? bounded(orSilence(groups, PATIENCE), importer) : groups) {
        if (signal.aborted) return
        if (group === null) {
          await importer.flush()
          continue
        }
        countLines(counts, group, input)
        if (perSecond === null) await importer.add(group.articles)
        else await addAtRate(importer, group.articles, limit, signal)
        bar.update(group.end, { articles: counts.indexed + counts.known + counts.removed })
        if (signal.aborted) return
      }
      if (perSecond !== null) bar.say('Making the last segments …')
      const finishing =
        perSecond === null ? importer.flush() : whileAway(() => indexer.finish('all'), context)
      // After an interruption nobody has to wait, because the next process that writes makes the
      // segments.
      await Promise.race([finishing, once(signal, 'abort')])
    })
  } finally {
    bar.stop()
  }
  return counts
}

/**
 * Says once of each outlet of the catalogue that a line has its domain without its name. An outlet
 * is known by both, so such articles are counted and shown as of another one.
 */
async function unnamedWarning(
  context: CommandContext,
  dryRun: boolean,
  say: (sentence: string) => void,
): Promise<Input['warn']> {
  const pool = context.openPool({ max: 1 })
  const text = 'select domain, name from outlets'
  const read = () => pool.query<{ domain: string; name: string }>(text)
  // Nothing else of a dry run needs the database.
  const known = await (dryRun ? read().catch(() => null) : whileAway(read, context))
  if (known === null) {
    say('The catalogue cannot be read, so names of outlets are not compared with it.')
    return () => {}
  }
  const names = new Map(known.rows.map(({ domain, name }) => [domain, name]))
  return articles => {
    for (const { outlet } of articles) {
      const { domain } = outlet
      const name = outlet.name === null && domain !== null ? names.get(domain) : undefined
      if (domain === null || name === undefined) continue
      names.delete(domain)
      say(
        `${domain} is "${name}" in the catalogue: lines without this outlet.name are shown as of another outlet; write it in them before you import.`,
      )
    }
  }
}

function countLines(
  counts: ImportCounts,
  { articles, bad, notes }: Group,
  { bar, warn }: Input,
): void {
  warn(articles)
  for (const sentence of badInWords(bad)) bar.say(sentence)
  counts.bad += bad.length
  counts.good += articles.length
  counts.notes.ahead += notes.ahead
  const { ignored } = counts.notes
  for (const [name, lines] of notes.ignored) ignored.set(name, (ignored.get(name) ?? 0) + lines)
}

/** What an operator should know about good lines, a sentence each. */
function notesInWords({ ignored, ahead }: Notes): string[] {
  const often = [...ignored].sort(([, a], [, b]) => b - a)
  const told = often.slice(0, MOST_TOLD).map(([name, lines]) => {
    const known = name.toLowerCase()
    const meant = Object.hasOwn(KNOWN_COLUMNS, known) ? KNOWN_COLUMNS[known] : undefined
    const hint = meant === undefined ? '.' : `; did you mean \`${meant}\`? --map ${name}=${meant}`
    return `\`${printableLine(name)}\` ignored in ${counted(lines, 'line')}${hint}`
  })
  const late = `\`published_at\` lies more than 24 hours ahead in ${counted(ahead, 'line')}: indexed without it.`
  return ahead > 0 ? [...told, late] : told
}

/** Opens everything that indexing needs, and closes it after `work`. */
async function withImporter(
  context: CommandContext,
  counts: ImportCounts,
  work: (importer: Importer, indexer: Indexer) => Promise<void>,
): Promise<void> {
  const { config } = context
  const pool = context.openPool({ statementTimeout: 0 })
  const indexer = openIndexer(pool, SEGMENT_THREAD)
  const embedDelay = config.EMBED_DELAY
  const groups = openCopyGroups(pool)
  // Finds groups while the thread makes the next segment. The pass at the end repeats what failed.
  let grouping: Promise<void> | null = null
  const importer = openImporter({
    pool,
    indexer,
    embedDelay,
    writer: openArticleWriter({ pool, indexer, embedDelay }),
    patiently: work => whileAway(work, context),
    written({ indexed, known, removed }) {
      counts.indexed += indexed
      counts.known += known
      counts.removed += removed
      grouping ??= groups
        .pass(context.signal)
        .catch(() => {})
        .finally(() => {
          grouping = null
        })
    },
  })
  try {
    await work(importer, indexer)
  } finally {
    await indexer.close()
    // An interrupted import waits for the segment that is being written and counts it, unless that
    // takes long.
    await Promise.race([importer.stop(), pause(LAST_WRITES, undefined, { ref: false })])
  }
  await grouping
  await whileAway(() => groups.pass(context.signal), context)
}

function report(
  { options, print, say, signal }: CommandContext,
  { good, bad, indexed, known, removed, notes }: ImportCounts,
  dryRun: boolean,
): number {
  const ignored = Object.fromEntries(notes.ignored)
  if (options.json) print(JSON.stringify({ indexed, known, removed, bad, ...notes, ignored }))
  for (const sentence of notesInWords(notes)) say(sentence)
  if (dryRun) {
    say(`${counted(good, 'good line')}, ${counted(bad, 'bad one')}; nothing is indexed.`)
  } else {
    const knownToo = known > 0 ? `, ${known} known already` : ''
    const removedToo = removed > 0 ? `, ${removed} taken out before` : ''
    say(
      `${signal.aborted ? 'Interrupted. ' : ''}Indexed ${counted(indexed, 'article')}${knownToo}${removedToo}; ${counted(bad, 'bad line')} skipped.`,
    )
  }
  return bad > 0 || signal.aborted ? 1 : 0
}
