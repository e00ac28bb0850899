import { STOP_WORDS, stem } from '../../../search/analysis/index.ts'
import type { ArticleRow, SearchIndex } from '../../../search/index.ts'
import { articleObject } from '../../../services/api/articles/shown-article.ts'
import type { Language } from '../../../shared/articles/article.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'

/**
 * An article as the peers get it: the same words as Perscope's, so that tokenizers make no
 * difference.
 */
export interface PeerDocument {
  seq: number
  id: string
  /** Its number in the order of publication, from 1; those without a date come first. */
  place: number
  /** Its number in the order of ingestion, from 1. */
  turn: number
  publishedAt: Date | null
  ingestedAt: Date
  publisherNo: number
  authorNos: number[]
  country: string
  language: string
  /** Folded words in their order. */
  title: string[]
  body: string[]
  /**
   * Keys that keyword searches look for, each once (`keysOf`): of the title, and of title and body.
   */
  titleKeys: string[]
  keys: string[]
  /** The article as the contract shows it, as JSON. */
  row: string
}

/** The two orders of the archive. Places and turns begin at 1; index 0 is empty. */
export interface Orders {
  rows: number
  seqOfPlace: Int32Array
  placeOfSeq: Int32Array
  seqOfTurn: Int32Array
  turnOfSeq: Int32Array
  /** Publication in ms by place; -Infinity without a date. */
  published: Float64Array
  /** Ingestion in ms by turn. */
  ingested: Float64Array
  /** Articles without a date: the first places. */
  undated: number
}

/**
 * The key of a word in an article of the language. A keyword search looks for stems; a query of
 * stop words alone looks for the words themselves (`search/query/match.ts`).
 */
export const stemKey = (language: Language, word: string) => `${language}s${stem(language, word)}`
export const stopKey = (language: Language, word: string) => `${language}w${word}`

/** Reads the archive's orders, ties by id as the contract has them. */
export async function readOrders(pool: Pool): Promise<Orders> {
  const places = await pool.query<{ seq: number; at: number | null }>(ORDER('published_at'))
  const turns = await pool.query<{ seq: number; at: number }>(ORDER('ingested_at'))
  const rows = places.rows.length
  const room = () => new Int32Array(rows + 1)
  const orders: Orders = {
    ...{ rows, seqOfPlace: room(), placeOfSeq: room(), seqOfTurn: room(), turnOfSeq: room() },
    published: new Float64Array(rows + 1).fill(-Infinity),
    ingested: new Float64Array(rows + 1).fill(-Infinity),
    undated: places.rows.filter(row => row.at === null).length,
  }
  places.rows.forEach(({ seq, at }, index) => {
    orders.seqOfPlace[index + 1] = seq
    orders.placeOfSeq[seq] = index + 1
    orders.published[index + 1] = at ?? -Infinity
  })
  turns.rows.forEach(({ seq, at }, index) => {
    orders.seqOfTurn[index + 1] = seq
    orders.turnOfSeq[seq] = index + 1
    orders.ingested[index + 1] = at
  })
  return orders
}

const ORDER = (axis: string) => `
  select seq::int as seq, (extract(epoch from ${axis}) * 1000)::float8 as at
  from articles order by ${axis} nulls first, id collate "C"`

/** The first index from 1 whose value is at least the given one. */
export function firstAtLeast(values: Float64Array, value: number): number {
  let low = 1
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (values[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}

const PART = 1_000

/**
 * All articles in the order of publication, in batches.
 *
 * @param index reads what the contract shows of them
 */
export async function* readDocuments(pool: Pool, index: SearchIndex, orders: Orders): AsyncGenerator<PeerDocument[]> {
  for (let place = 1; place <= orders.rows; place += PART) {
    const seqs = Array.from(orders.seqOfPlace.subarray(place, Math.min(place + PART, orders.rows + 1)))
    const { rows } = await pool.query<Row>(DOCUMENTS, [seqs])
    const shown = await index.articles(seqs.map(BigInt))
    yield rows.map((row, at) => documentOf(row, shown[at]!, orders))
  }
}

interface Row {
  seq: number
  id: string
  published_at: Date | null
  ingested_at: Date
  publisher_no: number
  author_nos: number[]
  country: string
  language: Language
  title: string
  body: string
}

// $1 seqs. Indexes: the primary keys.
const DOCUMENTS = `
  select a.seq::int as seq, a.id, a.published_at, a.ingested_at, a.publisher_no, a.author_nos, a.country, a.language,
    w.title, w.body
  from unnest($1::bigint[]) with ordinality as wanted (seq, place)
  join articles a on a.seq = wanted.seq
  join article_words w on w.seq = wanted.seq
  order by wanted.place`

function documentOf(row: Row, shown: ArticleRow, orders: Orders): PeerDocument {
  const title = listed(row.title)
  const body = listed(row.body)
  const titleKeys = keysOf(title, row.language)
  return {
    ...{ seq: row.seq, id: row.id, place: orders.placeOfSeq[row.seq]!, turn: orders.turnOfSeq[row.seq]! },
    ...{ publishedAt: row.published_at, ingestedAt: row.ingested_at },
    ...{ publisherNo: row.publisher_no, authorNos: row.author_nos, country: row.country, language: row.language },
    ...{ title, body, titleKeys: [...titleKeys], keys: [...new Set([...titleKeys, ...keysOf(body, row.language)])] },
    row: JSON.stringify(articleObject(shown)),
  }
}

function keysOf(words: string[], language: Language): Set<string> {
  const stops = STOP_WORDS[language]
  return new Set(words.map(word => (stops.has(word) ? stopKey(language, word) : stemKey(language, word))))
}

/** The words of a list as `wordList` writes it. */
function listed(list: string): string[] {
  return list.length < 2 ? [] : list.slice(1, -1).split('\n')
}

/**
 * Country, language, outlet, authors and by-line as words, for engines whose filters are words too.
 */
export function filterWords(document: PeerDocument): string[] {
  const { country, language, publisherNo, authorNos } = document
  return [
    FILTER_WORDS.country(country),
    FILTER_WORDS.language(language),
    FILTER_WORDS.publisher(publisherNo),
    FILTER_WORDS.hasAuthor(authorNos.length > 0),
    ...authorNos.map(FILTER_WORDS.author),
  ]
}

export const FILTER_WORDS = {
  country: (country: string) => `c${country.toLowerCase()}`,
  language: (language: string) => `l${language}`,
  publisher: (no: number) => `o${no}`,
  author: (no: number) => `a${no}`,
  hasAuthor: (has: boolean) => (has ? 'h1' : 'h0'),
}
