import { foldName, STOP_WORDS, stem } from '../../../search/analysis/index.ts'
import {
  type ArticleQuery,
  type Axis,
  type Match,
  type Position,
  type SearchIndex,
  TOTAL_CAP,
} from '../../../search/index.ts'
import { articleObject } from '../../../services/api/articles/shown-article.ts'
import { COUNTRIES, LANGUAGES, type Language } from '../../../shared/articles/article.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'

/**
 * An article as the peers get it: the same words as Perscope's, so that tokenizers make no
 * difference.
 */
export interface PeerDocument extends Ranks {
  id: string
  published_at: Date | null
  ingested_at: Date
  publisher_no: number
  author_nos: number[]
  country: string
  language: Language
  /** Folded words in their order. */
  title: string[]
  body: string[]
  /** Keys that keyword searches look for, each once: of the title, and of title and body. */
  titleKeys: string[]
  keys: string[]
  /** The article as the contract shows it, as JSON. */
  row: string
}

/** Its numbers from 1 in the orders of pages: articles without a date first, last; by ingestion. */
interface Ranks {
  place: number
  rise: number
  turn: number
}

/** Columns that an order sorts by, ties by id as the contract has them. */
const ORDERS: Record<keyof Ranks, string> = {
  place: `coalesce(published_at, '-infinity')`,
  rise: `coalesce(published_at, 'infinity')`,
  turn: 'ingested_at',
}

/**
 * The key of a word in an article of the language. A keyword search looks for stems; a query of
 * stop words alone looks for the words themselves (`search/query/match.ts`).
 */
const stemKey = (language: Language, word: string) => `${language}s${stem(language, word)}`
const stopKey = (language: Language, word: string) => `${language}w${word}`

const PART = 1_000

/**
 * All articles in the order of publication, in batches.
 *
 * @param index reads what the contract shows of them
 */
export async function* readDocuments(pool: Pool, index: SearchIndex): AsyncGenerator<PeerDocument[]> {
  const ranks = Object.entries(ORDERS).map(
    ([name, at]) => `(row_number() over (order by ${at}, id collate "C"))::int as ${name}`,
  )
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query(
      `declare documents cursor for
       select a.seq::int as seq, a.id, a.published_at, a.ingested_at, a.publisher_no, a.author_nos, a.country, a.language,
         w.title, w.body, a.place, a.rise, a.turn
       from (select *, ${ranks} from articles) a join article_words w using (seq)
       order by a.place`,
    )
    for (;;) {
      const { rows } = await client.query<StoredDocument>(`fetch ${PART} from documents`)
      if (rows.length === 0) return
      const shown = await index.articles(rows.map(row => BigInt(row.seq)))
      yield rows.map((row, at) => documentOf(row, JSON.stringify(articleObject(shown[at]!))))
    }
  } finally {
    await client.query('rollback')
    client.release()
  }
}

type StoredDocument = Omit<PeerDocument, 'title' | 'body' | 'titleKeys' | 'keys' | 'row'> & {
  seq: number
  title: string
  body: string
}

function documentOf(stored: StoredDocument, row: string): PeerDocument {
  // As `wordList` writes them.
  const listed = (list: string) => (list.length < 2 ? [] : list.slice(1, -1).split('\n'))
  const { language } = stored
  const keysOf = (words: string[]) => [
    ...new Set(words.map(word => (STOP_WORDS[language].has(word) ? stopKey : stemKey)(language, word))),
  ]
  const [title, body] = [listed(stored.title), listed(stored.body)]
  return { ...stored, title, body, titleKeys: keysOf(title), keys: keysOf([...title, ...body]), row }
}

/** Country, language, outlet, authors and by-line as words, for engines whose filters are words. */
export const filterWords = (document: PeerDocument): string[] => [
  FILTER_WORDS.country(document.country),
  FILTER_WORDS.language(document.language),
  FILTER_WORDS.publisher(document.publisher_no),
  FILTER_WORDS.hasAuthor(document.author_nos.length > 0),
  ...document.author_nos.map(FILTER_WORDS.author),
]

const FILTER_WORDS = {
  country: (country: string) => `c${country.toLowerCase()}`,
  language: (language: string) => `l${language}`,
  publisher: (no: number) => `o${no}`,
  author: (no: number) => `a${no}`,
  hasAuthor: (has: boolean) => (has ? 'h1' : 'h0'),
}

/**
 * One page of a search in terms that any engine understands; names and bounds of time are already
 * resolved. A filter that is null is none.
 */
