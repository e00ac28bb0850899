import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { WORD_RULES } from '#search/analysis/index'
import { openArchive } from '#search/archive/archive'
import {
  createPace,
  INDEX_STATE,
  type IndexState,
  openIndexOf,
  type Position,
  SEARCH_SETTINGS,
  type SearchIndex,
} from '#search/index'
import { filterOf } from '#services/api/articles/find'
import { SHOWN_ARTICLES, type ShownArticle } from '#services/api/articles/shown-article'
import {
  CITED_PAGE,
  citationDigest,
  collectCited,
  headOf,
  markOf,
} from '#services/api/citations/citation'
import { readSearch } from '#services/api/contract/request'
import { COUNTRIES, type Country } from '#shared/articles/article'
import { type CsvColumn, csvLine } from '#shared/articles/csv'
import { archiveSettingsOf } from '#shared/config/archive'
import {
  type Citation,
  findCitation,
  readCited,
  removeCitation,
  removedOn,
} from '#shared/desk/citations'
import { counted } from '#shared/log/printable'
import { type Pool, readColumn, readRow } from '#shared/postgres/pool'
import { runCommand, sentenceOf, UsageError } from '#shared/process/command'
import { readLines } from './verify/cited-lines.ts'

/** The most lines about differences that are printed. */
const MOST_TOLD = 20

/** The columns that have what `h` covers. */
const SAID = [
  'title',
  'authors',
  'language',
  'country',
  'outlet_name',
  'outlet_domain',
] as const satisfies CsvColumn[]

await runCommand(
  {
    name: 'cite',
    words: true,
    about: [
      'Recomputes a citation (docs/citations.md): its search up to its watermark, and its digest. ADDRESS is /cite/…, and',
      'FILE.csv what its page gives; a file is compared on any system that imported an export. Exit code: 0 equal, 1 it says',
      'which articles differ, 2 it cannot be recomputed, 3 only more is found here than a file of elsewhere cites. `remove`',
      'takes a citation away for good, and frees what its key may cite: the address stays, and says so.',
    ].join('\n'),
    usage: ['verify ADDRESS [--json]', 'verify FILE.csv [--json]', 'remove ADDRESS [--json]'],
    options: { json: { about: 'prints one JSON object' } },
    needs: ['DATABASE_URL'],
  },
  async ({ config, openPool, options, positionals, print }) => {
    const [verb, subject, ...more] = positionals
    if (!(verb === 'verify' || verb === 'remove') || subject === undefined || more.length > 0)
      throw new UsageError(
        'Write: cite verify ADDRESS, cite verify FILE.csv, or cite remove ADDRESS.',
      )
    const digest = /(?:^|\/)([0-9a-f]{64})$/.exec(subject)?.[1]
    if (verb === 'remove')
      return print(await remove(openPool({ max: 1 }), digest, options.json === true))
    if (digest === undefined && !subject.endsWith('.csv'))
      throw new UsageError(
        `"${subject}" is no address of a citation (/cite/ and 64 hex digits), and no CSV file.`,
      )
    const found: Findings = { differences: [], obstacles: [], uncited: [], notes: [] }
    try {
      const file =
        digest === undefined ? await readCitedFile(await readFile(subject, 'utf8'), found) : null
      const pool = openPool({
        max: 2,
        statementTimeout: 0,
        mayBeStandby: true,
        settings: SEARCH_SETTINGS,
      })
      const index = openIndexOf(pool, SHOWN_ARTICLES, {
        elsewhere: openArchive(pool, archiveSettingsOf(config)),
      })
      await verify({ pool, index }, digest ?? file?.digest ?? '', file, found).finally(() =>
        index.close(),
      )
    } catch (error) {
      found.obstacles.push(sentenceOf(error))
    }
    return tell(found, print, options.json === true)
  },
)

/**
 * The output: differences, reasons why the citation cannot be recomputed, articles that only this
 * system has, and notes.
 */
type Findings = Record<'differences' | 'obstacles' | 'uncited' | 'notes', string[]>

function tell(found: Findings, print: (line: string) => void, isJson: boolean): number {
  const { obstacles, uncited, notes } = found
  const differences = [...found.differences, ...uncited]
  const [code, verdict] =
    found.differences.length > 0
      ? [1, 'differs']
      : obstacles.length > 0
        ? [2, 'cannot be recomputed']
        : uncited.length > 0
          ? [3, 'more is found here']
          : [0, 'equal']
  if (isJson) {
    print(JSON.stringify({ verdict, ...found }))
    return code
  }
  for (const line of [verdict, ...obstacles, ...differences.slice(0, MOST_TOLD), ...notes])
    print(line)
  if (differences.length > MOST_TOLD) print(`and ${differences.length - MOST_TOLD} more`)
  return code
}

