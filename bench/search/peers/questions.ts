import { foldName, STOP_WORDS } from '../../../search/analysis/index.ts'
import { type ArticleQuery, type Axis, type Match, type Position, TOTAL_CAP } from '../../../search/index.ts'
import { COUNTRIES, LANGUAGES } from '../../../shared/articles/article.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { FILTER_WORDS, firstAtLeast, type Orders, stemKey, stopKey } from './documents.ts'

/**
 * One page of a search in terms that any engine understands; names and bounds of time are already
 * resolved.
 */
export interface PeerQuestion {
  scope: 'title' | 'title_body'
  match: PeerMatch
  /** null: no such filter. */
  countries: string[] | null
  languages: string[] | null
  hasAuthor: boolean | null
  publisherNos: number[] | null
  authorNos: number[] | null
  sort: Axis
  order: 'asc' | 'desc'
  limit: number
  /** The total is counted up to this; null: no total. */
  cap: number | null
  /**
   * Bounds of publication and ingestion as times, both inclusive of `from` and exclusive of `to`.
   */
  published: { from: Date; to: Date } | null
  ingestedFrom: Date | null
  /** The same as places and turns (`documents.ts`). */
  places: { from: number; to: number } | null
  turnFrom: number | null
  /** The article that the page comes after. */
  after: { id: string; value: Date | null; place: number; turn: number } | null
}

export type PeerMatch =
  | { kind: 'all' }
  /** Any of the keys (`stemKey`, `stopKey`). */
  | { kind: 'keys'; keys: string[] }
  /** All of the phrases, none of the excluded. */
  | { kind: 'words'; required: string[][]; excluded: string[][] }

/**
 * @param after number of the last article of the page before, and its values in the cursor; null:
 * the first page
 */
export async function questionOf(
  pool: Pool,
  orders: Orders,
  query: ArticleQuery,
  after: { seq: number; position: Position } | null,
): Promise<PeerQuestion> {
  const { publisherNos, authorNos } = await readNames(pool, query)
  const { publishedAfter, publishedBefore } = query.coverage
  const published =
    publishedAfter !== null && publishedBefore !== null ? { from: publishedAfter, to: publishedBefore.at } : null
  return {
    scope: query.searchIn,
    match: matchOf(query.match, query.languages ?? LANGUAGES),
    countries: query.countries.length === COUNTRIES.length ? null : query.countries,
    languages: query.languages,
    hasAuthor: query.hasAuthor,
    // No outlet and no author has the number 0.
    publisherNos: publisherNos?.length === 0 ? [0] : publisherNos,
    authorNos: authorNos?.length === 0 ? [0] : authorNos,
    sort: query.sort,
    order: query.order,
    limit: query.perPage,
    cap: after === null ? TOTAL_CAP : null,
    published,
    ingestedFrom: query.ingestedAfter,
    places: published && {
      from: firstAtLeast(orders.published, published.from.getTime()),
      to: firstAtLeast(orders.published, published.to.getTime()),
    },
    turnFrom: query.ingestedAfter && firstAtLeast(orders.ingested, query.ingestedAfter.getTime()),
    after: after && {
      id: after.position.last.id,
      value: after.position.last.value === null ? null : new Date(after.position.last.value),
      place: orders.placeOfSeq[after.seq]!,
      turn: orders.turnOfSeq[after.seq]!,
    },
  }
}

/** Numbers of the outlets and authors whose names contain a part. */
async function readNames(pool: Pool, { outlet, author }: ArticleQuery) {
  const numbersOf = async (statement: string, part: string | null): Promise<number[] | null> => {
    if (part === null) return null
    const { rows } = await pool.query<{ no: number }>(statement, [foldName(part)])
    return rows.map(row => row.no)
  }
  return {
    publisherNos: await numbersOf(
      'select publisher_no as no from publishers where strpos(folded_name, $1) > 0 or strpos(folded_domain, $1) > 0',
      outlet,
    ),
    authorNos: await numbersOf('select author_no as no from authors where strpos(folded_name, $1) > 0', author),
  }
}

function matchOf(match: Match, languages: readonly (typeof LANGUAGES)[number][]): PeerMatch {
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

/** The filters but for time, each as a list of words of which one must be there (`filterWords`). */
export function filtersOf(question: PeerQuestion): string[][] {
  const { countries, languages, hasAuthor, publisherNos, authorNos } = question
  const filters: string[][] = []
  if (countries !== null) filters.push(countries.map(FILTER_WORDS.country))
  if (languages !== null) filters.push(languages.map(FILTER_WORDS.language))
  if (hasAuthor !== null) filters.push([FILTER_WORDS.hasAuthor(hasAuthor)])
  if (publisherNos !== null) filters.push(publisherNos.map(FILTER_WORDS.publisher))
  if (authorNos !== null) filters.push(authorNos.map(FILTER_WORDS.author))
  return filters
}