export interface PeerQuestion {
  scope: 'title' | 'title_body'
  match: PeerMatch
  countries: string[] | null
  languages: string[] | null
  hasAuthor: boolean | null
  publisherNos: number[] | null
  authorNos: number[] | null
  sort: Axis
  order: 'asc' | 'desc'
  /** The same as the name of ranks. */
  by: keyof Ranks
  limit: number
  /** The total is counted up to this; null: no total. */
  cap: number | null
  /** From a time to one that is excluded, and the same as places. */
  published: { from: Date; to: Date; places: [number, number] } | null
  /** A time, and the same as a turn. */
  ingested: { from: Date; turn: number } | null
  /** The article that the page comes after. */
  after: { id: string; value: Date | null; rank: number } | null
}

export type PeerMatch =
  | { kind: 'all' }
  /** Any of the keys. */
  | { kind: 'keys'; keys: string[] }
  /** All of the phrases, none of the excluded. */
  | { kind: 'words'; required: string[][]; excluded: string[][] }

/** @param after the last article of the page before; null: the first page */
export async function questionOf(pool: Pool, query: ArticleQuery, after: Position | null): Promise<PeerQuestion> {
  const { sort, order, ingestedAfter, countries, languages } = query
  const by = sort === 'ingested_at' ? 'turn' : order === 'asc' ? 'rise' : 'place'
  const { publishedAfter: from, publishedBefore: to } = query.coverage
  const last = after && { ...after.last, value: after.last.value === null ? null : new Date(after.last.value) }
  const placeOf = async (time: Date) => 1 + (await rankOf(pool, 'place', time, ''))
  return {
    ...{ scope: query.searchIn, match: matchOf(query.match, languages ?? LANGUAGES) },
    countries: countries.length === COUNTRIES.length ? null : countries,
    ...{ languages, hasAuthor: query.hasAuthor },
    publisherNos: await numbersOf(
      pool,
      'select publisher_no as no from publishers where strpos(folded_name, $1) > 0 or strpos(folded_domain, $1) > 0',
      query.outlet,
    ),
    authorNos: await numbersOf(
      pool,
      'select author_no as no from authors where strpos(folded_name, $1) > 0',
      query.author,
    ),
    ...{ sort, order, by, limit: query.perPage, cap: after === null ? TOTAL_CAP : null },
    published: from && to && { from, to: to.at, places: [await placeOf(from), await placeOf(to.at)] },
    ingested: ingestedAfter && { from: ingestedAfter, turn: 1 + (await rankOf(pool, 'turn', ingestedAfter, '')) },
    after: last && { id: last.id, value: last.value, rank: await rankOf(pool, by, last.value, last.id) },
  }
}

/** Articles up to a time and an id in an order. @param time null: those without a date */
async function rankOf(pool: Pool, by: keyof Ranks, time: Date | null, id: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from articles
     where (${ORDERS[by]}, id collate "C") <= (coalesce($1::timestamptz, '${by === 'rise' ? '' : '-'}infinity'), $2)`,
    [time, id],
  )
  return rows[0]!.count
}

/** Numbers of the outlets or authors whose names contain a part. None has the number 0. */
async function numbersOf(pool: Pool, statement: string, part: string | null): Promise<number[] | null> {
  if (part === null) return null
  const { rows } = await pool.query<{ no: number }>(statement, [foldName(part)])
  return rows.length === 0 ? [0] : rows.map(row => row.no)
}

function matchOf(match: Match, languages: readonly Language[]): PeerMatch {
  if (match.kind === 'all') return match
  if (match.kind === 'boolean') return { kind: 'words', required: match.required, excluded: match.excluded }
  const keys = languages.flatMap(language => {
    const meaning = match.words.filter(word => !STOP_WORDS[language].has(word))
    return meaning.length === 0
      ? match.words.map(word => stopKey(language, word))
      : meaning.map(word => stemKey(language, word))
  })
  return { kind: 'keys', keys: [...new Set(keys)] }
}

/** The filters but for time, each as a list of words of which one must be there. */
export function filtersOf({ countries, languages, hasAuthor, publisherNos, authorNos }: PeerQuestion): string[][] {
  return [
    countries?.map(FILTER_WORDS.country),
    languages?.map(FILTER_WORDS.language),
    hasAuthor === null ? undefined : [FILTER_WORDS.hasAuthor(hasAuthor)],
    publisherNos?.map(FILTER_WORDS.publisher),
    authorNos?.map(FILTER_WORDS.author),
  ].filter(words => words !== undefined)
}