/** @returns the line that says what was done */
async function remove(pool: Pool, digest: string | undefined, isJson: boolean): Promise<string> {
  const at = digest === undefined ? null : await removeCitation(pool, digest)
  if (at === null)
    throw new UsageError('There is no such citation; name its address, /cite/ and 64 hex digits.')
  return isJson ? JSON.stringify({ digest, removed_at: at.toISOString() }) : removedOn(at)
}

/** A citation, read from the database or from a file. */
interface Cited {
  search: string
  rules: number
  countries: Country[]
  since: Date
  /**
   * null: the citation was read from a file, and may be of another index. Articles that came after
   * `asOf` then do not count.
   */
  watermark: bigint | null
  asOf: string
  /** The lines of the cited articles, by id. */
  lines: Map<string, string>
}

/** @throws when the file is no file of a citation */
async function readCitedFile(
  text: string,
  { differences, obstacles }: Findings,
): Promise<Cited & { digest: string; bare: string[] }> {
  const [names = [], ...rows] = recordsOf(text)
  const [address = '', asOf = '', outside = '', rules = '', ...head] =
    names.at(-1)?.split(' ') ?? []
  const columns = ['id', 'ingested_at', 'published_at', 'h'].map(name => names.indexOf(name))
  if (!/^\/cite\/[0-9a-f]{64}$/.test(address) || head.length !== 4 || columns.includes(-1))
    throw new Error('The file is no CSV of a citation: its head is missing.')
  const bare: string[] = []
  let unknown = 0
  const lines = rows.map(row => {
    const [cited = '', ...others] = columns.map(column => row[column] ?? '')
    const id = cited.replace(/(^|;)'/g, '$1')
    const said = row[names.length - 1] ?? ''
    const shown = SAID.map(name => row[names.indexOf(name)] ?? '')
    if (said !== '') differences.push(...differencesOf(id, said, others.at(-1) ?? '', shown))
    else if (shown.every(cell => cell === '')) bare.push(id)
    else unknown++
    return [id, ...others].join('\t')
  })
  if (unknown > 0)
    obstacles.push(
      `The last cell, from which h is computed, is empty in ${counted(unknown, 'line')}. Download the file again.`,
    )
  const digest = address.slice('/cite/'.length)
  if (outside !== '0')
    obstacles.push(
      `The file lacks ${outside} articles, which the plan that read it does not cover.`,
    )
  else if ((await citationDigest(createPace(), head, lines)) !== digest)
    differences.push('The articles of the file have another digest.')
  const [, search = '', countries = '', since = ''] = head
  return {
    digest,
    bare,
    asOf,
    search,
    rules: Number(rules),
    watermark: null,
    lines: byId(lines),
    countries: COUNTRIES.filter(one => countries.split(',').includes(one)),
    since: new Date(since || 0),
  }
}

/** What differs between `h`, the JSON of which it is the hash, and the cells that people read. */
function differencesOf(id: string, said: string, h: string, shown: string[]): string[] {
  try {
    const parts = JSON.parse(said)
    if (hash('sha256', JSON.stringify(parts), 'hex') !== h)
      return [`${id}: h is not the hash of the last cell`]
    const [title, name, domain, language, country, authors] = parts
    const line = csvLine({ title, authors, language, country, outlet: { name, domain } }, SAID)
    const [cells = []] = recordsOf(line)
    return SAID.flatMap((column, at) =>
      cells[at] === shown[at] ? [] : [`${id}: ${column} is not what h was computed from`],
    )
  } catch {
    return [`${id}: the last cell is not what h was computed from`]
  }
}

/** The records of CSV (RFC 4180). */
function recordsOf(text: string): string[][] {
  const records: string[][] = [[]]
  for (const [, cell = '', end] of text.matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/g)) {
    records.at(-1)!.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    if (end !== ',') records.push([])
  }
  return records.filter(record => record.length > 1)
}

function idOf(line: string): string {
  return line.slice(0, line.indexOf('\t'))
}

function byId(lines: string[]): Map<string, string> {
  return new Map(lines.map(line => [idOf(line), line]))
}

interface Parts {
  pool: Pool
  index: SearchIndex<ShownArticle>
}

