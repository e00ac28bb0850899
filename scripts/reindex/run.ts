import { setTimeout as pause } from 'node:timers/promises'
import { instantOf } from '#scripts/articles/line'
import { LANGUAGES, type Language } from '#shared/articles/article'
import { countOf, type Pool, type Queryable, readColumn, readRow } from '#shared/postgres/pool'
import { type CommandContext, textOf, UsageError } from '#shared/process/command'

/** The articles to reindex, and the part of them to rebuild. A field that is null selects all. */
export interface Selection {
  what: 'words' | 'vectors' | 'snippets' | 'copies' | 'statements'
  outlet: string | null
  language: Language | null
  /** Published at this time or later. */
  from: Date | null
  /** Published before this time. */
  to: Date | null
  /** The rules to which a start or `migrate` brings all articles; absent: `reindex` was called. */
  renews?: number
}

export const WHAT = ['vectors', 'snippets', 'copies', 'statements'] as const

/** @throws UsageError that says what to write instead */
export function selectionOf(options: CommandContext['options']): Selection {
  const from = instantOf(options, 'from')
  const to = instantOf(options, 'to')
  if (from !== null && to !== null && from >= to)
    throw new UsageError('--from must lie before --to.')
  const what = WHAT.filter(one => options[one] === true)
  if (what.length > 1)
    throw new UsageError(`--${what.join(' and --')} do not go together: run one after the other.`)
  return {
    what: what[0] ?? 'words',
    outlet: textOf(options, 'outlet')?.toLowerCase() ?? null,
    language: languageOf(textOf(options, 'language')),
    from,
    to,
  }
}

function languageOf(text: string | undefined): Language | null {
  if (text === undefined) return null
  const language = LANGUAGES.find(one => one === text.toLowerCase())
  if (language === undefined) throw new UsageError(`--language is one of ${LANGUAGES.join(', ')}.`)
  return language
}

/** A selection whose outlet has been looked up. */
export interface Chosen {
  selection: Selection
  /** null: the articles of all outlets. */
  publisherNos: number[] | null
}

/** @throws UsageError when the outlet has no article */
export async function lookUpOutlet(db: Queryable, selection: Selection): Promise<Chosen> {
  if (selection.outlet === null) return { selection, publisherNos: null }
  const publisherNos = await readColumn<number>(
    db,
    'select publisher_no from publishers where domain = $1',
    [selection.outlet],
  )
  if (publisherNos.length === 0)
    throw new UsageError(`No article is of an outlet with the domain ${selection.outlet}.`)
  return { selection, publisherNos }
}

/** Whether all articles are chosen, not those of an outlet, a language or a time alone. */
export const isWhole = (selection: Selection): boolean =>
  Object.entries(selection).every(([field, value]) => field === 'what' || value === null)

/** The numbers of the chosen articles after `after` up to `last`, ascending, at most `limit`. */
export function chosenSeqs(
  db: Queryable,
  { selection, publisherNos }: Chosen,
  after: bigint,
  last: bigint,
  limit: number,
): Promise<bigint[]> {
  const { language, from, to } = selection
  return readColumn(db, CHOSEN, [after, last, publisherNos, language, from, to, limit])
}

/** The number of chosen articles after `after` up to `last`. */
export async function countChosen(
  db: Queryable,
  { selection, publisherNos }: Chosen,
  after: bigint,
  last: bigint,
): Promise<number> {
  const { language, from, to } = selection
  const values = [after, last, publisherNos, language, from, to, null]
  return countOf(db, `select count(*)::int from (${CHOSEN}) as chosen`, values)
}

// $1 after, $2 last, $3 outlets, $4 language, $5 $6 published from and before, $7 limit. Index: the
// primary key.
const CHOSEN = `
  select seq from articles a
  where seq > $1::bigint and seq <= $2::bigint and not exists (select from tombstones t where t.seq = a.seq)
    and ($3::int[] is null or publisher_no = any ($3::int[]))
    and ($4::text is null or language = $4::text)
    and ($5::timestamptz is null or published_at >= $5::timestamptz)
    and ($6::timestamptz is null or published_at < $6::timestamptz)
  order by seq limit $7::bigint`

/** A reindexing in progress. */
export interface Run {
  last: bigint
  doneTo: bigint
  startedAt: Date
}

const keyOf = (selection: Selection) => JSON.stringify(selection)

export async function beginRun(db: Queryable, selection: Selection): Promise<Run> {
  await db.query(
    `insert into reindex_runs (selection, last_seq) select $1, last_seq from ingest_clock
     on conflict (selection) do update set last_seq = excluded.last_seq, done_to = 0, started_at = clock_timestamp()`,
    [keyOf(selection)],
  )
  return (await findRun(db, selection))!
}

/**
 * The unfinished run of the same command. Articles with numbers above `last` were indexed after its
 * start; articles up to `doneTo` are done.
 */
export async function findRun(db: Queryable, selection: Selection): Promise<Run | null> {
  const run = await readRow<Run>(
    db,
    `select last_seq as last, done_to as "doneTo", started_at as "startedAt" from reindex_runs where selection = $1`,
    [keyOf(selection)],
  )
  return run ?? null
}

/** Records that articles up to a number are done. */
export async function noteDone(db: Queryable, selection: Selection, doneTo: bigint): Promise<void> {
  await db.query('update reindex_runs set done_to = greatest(done_to, $2) where selection = $1', [
    keyOf(selection),
    doneTo,
  ])
}

export async function endRun(db: Queryable, selection: Selection): Promise<void> {
  await db.query('delete from reindex_runs where selection = $1', [keyOf(selection)])
}

export interface Progress {
  articles: number
  segments: number
}

/** The state of a run. */
export interface Work {
  pool: Pool
  chosen: Chosen
  run: Run
  limit: RateLimit
  /** Called when more articles are done. */
  tell(progress: Progress): void
  say(sentence: string): void
  signal: AbortSignal
}

/**
 * Works through the chosen articles in parts, and records what is done.
 *
 * @param part returns false when it was interrupted
 * @returns whether it is complete
 */
export async function inParts(
  { pool, chosen, run, limit, tell, signal }: Work,
  size: number,
  part: (seqs: bigint[]) => Promise<boolean>,
): Promise<boolean> {
  let articles = 0
  for (let doneTo = run.doneTo; doneTo < run.last; ) {
    if (signal.aborted) return false
    const seqs = await chosenSeqs(pool, chosen, doneTo, run.last, size)
    if (!(await part(seqs))) return false
    doneTo = seqs.length < size ? run.last : seqs.at(-1)!
    await noteDone(pool, chosen.selection, doneTo)
    articles += seqs.length
    tell({ articles, segments: 0 })
    await limit(seqs.length)
  }
  return true
}

/** Waits for the time that this many articles take at the rate of a command. */
export type RateLimit = (articles: number) => Promise<void>

/**
 * Makes a rate limit. Late work does not catch up, because it would then run without pauses, and
 * delay searches.
 *
 * @param rate articles a second; null: no limit
 * @param signal ends a wait
 */
export function createRateLimit(rate: number | null, signal: AbortSignal): RateLimit {
  let due = performance.now()
  return async articles => {
    if (rate === null) return
    due = Math.max(due, performance.now()) + (articles * 1_000) / rate
    await pause(Math.max(0, due - performance.now()), undefined, { signal }).catch(() => {})
  }
}
