import { ArchiveFailure } from '#search/archive/client'
import type { Doomed, Removal } from '#search/types'
import { findArticles, namedBy } from '#shared/articles/find'
import { counted, printableLine } from '#shared/log/printable'
import { countOf, type Pool, readValue } from '#shared/postgres/pool'
import {
  type CommandContext,
  runCommand,
  sentenceOf,
  textOf,
  UsageError,
} from '#shared/process/command'
import { reasonOf } from '#shared/process/health'
import { finishRemovals, listRemovals } from '#shared/removals/list'
import { refuseOlderWriters } from '#shared/removals/locks'
import {
  BATCH,
  countOfOutlet,
  countStanding,
  nextOfOutlet,
  releaseArticle,
  removeArticles,
  reopenRemoved,
} from '#shared/removals/remove'
import { openStores } from '#shared/removals/stores'
import { VectorFailure } from '#shared/vectors/store'
import { countFeedsWith } from './articles/feeds-with.ts'
import { instantOf } from './articles/line.ts'
import { prove } from './articles/proof.ts'
import { articlesBar, columns, confirm } from './terminal/terminal.ts'

/** The most characters of a reason. */
const REASON = 1_000

const LIST = `
  select number, id, country, removed_at as "removedAt", cleared_at as "clearedAt",
         released_at as "releasedAt", reason from tombstones where number > $1 order by number limit 1000`

await runCommand(
  {
    name: 'articles',
    words: true,
    about: [
      'Takes articles out for good, as after the order of a court. From the commit on no search, page, count or suggestion',
      'shows them; then their vectors and their words in segments go, and the command ends when nothing is left. They are',
      'not crawled or imported again. `clear` goes on where a command was ended, `list` says what was taken out, and',
      '`release` frees the addresses of an article. `proof` writes a file for whom it concerns: what went, where and when,',
      'and what remains for how long.',
    ].join('\n'),
    usage: [
      'remove ID|URL… --reason TEXT [--dry-run] [--yes] [--json]',
      'remove --outlet DOMAIN [--published-before TIME] --reason TEXT [--dry-run] [--yes] [--json]',
      'clear [--json]',
      'list [--json]',
      'release ID',
      'proof ID [--out FILE] [--json]',
    ],
    options: {
      reason: { value: 'TEXT', about: 'remove: why; shown to operators alone' },
      outlet: { value: 'DOMAIN', about: 'remove: all articles of this outlet' },
      'published-before': {
        value: 'TIME',
        about: 'remove --outlet: those published earlier alone',
      },
      yes: {
        about: 'remove: takes several out without asking at a terminal (elsewhere it never asks)',
      },
      'dry-run': { about: 'remove: says where the articles stand, and changes nothing' },
      out: {
        value: 'FILE',
        about:
          'proof: writes FILE, or prints it for "-"; removal-N.txt by default, with --json none',
      },
      json: { about: 'list: one JSON object a line; the others: one object at the end' },
    },
    needs: ['DATABASE_URL'],
  },
  async context => {
    const [verb, ...words] = context.positionals
    const pool = context.openPool({ statementTimeout: 0 })
    if (verb === 'remove') return remove(context, pool, words)
    if (verb === 'clear' && words.length === 0) return clear(context, pool)
    if (verb === 'list' && words.length === 0) return list(context, pool)
    if (verb === 'release' && words.length === 1) return release(context, pool, words[0]!)
    if (verb === 'proof' && words.length === 1)
      return (await prove(context, pool, words[0]!)) ? 0 : 1
    if (verb === 'release' || verb === 'proof')
      throw new UsageError(`${verb} takes the id of one article; \`articles -- list\` has them.`)
    throw new UsageError('Write remove, clear, list, release or proof; see --help.')
  },
)