async function verify(
  parts: Parts,
  digest: string,
  file: (Cited & { bare: string[] }) | null,
  found: Findings,
): Promise<void> {
  const { differences, obstacles, notes } = found
  const citation = await findCitation(parts.pool, digest)
  if (citation?.removedAt) {
    obstacles.push(removedOn(citation.removedAt))
    return
  }
  const cited = citation === null ? file : await readKept(parts.pool, citation, differences)
  if (cited === null) {
    obstacles.push('This database has no such citation; name the CSV of its page.')
    return
  }
  for (const [id, line] of file?.lines ?? []) {
    if (cited.lines.get(id) !== line)
      differences.push(`${id}: the file says something else than the database`)
  }
  const gone = await readGone(parts.pool, [...cited.lines.keys()])
  for (const [id, at] of gone) notes.push(`${id} was taken out on ${at.toISOString().slice(0, 10)}`)
  for (const id of file?.bare ?? []) {
    if (!gone.has(id)) differences.push(`${id} has no title in the file, and was not taken out`)
  }
  for (const id of gone.keys()) cited.lines.delete(id)
  if (new URLSearchParams(cited.search).get('search') === 'semantic') {
    notes.push('ids only: a search by meaning cannot be recomputed')
    compare(cited, await readIds(parts.pool, [...cited.lines.keys()]), found)
  } else if (cited.rules === WORD_RULES && isRead(cited.search)) {
    compare(cited, await searchAgain(parts, cited), found)
  } else {
    obstacles.push(
      `It was cited by version ${cited.rules} of the rules of words; this is version ${WORD_RULES}.`,
    )
  }
}

/** Reads a stored citation, with the lines that its articles have now. Records the differences. */
async function readKept(pool: Pool, citation: Citation, differences: string[]): Promise<Cited> {
  const lines: string[] = []
  for await (const numbers of readCited(pool, citation)) {
    const now = await readLines(
      pool,
      numbers.map(({ seq }) => seq),
    )
    for (const [at, { seq, mark }] of numbers.entries()) {
      const line = now[at]
      if (!line) differences.push(`the article with number ${seq} is gone`)
      else if (markOf(line) !== mark) differences.push(`${idOf(line)} was cited with other fields`)
      if (line) lines.push(line)
    }
  }
  const { search, rules, countries, since, watermark, asOf } = citation
  const head = headOf(search, citation)
  const digest = await citationDigest(createPace(), head, lines)
  if (differences.length === 0 && digest !== citation.digest) {
    differences.push('The articles have another digest.')
  }
  return {
    search,
    rules,
    countries,
    since,
    watermark,
    asOf: asOf.toISOString(),
    lines: byId(lines),
  }
}

/** Whether a cited search is still read. Expressions that were let through once may be refused. */
function isRead(search: string): boolean {
  try {
    readSearch(search, 'feed')
    return true
  } catch {
    return false
  }
}

/** The lines of the articles that the search finds now, by id. */
async function searchAgain({ pool, index }: Parts, cited: Cited): Promise<Map<string, string>> {
  const { search, countries, since, watermark, asOf } = cited
  const request = readSearch(search, 'feed')
  const { question, order } = request
  if (question.search === 'semantic') throw new Error('A search by meaning is not recomputed.')
  const filter = filterOf({
    request,
    countries: request.countries ?? countries,
    historyStart: since,
  })
  const { match, searchIn, sort } = question
  const now = await readRow<IndexState>(
    pool,
    `select ${INDEX_STATE.columns} from ${INDEX_STATE.tables}`,
  )
  const state = { ...now!, ...(watermark === null ? {} : { lastSeq: watermark }) }
  const query = { ...filter, match, searchIn, sort, order, perPage: CITED_PAGE }
  const page = (at: Position | null) => index.search(query, at, at === null ? { state } : {})
  const found = await collectCited(page, work => work(createPace()))
  const lines = found.map(({ line }) => line)
  const isCounted = (line: string) =>
    cited.lines.has(idOf(line)) || (line.split('\t')[1] ?? '') <= asOf
  return byId(watermark === null ? lines.filter(isCounted) : lines)
}

/** When articles were taken out, by their ids. */
async function readGone(pool: Pool, ids: string[]): Promise<Map<string, Date>> {
  const { rows } = await pool.query<{ id: string; at: Date }>(
    'select id, removed_at as at from tombstones where id = any ($1::text[])',
    [ids],
  )
  return new Map(rows.map(({ id, at }) => [id, at]))
}

async function readIds(pool: Pool, ids: string[]): Promise<Map<string, string>> {
  // No index serves this. Few citations are by meaning, and this reads the narrow table once.
  const statement = 'select seq from articles where id = any ($1::text[])'
  const lines = await readLines(pool, await readColumn<bigint>(pool, statement, [ids]))
  return byId(lines.flatMap(line => line || []))
}

function compare(
  { lines, watermark }: Cited,
  now: Map<string, string>,
  { differences, uncited }: Findings,
): void {
  for (const [id, line] of lines) {
    const other = now.get(id)
    if (other === undefined) differences.push(`${id} was cited, and is not found now`)
    else if (other !== line) differences.push(`${id} was cited with other fields`)
  }
  for (const id of now.keys()) {
    if (lines.has(id)) continue
    // Another system may have imported an article later, with its earlier time.
    if (watermark === null)
      uncited.push(`${id} is found now and was not cited: imported later, or missing`)
    else differences.push(`${id} is found now, and was not cited`)
  }
}
