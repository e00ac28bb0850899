import { createHash } from 'node:crypto'
import { queryOptions, readOptions } from '#scripts/terminal/api-options'
import { stopWordsOf, wordListOf, wordsOf } from '#search/analysis/index'
import type { ArticleQuery } from '#search/index'
import { filterOf } from '#services/api/articles/find'
import { EXPLORE_PARAMETERS, LIMITS } from '#services/api/contract/parameters'
import type { SemanticQuery } from '#services/api/semantic/query'
import { COUNTRIES, LANGUAGES, type Language } from '#shared/articles/article'
import { CSV_COLUMNS, type CsvColumn, csvHead, csvLine, csvRecord } from '#shared/articles/csv'
import { plainText } from '#shared/articles/plain-text'
import { isSetName } from '#shared/desk/outlet-sets'
import { printable } from '#shared/log/printable'
import { countOf, type Queryable, readValue } from '#shared/postgres/pool'
import { type CommandContext, type Option, UsageError } from '#shared/process/command'

/*
 * An export is a sequence of parts of some hundred articles, so it needs little memory for any
 * number of articles. Two choices are independent: the articles (all, or those of a search), and
 * the format.
 */

interface ExportOptions {
  /** Whether lines have `body`. */
  body: boolean
  /** Whether lines have `first` and `agencies`, as in `/explore/copies`. */
  copies: boolean
  /** Inclusive; null: all, also those without an ingestion time. */
  ingestedAfter: Date | null
}

/** How many articles are read at a time. */
const PART = 200

/** Articles as JSON objects in the format of `import`, in parts. */
export type Parts = AsyncGenerator<string[]>

/** All articles that are visible at the start, in the order of their numbers. */
export async function* readAll(db: Queryable, options: ExportOptions): Parts {
  // Articles that become visible after this statement are left to the next export.
  const last = await readValue<bigint>(db, 'select last_seq from ingest_clock')
  const text = `${selectLines(options)}
  where ${IN_ORDER}`
  for (let after = 0n; ; ) {
    const { rows } = await db.query<{ seq: bigint; line: string }>(text, [
      after,
      last,
      options.ingestedAfter,
      PART,
    ])
    const end = rows.at(-1)
    if (end === undefined) return
    after = end.seq
    yield rows.map(row => marked(row.line, options.body))
  }
}

/**
 * A page of a search: the numbers of its articles, and the place where the next page begins; null:
 * this is the last page.
 */
interface FoundPage<Position> {
  rows: { seq: bigint }[]
  next: Position | null
}

/** The articles that a search finds, in its order, as they were when it began. */
export async function* readFound<Query, Position>(
  db: Queryable,
  index: { search(query: Query, position: Position | null): Promise<FoundPage<Position>> },
  query: Query,
  { body, copies }: Pick<ExportOptions, 'body' | 'copies'>,
): Parts {
  const text = `${selectLines({ body, copies })}\n  ${LISTED}`
  for (
    let position: Position | null = null, isFirst = true;
    isFirst || position !== null;
    isFirst = false
  ) {
    const page: FoundPage<Position> = await index.search(query, position)
    position = page.next
    if (page.rows.length === 0) continue
    const { rows } = await db.query<{ line: string }>(text, [page.rows.map(row => row.seq)])
    // All of them may have been taken out since.
    if (rows.length > 0) yield rows.map(row => marked(row.line, body))
  }
}

/**
 * Adds `"plain": true` to a line whose body `import` would read as HTML, for example because it
 * mentions `</p>` or `&copy=2`.
 */
function marked(line: string, withBody: boolean): string {
  if (!withBody) return line
  const { body }: { body: string | null } = JSON.parse(line)
  return body === null || plainText(body) === body ? line : `${line.slice(0, -1)}, "plain" : true}`
}

/** The approximate number of lines, for a progress bar. */
export const countAll = (db: Queryable, ingestedAfter: Date | null): Promise<number> =>
  ingestedAfter === null
    ? countOf(db, 'select last_seq::int from ingest_clock')
    : countOf(
        db,
        `select sum(articles)::int from article_days where axis = 'ingested_at' and day >= $1::timestamptz::date`,
        [ingestedAfter],
      )

// $1 after, $2 up to, $3 ingested since, $4 limit. Index: the primary key.
const IN_ORDER = `a.seq > $1::bigint and a.seq <= $2::bigint and ($3::timestamptz is null or a.ingested_at >= $3::timestamptz)
  order by a.seq limit $4::int`

