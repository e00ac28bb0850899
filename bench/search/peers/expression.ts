import type { Orders } from './documents.ts'
import type { PeerAnswer } from './peer.ts'
import { filtersOf, type PeerQuestion } from './questions.ts'

/** A question's conditions, for engines of Lucene's kind. */
export type Expression =
  | ['all']
  | ['term', field: string, term: string]
  /** Any of the terms. */
  | ['terms', field: string, terms: string[]]
  | ['phrase', field: string, words: string[]]
  /** From a number to one that is excluded. */
  | ['range', field: string, from: number, to: number]
  | ['boolean', ['and' | 'or' | 'not', Expression][]]

/** The number that pages are ordered by (`place`, `rise`, `turn` of the documents). */
export type OrderField = 'place' | 'rise' | 'turn'

/** A question in the terms of such an engine. */
export interface ExpressedQuestion {
  query: Expression
  limit: number
  /** null: no total. */
  cap: number | null
  by: OrderField
  ascending: boolean
  /** The page begins behind this value of `by`; null: the first page. */
  after: number | null
}

/**
 * Where an article stands in ascending order of publication: articles without a date come last
 * there too.
 */
export const riseOf = (place: number, orders: Orders): number => (place <= orders.undated ? orders.rows + place : place)

/** The number of the article with that value of the order. */
function seqAt(by: OrderField, value: number, orders: Orders): number {
  if (by === 'turn') return orders.seqOfTurn[value]!
  return orders.seqOfPlace[value > orders.rows ? value - orders.rows : value]!
}

export function expressed(question: PeerQuestion, orders: Orders): ExpressedQuestion {
  const { sort, order, limit, cap, after, places, turnFrom } = question
  const by = sort === 'ingested_at' ? 'turn' : order === 'asc' ? 'rise' : 'place'
  const parts = [...matchOf(question), ...filtersOf(question).map(words => anyOf('filters', words))]
  if (places !== null) parts.push(['range', 'place', places.from, places.to])
  if (turnFrom !== null) parts.push(['range', 'turn', turnFrom, orders.rows + 1])
  const behind = after && { place: after.place, rise: riseOf(after.place, orders), turn: after.turn }[by]
  return { query: all(parts), limit, cap, by, ascending: order === 'asc', after: behind }
}

function matchOf({ match, scope }: PeerQuestion): Expression[] {
  if (match.kind === 'all') return []
  if (match.kind === 'keys') return [anyOf(scope === 'title' ? 'title_keys' : 'keys', match.keys)]
  const fields = scope === 'title' ? ['title'] : ['title', 'body']
  const phrase = (words: string[]): Expression =>
    any(fields.map(field => (words.length === 1 ? ['term', field, words[0]!] : ['phrase', field, words])))
  const required = match.required.map(phrase)
  if (match.excluded.length === 0) return required
  const occurs: ['and' | 'not', Expression][] = [
    ...required.map((part): ['and', Expression] => ['and', part]),
    ...match.excluded.map((words): ['not', Expression] => ['not', phrase(words)]),
  ]
  return [['boolean', occurs]]
}

function all(parts: Expression[]): Expression {
  if (parts.length === 0) return ['all']
  return parts.length === 1 ? parts[0]! : ['boolean', parts.map(part => ['and', part])]
}

const any = (parts: Expression[]): Expression =>
  parts.length === 1 ? parts[0]! : ['boolean', parts.map(part => ['or', part])]

const anyOf = (field: string, terms: string[]): Expression =>
  terms.length === 1 ? ['term', field, terms[0]!] : ['terms', field, terms]

/** The answer of a program of such an engine. */
export interface EngineAnswer {
  /** Values of the order. */
  places: number[]
  /** Articles as JSON, or read from it. */
  rows: (string | object)[]
  count: number | null
  ms: number
}

export function pageOf(answer: EngineAnswer, { cap, by }: ExpressedQuestion, orders: Orders): PeerAnswer {
  const { places, rows, count, ms } = answer
  return {
    seqs: places.map(place => seqAt(by, place, orders)),
    rows: rows.map(row => (typeof row === 'string' ? row : JSON.stringify(row))),
    total: cap === null ? null : Math.min(count ?? 0, cap),
    ms,
  }
}
