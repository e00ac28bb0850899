import { openArchive } from '#search/archive/archive'
import { openIndex } from '#search/index'
import { csvRecord } from '#shared/articles/csv'
import { archiveSettingsOf } from '#shared/config/archive'
import type { Pool } from '#shared/postgres/pool'
import { type CommandContext, runCommand, UsageError, wholeNumber } from '#shared/process/command'
import { readSelection, SELECTION_OPTIONS } from './articles/export.ts'
import { instantOf } from './articles/line.ts'
import { columns } from './terminal/terminal.ts'

/** The most days that a command reads, which is ten years. Each day takes two statements. */
const MOST_DAYS = 3_660
const DAYS = 30
const DAY = 86_400_000
/** The most articles that `--q` may find. Each day's statement gets their numbers. */
const MOST_FOUND = 50_000
/** The options of a search that `copies` takes. */
const SEARCH_OPTIONS = ['q', 'search', 'search-in', 'language', 'country']

/** The most outlets that a grid shows. */
const MOST = 40
const LEGEND =
  'Rows were first, columns later: articles, their share of all of the later outlet, ?: order unknown.'

/**
 * How many articles of the later outlet have a text that the first outlet published before.
 * `unknown`: how many more share a text, but in an unknown order.
 */
interface Pair {
  first: string
  later: string
  articles: number
  unknown: number
}

// The order is unknown where times are equal or missing, and where a time is midnight, because that
// is mostly a day without a time. $1 day, as in copy_sketches, $2 later articles; null: all.
// Indexes: copy_sketches_day, copy_sketches_group, the primary keys.
const timeOf = (article: string) => `
  case when (${article}.published_at at time zone 'UTC')::time <> '00:00'
        and (${article}.published_at at time zone 'Europe/Brussels')::time <> '00:00' then ${article}.published_at end`
const PAIRS = `
  with own as materialized (
    select s.seq, s.first_seq, p.outlet, ${timeOf('a')} as at
      from copy_sketches s join articles a using (seq) join publishers p using (publisher_no)
     where s.day = $1 and s.first_seq is not null and ($2::bigint[] is null or s.seq = any ($2))
  ), others as materialized (
    select s.first_seq, p.outlet, min(${timeOf('a')}) as at
      from copy_sketches s join articles a using (seq) join publishers p using (publisher_no)
     where s.first_seq in (select first_seq from own) group by 1, 2
  )
  select f.outlet as first, o.outlet as later, count(*) filter (where f.at < o.at)::int as articles,
         count(*) filter (where f.at is null or o.at is null or f.at = o.at)::int as unknown
    from own o join others f on f.first_seq = o.first_seq and f.outlet <> o.outlet group by 1, 2`

// $1 day, $2 articles; null: all. Index: copy_sketches_day.
const JUDGED = `
  select p.outlet, count(*)::int as articles
    from copy_sketches s join articles a using (seq) join publishers p using (publisher_no)
   where s.day = $1 and s.first_seq is not null and ($2::bigint[] is null or s.seq = any ($2)) group by 1`

await runCommand(
  {
    name: 'copies',
    about: [
      'Prints for each two outlets with the same texts who published whose text first: a grid of as many outlets as fit,',
      'or a line for each pair with --csv and --json. It has the number of articles of the later outlet, and their share',
      'of all its articles of these days whose text was compared. Texts of less than 60 words are not compared. Times are those of',
      'publication. Where they are equal, missing or without a time of day, the order is unknown.',
    ].join('\n'),
    usage: [
      '[--days N | --from DAY [--to DAY]] [PARAMETERS] [--csv | --json]',
      '--from 2026-10-01 --to 2026-10-31 --q "brug -water" --search boolean --csv > FILE.csv',
    ],
    options: {
      days: { value: 'N', about: `articles of the last N days (UTC); ${DAYS} by default` },
      from: { value: 'DAY', about: 'articles from this day on (UTC), in place of --days' },
      to: { value: 'DAY', about: 'articles up to this day, included; today by default' },
      ...Object.fromEntries(
        SEARCH_OPTIONS.map(name => [name, SELECTION_OPTIONS[name] ?? { about: '' }]),
      ),
      csv: { about: 'CSV for spreadsheets' },
      json: { about: 'one object a line' },
    },
    beside: true,
  },
  async context => {
    const { options, openPool, print, say, signal } = context
    const { from, to } = daysOf(options)
    const pool = openPool({ max: 2, statementTimeout: 0, mayBeStandby: true })
    const asked = await articlesOf(context, pool)
    const names = await namesOf(pool)
    const pairs = new Map<string, Pair>()
    const judged = new Map<string, number>()
    for (let day = from; day <= to; day++) {
      if (signal.aborted) return 1
      if (process.stderr.isTTY) say(`${new Date(day * DAY).toISOString().slice(0, 10)} …`)
      for (const { outlet, articles } of (
        await pool.query<{ outlet: string; articles: number }>(JUDGED, [day, asked])
      ).rows)
        judged.set(outlet, (judged.get(outlet) ?? 0) + articles)
      for (const { first, later, articles, unknown } of (
        await pool.query<Pair>(PAIRS, [day, asked])
      ).rows) {
        const key = JSON.stringify([first, later])
        const known = pairs.get(key) ?? { first, later, articles: 0, unknown: 0 }
        pairs.set(key, {
          first,
          later,
          articles: known.articles + articles,
          unknown: known.unknown + unknown,
        })
      }
    }
    const lines = [...pairs.values()]
      .filter(({ articles, unknown }) => articles + unknown > 0)
      .sort(
        (a, b) =>
          b.articles - a.articles ||
          b.unknown - a.unknown ||
          (a.first + a.later < b.first + b.later ? -1 : 1),
      )
      .map(({ first, later, articles, unknown }) => ({
        first: nameOf(first),
        later: nameOf(later),
        articles,
        share_of_later: Number((articles / judged.get(later)!).toFixed(4)),
        unknown,
        first_name: names.get(first) ?? null,
        later_name: names.get(later) ?? null,
      }))
    const head = [
      'first',
      'later',
      'articles',
      'share_of_later',
      'unknown',
      'first_name',
      'later_name',
    ]
    if (options.json) for (const line of lines) print(JSON.stringify(line))
    else if (options.csv)
      for (const line of [head, ...lines.map(line => Object.values(line))])
        print(csvRecord(line).trimEnd())
    else if (lines.length === 0) say('No two outlets have one text in these days.')
    else print(grid(lines))
    return 0
  },
)