// $1 numbers of articles. Index: the primary key.
const LISTED =
  'join unnest($1::bigint[]) with ordinality as wanted (seq, place) on wanted.seq = a.seq order by place'

// SQL: a line for each article. Postgres formats the times here, so that they read
// `2026-11-21T08:30:00.000Z` in every session's time zone.
const selectLines = ({ body, copies }: Pick<ExportOptions, 'body' | 'copies'>) => `
  select a.seq, left(json_build_object(
    'id', a.id, 'url', t.url, 'title', t.title, 'snippet', t.snippet,
    ${body ? "'body', t.body," : ''}
    'published_at', to_char(a.published_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'ingested_at', to_char(a.ingested_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'authors', array(select w.name from unnest(a.author_nos) with ordinality as n (no, place)
                     join authors w on w.author_no = n.no order by n.place),
    'language', a.language, 'country', a.country,
    'outlet', json_build_object('name', p.name, 'domain', p.domain)${copies ? COPIES : ''})::text, -1)
    || case when r.id is null then '' else ', "rights" : '
         || json_build_object('bounded', r.snippet, 'vector', r.vector)::text end
    || ${['section', 'kind', 'access'].map(said).join(' || ')} || '}' as line
  from articles a
  left join article_rights r on r.id = a.id
  join article_texts t on t.seq = a.seq
  join publishers p on p.publisher_no = a.publisher_no`

// SQL: a field that an outlet may say nothing of.
function said(name: string): string {
  return `coalesce(', "${name}" : ' || to_json(a.${name})::text, '')`
}

// As in /explore/copies: at most 100 copies of a group, without reserved articles. Indexes: the
// primary keys, copy_sketches_group.
const COPIES = `,
    'first', (select f.id from copy_sketches s join copy_sketches f on f.seq = s.first_seq where s.seq = a.seq),
    'agencies', array(
      select distinct agency from (
        select a.seq where r.vector is not false union all (
          select m.seq from copy_sketches s join copy_sketches m using (first_seq)
           where s.seq = a.seq and m.seq <> a.seq order by m.seq limit 100)) m
        join article_texts o using (seq), unnest(o.agencies) agency order by 1)`

/** The search that selects articles. */
export type Selected =
  | { kind: 'words'; query: ArticleQuery }
  | { kind: 'meaning'; query: SemanticQuery }

/** How many articles a page of the selecting search has. */
const PAGE = 100

/** The API's filters as options of `export`. */
export const SELECTION_OPTIONS: Record<string, Option> = {
  ...queryOptions(['sort', 'order', 'per_page']),
  search: {
    about: 'how q is read; semantic finds the nearest 500 articles',
    value: EXPLORE_PARAMETERS.search.values.join('|'),
  },
  outlets: { about: 'only outlets with one of these exact domains', value: 'DOMAIN,…' },
}

/**
 * The search for the articles that the options select. It reads the options as the API does, with a
 * plan that covers everything. A search by words returns the oldest articles first, a search by
 * meaning the nearest first.
 *
 * @returns null: all articles, or all since a time of ingestion
 * @throws UsageError naming the option
 */
export function readSelection(options: CommandContext['options']): Selected | null {
  const given = Object.keys(options).filter(
    name => name in SELECTION_OPTIONS && name !== 'ingested-after',
  )
  if (given.length === 0) return null
  const request = readOptions(options)
  const { question, outlets } = request
  const name = outlets?.find(isSetName)
  if (name !== undefined)
    throw new UsageError(`--outlets: sets belong to keys; write the domains of "${name}".`)
  const historyStart = new Date(Date.UTC(LIMITS.years.minimum, 0, 1))
  const filter = filterOf({ request, countries: request.countries ?? [...COUNTRIES], historyStart })
  if (question.search === 'semantic') {
    const asked = { text: question.q, planCountries: [...COUNTRIES], sort: 'relevance' as const }
    return { kind: 'meaning', query: { ...filter, ...asked, order: 'desc', perPage: PAGE } }
  }
  const asked = {
    match: question.match,
    searchIn: question.searchIn,
    sort: 'published_at',
    order: 'asc',
  } as const
  return { kind: 'words', query: { ...filter, ...asked, perPage: PAGE } }
}

export const FORMATS = ['ndjson', 'csv', 'parquet', 'words'] as const
export type FormatName = (typeof FORMATS)[number]

