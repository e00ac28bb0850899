import { foldName, stem, stopWordsOf } from '#search/analysis/index'
import {
  type ArticleQuery,
  type Match,
  type Position,
  type SearchIndex,
  TOTAL_CAP,
} from '#search/index'
import { articleObject } from '#services/api/articles/shown-article'
import { LANGUAGES, type Language } from '#shared/articles/article'
import type { Pool } from '#shared/postgres/pool'

/**
 * An article as the peers get it. It has the same words as in Perscope, so that tokenizers make no
 * difference.
 */
export interface PeerDocument {
  id: string
  published_at: Date | null
  ingested_at: Date
  publisher_no: number
  author_nos: number[]
  country: string
  language: Language
  /** Folded words, in their order in the article. */
  title: string[]
  body: string[]
  /** Keys for keyword searches, each once: those of the title, and those of title and body. */
  titleKeys: string[]
  keys: string[]
  /** JSON of the article, as the contract shows it. */
  row: string
}

/**
 * The key of a word in an article of the language. A keyword search looks for stems. If all words
 * of a query are stop words, it looks for the words themselves (`search/query/match.ts`).
 */
const stemKey = (language: Language, word: string) => `${language}s${stem(language, word)}`
const stopKey = (language: Language, word: string) => `${language}w${word}`

const PART = 1_000

/** Yields all articles in batches. @param index reads what the contract shows of them */
export async function* readDocuments(
  pool: Pool,
  index: SearchIndex,
): AsyncGenerator<PeerDocument[]> {
  for (let after = 0; ; ) {
    // Uses the primary keys.
    const { rows } = await pool.query<StoredDocument>(
      `select a.seq::int as seq, a.id, a.published_at, a.ingested_at, a.publisher_no, a.author_nos, a.country, a.language,
         w.title, w.body
       from articles a join article_words w using (seq) where a.seq > $1 order by a.seq limit ${PART}`,
      [after],
    )
    if (rows.length === 0) return
    const shown = await index.articles(rows.map(row => BigInt(row.seq)))
    yield rows.map((row, at) => documentOf(row, JSON.stringify(articleObject(shown[at]!))))
    after = rows.at(-1)!.seq
  }
}

type StoredDocument = Omit<PeerDocument, 'title' | 'body' | 'titleKeys' | 'keys' | 'row'> & {
  seq: number
  title: string
  body: string
}

function documentOf(stored: StoredDocument, row: string): PeerDocument {
  // Reads the format that `wordList` writes.
  const listed = (list: string) => (list.length < 2 ? [] : list.slice(1, -1).split('\n'))
  const { language } = stored
  const keysOf = (words: string[]) => [
    ...new Set(
      words.map(word => (stopWordsOf(language).has(word) ? stopKey : stemKey)(language, word)),
    ),
  ]
  const title = listed(stored.title)
  const body = listed(stored.body)
  return {
    ...stored,
    title,
    body,
    titleKeys: keysOf(title),
    keys: keysOf([...title, ...body]),
    row,
  }
}

/**
 * A search for one page, in terms that any engine understands. Names of outlets and authors are
 * already numbers.
 */
export interface PeerQuestion extends Omit<ArticleQuery, 'match' | 'outlet' | 'author'> {
  match: PeerMatch
  publisherNos: number[] | null
  authorNos: number[] | null
  /** A total is counted up to this number. Null: the search asks for no total. */
  cap: number | null
  /** The last article of the page before. Null: it is the first page. */
  after: { id: string; value: number | null } | null
}

export type PeerMatch =
  | { kind: 'all' }
  /** Articles that have any of the keys. */
  | { kind: 'keys'; keys: string[] }
  /** Articles that have all required phrases and no excluded one. */
  | { kind: 'words'; required: string[][]; excluded: string[][] }

/**
 * Translates a search for the peers. @param after the last article of the page before; null: it is
 * the first page
 */
export async function questionOf(
  pool: Pool,
  query: ArticleQuery,
  after: Position | null,
): Promise<PeerQuestion> {
  const { outlet, author, match, ...rest } = query
  return {
    ...rest,
    match: matchOf(match, query.languages ?? LANGUAGES),
    publisherNos: await numbersOf(
      pool,
      'select publisher_no as no from publishers where strpos(folded_name, $1) > 0 or strpos(folded_domain, $1) > 0',
      outlet,
    ),
    authorNos: await numbersOf(
      pool,
      'select author_no as no from authors where strpos(folded_name, $1) > 0',
      author,
    ),
    cap: after === null ? TOTAL_CAP : null,
    after: after?.last ?? null,
  }
}

/**
 * Numbers of the outlets or authors whose names contain a part. When no name contains it, the list
 * has only 0, which nobody has.
 */
async function numbersOf(
  pool: Pool,
  statement: string,
  part: string | null,
): Promise<number[] | null> {
  if (part === null) return null
  const { rows } = await pool.query<{ no: number }>(statement, [foldName(part)])
  return rows.length === 0 ? [0] : rows.map(row => row.no)
}

function matchOf(match: Match, languages: readonly Language[]): PeerMatch {
  if (match.kind === 'all') return match
  if (match.kind === 'boolean')
    return { kind: 'words', required: match.required, excluded: match.excluded }
  if (match.kind === 'expression') throw new Error('The peers answer no expressions.')
  const keys = languages.flatMap(language => {
    const meaning = match.words.filter(word => !stopWordsOf(language).has(word))
    return meaning.length === 0
      ? match.words.map(word => stopKey(language, word))
      : meaning.map(word => stemKey(language, word))
  })
  return { kind: 'keys', keys: [...new Set(keys)] }
}