/** The days that are compared, first and last, as numbers of days since 1970. */
function daysOf(options: CommandContext['options']): { from: number; to: number } {
  const days = wholeNumber('days', options.days, MOST_DAYS)
  const dayOf = (name: 'from' | 'to') => {
    const at = instantOf(options, name)
    return at === null ? null : Math.floor(at.getTime() / DAY)
  }
  const from = dayOf('from')
  const to = dayOf('to') ?? Math.floor(Date.now() / DAY)
  if (days !== null && from !== null) throw new UsageError('Give --days or --from, not both.')
  const first = from ?? to - (days ?? DAYS) + 1
  if (first > to || to - first >= MOST_DAYS)
    throw new UsageError(`--from must lie before --to, by at most ${MOST_DAYS} days.`)
  return { from: first, to }
}

/** The articles that --q finds; null: all. */
async function articlesOf(
  { config, options }: CommandContext,
  pool: Pool,
): Promise<bigint[] | null> {
  const selected = readSelection(
    Object.fromEntries(Object.entries(options).filter(([name]) => SEARCH_OPTIONS.includes(name))),
  )
  if (selected === null) return null
  if (selected.kind !== 'words') throw new UsageError('--search semantic finds no copies.')
  const index = openIndex(pool, { elsewhere: openArchive(pool, archiveSettingsOf(config)) })
  try {
    const total = await index.count(selected.query)
    if (total > MOST_FOUND)
      throw new UsageError(`--q finds ${total} articles; narrow it to ${MOST_FOUND}.`)
    const found: bigint[] = []
    let page = await index.search(selected.query, null)
    for (;;) {
      found.push(...page.rows.map(({ seq }) => seq))
      if (page.next === null) return found
      page = await index.search(selected.query, page.next)
    }
  } finally {
    await index.close()
  }
}

/** The names of outlets. */
async function namesOf(pool: Pool): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ outlet: string; name: string }>(
    'select outlet, name from publishers where name is not null order by publisher_no',
  )
  return new Map(rows.map(({ outlet, name }) => [outlet, name]))
}

/** A grid of the outlets with the most articles in common, as many as fit on a line. */
function grid(lines: (Pair & { share_of_later: number })[]): string {
  const width = process.stdout.columns ?? LEGEND.length
  const weights = new Map<string, number>()
  for (const { first, later, articles, unknown } of lines)
    for (const name of [first, later])
      weights.set(name, (weights.get(name) ?? 0) + articles + unknown)
  const names = [...weights.keys()].sort((a, b) => weights.get(b)! - weights.get(a)!)
  const cell = (first: string, later: string) => {
    const line = lines.find(one => one.first === first && one.later === later)
    const known = line?.articles
      ? [`${line.articles} ${Math.round(100 * line.share_of_later)}%`]
      : []
    return [...known, ...(line?.unknown ? [`?${line.unknown}`] : [])].join(' ') || '-'
  }
  const rowsOf = (some: string[]) => [
    ['', ...some.map((_, n) => `${n + 1}`)],
    ...some.map((first, n) => [
      `${n + 1} ${first}`,
      ...some.map(later => (later === first ? '' : cell(first, later))),
    ]),
  ]
  const fits = (text: string) => text.split('\n').every(line => line.length <= width)
  let shown = Math.min(MOST, names.length)
  while (shown > 2 && !fits(columns(rowsOf(names.slice(0, shown))))) shown--
  const more =
    shown < names.length ? ` Outlets that do not fit: ${names.length - shown} (see --csv).` : ''
  return `${columns(rowsOf(names.slice(0, shown)))}\n\n${LEGEND}${more}`
}

/** An outlet's domain, or its name if an import gave no domain. */
function nameOf(outlet: string): string {
  return outlet.replace(/^name:/, '')
}