export function createFormat(
  name: FormatName,
  having: Pick<ExportOptions, 'body' | 'copies'>,
): ExportFormat {
  switch (name) {
    case 'ndjson':
      // Control characters are escaped, as in CSV; a JSON parser returns the same values.
      return { add: async lines => printable(`${lines.join('\n')}\n`), end: async () => '' }
    case 'csv':
      return createCsv(columnsWith(having))
    case 'parquet':
      return createParquetOf(columnsWith(having))
    case 'words':
      return createWordCounts()
  }
}

/** The fewest articles whose words are counted, and in which a word is told. */
const FEWEST = { articles: 50, withWord: 5 }

/**
 * Counts the words of titles and texts: in how many articles, and how often. Words are folded as
 * the index does, without stop words of the article's language. No text can be put together again
 * from it: few articles are refused, and rare words are left out (decision 42).
 */
function createWordCounts(): ExportFormat {
  const counts = new Map<string, { articles: number; times: number }>()
  let articles = 0
  const count = (line: string) => {
    const { title, body, language }: Counted = JSON.parse(line)
    articles += 1
    const stop = LANGUAGES.includes(language) ? stopWordsOf(language) : new Set()
    const seen = new Set<string>()
    for (const word of wordsOf(wordListOf(`${title}\n${body ?? ''}`))) {
      if (stop.has(word)) continue
      const known = counts.get(word) ?? { articles: 0, times: 0 }
      counts.set(word, known)
      known.times += 1
      if (!seen.has(word)) known.articles += 1
      seen.add(word)
    }
  }
  return {
    async add(lines) {
      for (const line of lines) count(line)
      return ''
    },
    async end() {
      if (articles < FEWEST.articles)
        throw new UsageError(
          `Words are counted of at least ${FEWEST.articles} articles; this search finds ${articles}.`,
        )
      const told = [...counts]
        .filter(([, { articles }]) => articles >= FEWEST.withWord)
        .sort(([a, one], [b, other]) => other.articles - one.articles || (a < b ? -1 : 1))
      const lines = told.map(([word, { articles, times }]) => csvRecord([word, articles, times]))
      return csvRecord(['word', 'articles', 'times']) + lines.join('')
    },
  }
}

interface Counted {
  title: string
  body?: string | null
  language: Language
}

/**
 * A random sample of articles, in their order. With the same seed it has the same articles, and
 * articles that come later replace only some of them.
 */
export async function* sampled(parts: Parts, size: number, seed: string): Parts {
  const keyOf = (line: string) => {
    const { id }: { id: string } = JSON.parse(line)
    return createHash('sha256').update(`${seed}\n${id}`).digest('hex')
  }
  let kept: { key: string; place: number; line: string }[] = []
  let place = 0
  const cut = () => {
    kept = kept.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, size)
  }
  for await (const lines of parts) {
    for (const line of lines) kept.push({ key: keyOf(line), place: place++, line })
    if (kept.length > 2 * size + PART) cut()
  }
  cut()
  const ordered = kept.sort((a, b) => a.place - b.place).map(({ line }) => line)
  for (let from = 0; from < ordered.length; from += PART) yield ordered.slice(from, from + PART)
}

function createCsv(columns: CsvColumn[]): ExportFormat {
  let head = csvHead(columns)
  return {
    async add(lines) {
      const text = head + lines.map(line => csvLine(JSON.parse(line), columns)).join('')
      head = ''
      return text
    },
    end: async () => head,
  }
}

/** Writes articles in parts, so that it needs little memory for any number of articles. */
interface ExportFormat {
  /** Returns the output for these articles and earlier ones, which may be empty at first. */
  add(lines: readonly string[]): Promise<string | Uint8Array>
  end(): Promise<string | Uint8Array>
}

/** The columns of CSV and of Parquet, in one order. */
const columnsWith = ({ body, copies }: Pick<ExportOptions, 'body' | 'copies'>) =>
  CSV_COLUMNS.filter(
    name =>
      name !== 'relevance' &&
      (body || name !== 'body') &&
      (copies || (name !== 'first' && name !== 'agencies')),
  )

/** Groups of rows are built in memory, so a group is written when it has this many characters. */
const GROUP_LENGTH = 32 * 1024 * 1024

function createParquetOf(columns: CsvColumn[]): ExportFormat {
  // Only this format loads the library of Parquet.
  const parquet = import('#shared/articles/parquet').then(made => made.createParquet(columns))
  let length = 0
  return {
    async add(lines) {
      for (const line of lines) length += line.length
      const isFull = length >= GROUP_LENGTH
      if (isFull) length = 0
      return (await parquet).add(
        lines.map(line => JSON.parse(line)),
        isFull,
      )
    },
    end: async () => (await parquet).end(),
  }
}
