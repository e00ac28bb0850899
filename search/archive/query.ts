import type { DocFilter, Extent } from '../execute/filter.ts'
import type { ScoringTerm } from '../query/match.ts'
import type { QueryNode } from '../query/node.ts'
import { parseNameTerm, parseWordTerm, TERMS } from '../terms.ts'

/** A clause of OpenSearch's query language. */
export type Clause = Readonly<Record<string, unknown>>

const ALL: Clause = { match_all: {} }

/**
 * The condition of a syntax tree: the same as `execute/two-phase.ts` evaluates, with phrases exact.
 */
export function clauseOf(node: QueryNode): Clause {
  switch (node.kind) {
    case 'term':
      return termClause(node.term)
    case 'and':
      return { bool: { filter: node.of.map(clauseOf) } }
    case 'or':
      return anyOf(orClauses(node.of))
    case 'andNot':
      return { bool: { filter: [clauseOf(node.of)], must_not: node.not.map(clauseOf) } }
    case 'phrase': {
      const fields = node.scope === 'title' ? ['title'] : ['title', 'body']
      const text = node.words.map(TERMS.word).join(' ')
      return anyOf(fields.map(field => ({ match_phrase: { [field]: text } })))
    }
  }
}

function anyOf(clauses: Clause[]): Clause {
  return clauses.length === 1 ? clauses[0]! : { bool: { should: clauses, minimum_should_match: 1 } }
}

/** Terms of one field become one clause, because the number of clauses has a limit. */
function orClauses(nodes: QueryNode[]): Clause[] {
  const terms = nodes.flatMap(node => (node.kind === 'term' && parseNameTerm(node.term) === null ? [node.term] : []))
  const others = nodes.filter(node => node.kind !== 'term' || parseNameTerm(node.term) !== null)
  const byField = Map.groupBy(terms.map(fieldOf), ({ field }) => field)
  const sets = [...byField].map(([field, own]): Clause => ({ terms: { [field]: own.map(({ value }) => value) } }))
  return [...sets, ...others.map(clauseOf)]
}

function termClause(term: string): Clause {
  const named = parseNameTerm(term)
  if (named === null) {
    const { field, value } = fieldOf(term)
    return { term: { [field]: value } }
  }
  const field = named.field === 'outlet' ? 'outlets' : 'authors'
  // Every outlet has a name or a domain, and every name contains nothing.
  if (named.part === '') return named.field === 'outlet' ? ALL : termClause(TERMS.hasAuthor(true))
  return { wildcard: { [field]: { value: `*${named.part.replace(/[\\*?]/g, '\\$&')}*` } } }
}

/** Words of the title are in their own field, all other terms in one. */
function fieldOf(term: string): { field: 'title' | 'terms'; value: string } {
  const word = parseWordTerm(term)
  return word?.kind === 'word' && word.inTitle ? { field: 'title', value: word.of } : { field: 'terms', value: term }
}

/**
 * The conditions on times and `seq`.
 *
 * @param extents of all indices that are asked: a condition that is true of all of them is left out
 */
export function filterClauses({ bounds, watermark }: DocFilter, extents: readonly Extent[]): Clause[] {
  const { published, undatedSince, ingested } = bounds
  const clauses: Clause[] = [{ range: { seq: { lte: Number(watermark) } } }]
  const isWithin = extents.every(
    one =>
      one.undated === 0 &&
      one.published !== null &&
      one.published.first >= published.from &&
      one.published.last < published.to,
  )
  if (!isWithin) {
    const dated: Clause = { range: { published: { gte: published.from, lt: published.to } } }
    const undated: Clause = {
      bool: {
        filter: [{ range: { ingested: { gte: undatedSince } } }],
        must_not: [{ exists: { field: 'published' } }],
      },
    }
    clauses.push(undatedSince === null ? dated : anyOf([dated, undated]))
  }
  if (ingested !== null) clauses.push({ range: { ingested: { gte: ingested.from, lt: ingested.to } } })
  return clauses
}

/**
 * A query whose score is that of `execute/scores.ts`. Weights are whole numbers below 2^24
 * together, so a float holds the sum. The functions of `function_score` do not count towards the
 * most clauses of a query, of which a long question has more.
 */
export function scored(query: Clause, scoring: readonly ScoringTerm[]): Clause {
  const functions = scoring.map(({ language, term, weight }) => ({
    filter: { bool: { filter: [termClause(term), termClause(TERMS.language(language))] } },
    weight,
  }))
  return { function_score: { query, functions, score_mode: 'sum', boost_mode: 'replace' } }
}