async function remove(context: CommandContext, pool: Pool, words: string[]): Promise<number> {
  const { config, options, say, signal } = context
  const reason = textOf(options, 'reason') ?? ''
  const dryRun = options['dry-run'] === true
  if (!dryRun && (reason === '' || reason.length > REASON))
    throw new UsageError(`Write why, in at most ${REASON} characters: --reason TEXT.`)
  if (!dryRun) await refuseOlderWriters(pool, 44)
  const choose = await chooserOf(context, pool, words)
  if (dryRun) return preview(context, pool, choose)
  await openStores(pool, config)
  if (choose.total > 1 && !options.yes) {
    const question = `Take ${counted(choose.total, 'article')} out for good?`
    if ((await confirm(question, signal)) === false) throw new UsageError('Nothing was changed.')
  }
  const bar = articlesBar(choose.total)
  const removals: Removal[] = []
  const standing = countStanding(pool)
  for await (const part of choose.parts) {
    if (signal.aborted) break
    await standing.add(part)
    removals.push(...(await removeArticles(pool, part, reason)))
    bar.update(standing.counts().articles ?? 0)
  }
  bar.stop()
  const { isListed, left, failure } = await finish(context, pool)
  tell(context, { dryRun, standing: standing.counts(), removals, left, unknown: choose.unknown })
  if (failure !== null) say(failure)
  else if (left > 0 || signal.aborted) say('It is not done yet: run the same command again.')
  return left > 0 || signal.aborted || choose.unknown.length > 0 || !isListed ? 1 : 0
}

/** @returns `failure`: why something is left outside the database; null: nothing failed */
async function finish(
  { config, say, signal }: CommandContext,
  pool: Pool,
): Promise<{ isListed: boolean; left: number; failure: string | null }> {
  try {
    return { ...(await finishRemovals(pool, config, say, signal)), failure: null }
  } catch (error) {
    if (error instanceof UsageError) throw error
    const left = await countOf(
      pool,
      'select count(*)::int from tombstones where cleared_at is null',
    )
    const why =
      error instanceof VectorFailure
        ? `Vectors are left, because Qdrant ${reasonOf(error)} (QDRANT_URL, QDRANT_API_KEY)`
        : error instanceof ArchiveFailure
          ? `Documents of the archive index are left (${sentenceOf(error)})`
          : `Something is left beside them (${sentenceOf(error)})`
    const failure = `No search shows what was taken out. ${why}: mend that, then run "npm run articles -- clear"; an embedder also clears it, within half an hour.`
    return { isListed: false, left, failure }
  }
}

async function clear(context: CommandContext, pool: Pool): Promise<number> {
  await reopenRemoved(pool, context.signal)
  const { isListed, left, failure } = await finish(context, pool)
  if (context.options.json) context.print(JSON.stringify({ left, listed: isListed }))
  context.say(
    failure !== null
      ? failure
      : left === 0
        ? 'Nothing is left of what was taken out.'
        : `${counted(left, 'article')} still to be cleared: run the same command again.`,
  )
  return left === 0 && isListed ? 0 : 1
}

/** Says where the articles stand. */
async function preview(context: CommandContext, pool: Pool, choose: Chosen): Promise<number> {
  const standing = countStanding(pool)
  const seqs = new Set<bigint>()
  for await (const part of choose.parts) {
    if (context.signal.aborted) break
    await standing.add(part)
    for (const { seq } of part) seqs.add(seq)
  }
  const all = { ...standing.counts(), feeds: await countFeedsWith(pool, context.config, seqs) }
  tell(context, { dryRun: true, standing: all, removals: [], left: 0, unknown: choose.unknown })
  return context.signal.aborted || choose.unknown.length > 0 ? 1 : 0
}

/** Which articles are to go, in parts. */
interface Chosen {
  total: number
  /** Words that name none. */
  unknown: string[]
  parts: Iterable<Doomed[]> | AsyncIterable<Doomed[]>
}

async function chooserOf(
  { options, signal }: CommandContext,
  pool: Pool,
  words: string[],
): Promise<Chosen> {
  const domain = textOf(options, 'outlet')?.toLowerCase()
  const before = instantOf(options, 'published-before')
  if (domain === undefined) {
    if (before !== null) throw new UsageError('--published-before goes with --outlet.')
    if (words.length === 0) throw new UsageError('Name articles by id or address; see --help.')
    const { found, unknown } = await findArticles(pool, words.map(namedBy))
    return { total: found.length, unknown, parts: inParts(found) }
  }
  if (words.length > 0) throw new UsageError('Name articles, or an outlet, but not both.')
  await refuseUnknown(pool, domain)
  // Crawlers may bring articles while an operator reads the question. The command leaves those.
  const upTo = (await readValue<bigint>(pool, 'select last_seq from ingest_clock')) ?? 0n
  const total = await countOfOutlet(pool, domain, before)
  async function* parts() {
    for (let after = 0n; !signal.aborted; ) {
      const part = await nextOfOutlet(pool, domain!, before, { after, upTo })
      if (part.length === 0) return
      after = part.at(-1)!.seq
      yield part
    }
  }
  return { total, unknown: [], parts: parts() }
}

