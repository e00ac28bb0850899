import { COUNTRIES } from '../../shared/articles/article.ts'
import type { Aggregation, PageOrder } from '../execute/collectors/aggregation.ts'
import type { NameField } from '../terms.ts'
import type { CompositeBucket, SearchAnswer } from './answers.ts'
import { LAST } from './mapping.ts'
import { type Clause, clauseOf } from './query.ts'

/** Buckets in one page of an aggregation that has pages. */
const PAGE = 10_000

/** An aggregation whose buckets come in pages. */
export interface Pages {
  name: string
  sources: Clause[]
  take(bucket: CompositeBucket): void
}

/** What the collectors of a search ask together. */
export interface ArchiveQuestion {
  page: PageOrder | null
  /** Parts of the request's body. */
  body: Record<string, unknown>
  pages: Pages[]
  take(answer: SearchAnswer): void
}

export function questionOf(aggregations: readonly Aggregation[]): ArchiveQuestion {
  const question: ArchiveQuestion = { page: null, body: { size: 0, track_total_hits: false }, pages: [], take() {} }
  const takes: ArchiveQuestion['take'][] = []
  const aggs: Record<string, Clause> = {}
  aggregations.forEach((aggregation, index) => {
    const name = `a${index}`
    switch (aggregation.kind) {
      case 'first':
        question.page = aggregation.page
        Object.assign(question.body, pageBody(aggregation.page))
        takes.push(answer => aggregation.take(answer.hits))
        break
      case 'count':
        if (aggregation.limit === 0) break
        question.body.track_total_hits = aggregation.limit === Infinity ? true : aggregation.limit
        takes.push(answer => aggregation.take(answer.total ?? 0))
        break
      case 'times':
        Object.assign(aggs, timesOf(aggregation, name))
        takes.push(answer => {
          const counts = aggregation.starts.length > 1 ? answer.counts(name) : []
          aggregation.take(counts, answer.counts(`${name}_none`)[0] ?? 0)
        })
        break
      case 'terms':
        aggs[name] = { filters: { filters: aggregation.terms.map(term => clauseOf({ kind: 'term', term })) } }
        takes.push(answer => aggregation.take(answer.counts(name)))
        break
      case 'outlets':
        question.pages.push({
          name,
          sources: [sourceOf('publisher')],
          take: ({ key, count }) => aggregation.take(Number(key.publisher), count),
        })
        break
      case 'names':
        question.pages.push(namesOf('outlet', 'publisher', aggregation), namesOf('author', 'author_nos', aggregation))
        break
    }
  })
  if (Object.keys(aggs).length > 0) question.body.aggs = aggs
  question.take = answer => takes.forEach(take => void take(answer))
  return question
}

function pageBody({ sort, order, position, wanted, scored }: PageOrder): Record<string, unknown> {
  const ascending = order === 'asc'
  const field = sort === 'ingested_at' ? 'ingested' : ascending ? 'oldest' : 'newest'
  const last = position?.last
  const value = last?.value ?? (ascending ? LAST : -LAST)
  return {
    size: wanted,
    sort: [{ [field]: order }, ...(scored ? [{ _score: 'desc' }] : []), { id: order }],
    ...(last === undefined ? {} : { search_after: [value, ...(scored ? [last.score] : []), last.id] }),
    stored_fields: '_none_',
    docvalue_fields: ['seq'],
  }
}

function timesOf({ axis, starts }: Extract<Aggregation, { kind: 'times' }>, name: string): Record<string, Clause> {
  const field = axis === 'published_at' ? 'published' : 'ingested'
  const ranges = Array.from(starts.subarray(1), (to, bucket) => ({ from: starts[bucket]!, to }))
  return {
    // OpenSearch refuses a list of no ranges.
    ...(ranges.length === 0 ? {} : { [name]: { range: { field, ranges } } }),
    [`${name}_none`]: { missing: { field } },
  }
}

const sourceOf = (field: string): Clause => ({ [field]: { terms: { field } } })

/** Buckets by number and country. */
function namesOf(field: NameField, source: string, { take }: Extract<Aggregation, { kind: 'names' }>): Pages {
  return {
    name: field,
    sources: [sourceOf(source), sourceOf('country')],
    take({ key, count }) {
      const countries = COUNTRIES.reduce((bits, one, bit) => (one === key.country ? bits | (1 << bit) : bits), 0)
      take(field, Number(key[source]), { articles: count, countries })
    },
  }
}

/** @param after the page before ended there; null: the first page */
export const pageOf = ({ name, sources }: Pages, after: unknown): Record<string, unknown> => ({
  size: 0,
  track_total_hits: false,
  aggs: { [name]: { composite: { size: PAGE, sources, ...(after === null ? {} : { after }) } } },
})