/** @throws UsageError when no outlet has, or had, a domain */
async function refuseUnknown(pool: Pool, domain: string): Promise<void> {
  const known = `select exists (select from publishers where outlet = $1 or domain = $1) or exists (select from outlets where domain = $1)`
  if (!(await readValue<boolean>(pool, known, [domain])))
    throw new UsageError(
      printableLine(
        `No article is of an outlet with the domain ${domain}; \`outlets -- list\` has them.`,
      ),
    )
}

function* inParts(articles: Doomed[]) {
  for (let from = 0; from < articles.length; from += BATCH) yield articles.slice(from, from + BATCH)
}

interface Told {
  dryRun: boolean
  standing: Record<string, number>
  removals: Removal[]
  left: number
  unknown: string[]
}

function tell({ options, print, say }: CommandContext, told: Told): void {
  const { dryRun, standing, removals, left, unknown } = told
  if (options.json) {
    const all = removals.map(({ number, id, removedAt }) => ({
      number: Number(number),
      id,
      removed_at: removedAt,
    }))
    print(JSON.stringify({ dry_run: dryRun, ...standing, removals: all, left, unknown }))
  }
  for (const word of unknown) say(printableLine(`No article has the id or the address ${word}.`))
  const {
    articles = 0,
    groups = 0,
    sets = 0,
    citations = 0,
    alerts = 0,
    pages = 0,
    feeds,
  } = standing
  const where = [
    counted(groups, 'group of copies', 'groups of copies'),
    counted(sets, 'candidate set'),
    counted(citations, 'citation'),
    ...(feeds === undefined ? [] : [counted(feeds, 'feed')]),
    `messages of ${counted(alerts, 'alert')}`,
    counted(pages, 'page'),
  ].join(', ')
  if (dryRun) {
    say(
      `${counted(articles, 'article')} would go. ${articles === 1 ? 'It stands' : 'They stand'} in ${where}.`,
    )
    return
  }
  const before = articles - removals.length
  const again = before > 0 ? `; ${before} ${before === 1 ? 'was' : 'were'} taken out before` : ''
  const they = articles === 1 ? 'It' : 'They'
  say(`Took out ${counted(removals.length, 'article')}${again}. ${they} stood in ${where}.`)
}

interface Row {
  number: bigint
  id: string
  country: string
  removedAt: Date
  clearedAt: Date | null
  releasedAt: Date | null
  reason: string
}

async function list({ options, print, say, signal }: CommandContext, pool: Pool): Promise<void> {
  let count = 0
  for (let after: bigint | undefined = 0n; after !== undefined && !signal.aborted; ) {
    const rows: Row[] = (await pool.query<Row>(LIST, [after])).rows
    count += rows.length
    after = rows.at(-1)?.number
    if (options.json) {
      for (const { number, removedAt, clearedAt, releasedAt, ...row } of rows)
        print(
          JSON.stringify({
            number: Number(number),
            ...row,
            removed_at: removedAt,
            cleared_at: clearedAt,
            released_at: releasedAt,
          }),
        )
    } else if (rows.length > 0) print(columns(rows.map(lineOf)))
  }
  say(count === 0 ? 'No article was taken out.' : `${counted(count, 'article')} taken out.`)
}

function lineOf({ number, id, removedAt, clearedAt, releasedAt, reason }: Row): string[] {
  return [
    String(number),
    id,
    removedAt.toISOString(),
    releasedAt !== null ? 'released' : clearedAt === null ? 'not cleared yet' : 'cleared',
    reason,
  ].map(printableLine)
}

async function release({ config, say }: CommandContext, pool: Pool, id: string): Promise<number> {
  if (!(await releaseArticle(pool, id)))
    throw new UsageError(printableLine(`No article with the id ${id} was taken out.`))
  say('Its addresses are free: a crawl or an import may bring it again, under another id.')
  return (await listRemovals(pool, config.BACKUP_FOLDERS, say)) ? 0 : 1
}
