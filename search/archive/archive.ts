import { type Collector, minuteOf, type PageOrder, type Question } from '../execute/collector.ts'
import {
  CountedElsewhere,
  type Elsewhere,
  type IndexPart,
  nowhere,
  type Verify,
} from '../execute/index-parts.ts'
import {
  type Ahead,
  type DocFilter,
  type Extent,
  inOrder,
  type MatchOrder,
  type SearchPlan,
} from '../execute/plan.ts'
import type { Queryable } from '../postgres.ts'
import { isWithin } from '../query/filters.ts'
import type { ScoringTerm } from '../query/match.ts'
import type { QueryNode } from '../query/parse.ts'
import { SegmentsChanged } from '../store/segment-store.ts'
import { type NameField, parseNameTerm, parseWordTerm, TERMS } from '../terms.ts'
import { COUNTRIES } from '../vocabulary.ts'
import { type ArchiveHit, type CompositeBucket, readAnswer, type SearchAnswer } from './answers.ts'
import {
  type ArchiveClient,
  ArchiveMissing,
  type ArchiveRequest,
  type ArchiveSettings,
  openArchiveClient,
} from './client.ts'
import { LAST } from './documents.ts'
import { among } from './send.ts'
import { type ArchiveIndex, type ArchiveMeta, readArchiveMeta } from './state.ts'

/*
 * A collector describes its needs as a question. Segments answer the question from documents, and
 * the archive answers it by aggregations of OpenSearch.
 */

/**
 * The most indices in one request. Their names must fit into the first line of the request, which
 * has at most 4 kB.
 */
const INDICES = 32

/**
 * `WITHIN`: ms for one request with all its tries. `EACH`: ms that the client waits for a node
 * before it asks another one. `CANCEL`: ms after which OpenSearch gives a request up by itself, so
 * that a slow request gets an answer, and only a node that is away gets none.
 */
const WITHIN = 5_000
const EACH = 2_500
const CANCEL = 2_000

/**
 * Opens the archive in OpenSearch for searches.
 *
 * @param db Postgres, which has the state of the archive
 * @param settings null: the address of OpenSearch is not set
 * @param failed called when the archive fails to answer a search
 * @param guard runs each request, or refuses it at once
 */
export function openArchive(
  db: Queryable,
  settings: ArchiveSettings | null,
  failed = (): void => {},
  guard: <T>(work: () => Promise<T>) => Promise<T> = work => work(),
): Elsewhere {
  if (settings === null) return nowhere(missing => new ArchiveMissing(missing))
  const { send, close } = openArchiveClient(settings)
  const client = { send: (request: ArchiveRequest) => guard(() => send(request)), close }
  return {
    async at(version) {
      const own = await readArchiveMeta(db)
      if (own.version !== version)
        throw new SegmentsChanged('segments were replaced during a search')
      const isCurrent = async () => (await readArchiveMeta(db)).version === version
      return {
        covered: own.covered,
        part: (plan, order, verify) =>
          archivePart(client, own, plan, order, { isCurrent, failed, verify }),
      }
    },
    close,
  }
}

/**
 * @param told.isCurrent whether segments and archive have not changed since the search began
 * @param told.verify checks NEAR on the words of articles, because OpenSearch cannot evaluate NEAR
 *   for forms of words
 */
function archivePart(
  client: ArchiveClient,
  { indices, covered, removed }: ArchiveMeta,
  { node, scoring, filter, nears }: SearchPlan,
  order: MatchOrder,
  told: {
    isCurrent: () => Promise<boolean>
    failed: () => void
    verify: Verify
  },
): IndexPart {
  const watermark = filter.watermark < covered ? filter.watermark : covered
  const own = { ...filter, watermark }
  const ahead = inOrder(indices, order, own)
  let found: number[] | null = null
  const conditionOf = (asked: ArchiveIndex[]): Clause => {
    const isAsked = (seq: number) => asked.some(one => one.first <= seq && seq <= one.last)
    const words = node === null ? [] : [clauseOf(node)]
    // The numbers of all indices may be megabytes.
    const matching = found === null ? words : [oneOf(found.filter(isAsked))]
    return {
      bool: {
        filter: [...matching, ...filterClauses(own, asked)],
        must_not: among(removed.filter(isAsked)),
      },
    }
  }

  const matchSome = async (some: Ahead<ArchiveIndex>[], collectors: readonly Collector[]) => {
    const asked = some.map(one => one.segment)
    const question = questionOf(collectors.map(collector => collector.question))
    const condition = conditionOf(asked)
    const isScored = question.page?.scored === true
    const query = isScored ? scored(condition, scoring) : condition
    const search = async (body: Record<string, unknown>) =>
      readAnswer(await client.send(searchRequest(asked, { ...body, query })), isScored)
    await ask(question, search)
  }
  /**
   * Reads all documents that may match, and keeps those that have NEAR and were published in time.
   *
   * @returns the numbers of those that match
   */
  const verified = async (): Promise<number[]> => {
    const seqs: bigint[] = []
    for (let from = 0; from < ahead.length; from += INDICES) {
      const asked = ahead.slice(from, from + INDICES).map(one => one.segment)
      const query = conditionOf(asked)
      let hits: ArchiveHit[] = []
      do {
        const after = hits.length === 0 ? {} : { search_after: [Number(hits.at(-1)!.seq)] }
        const body = { ...OPEN_PAGE, ...after, query }
        hits = readAnswer(await client.send(searchRequest(asked, body)), false).hits
        const inTime = hits.filter(hit => isWithin(own.bounds, hit.published, hit.ingested))
        seqs.push(...inTime.map(hit => hit.seq))
      } while (hits.length === PAGE)
    }
    return (await told.verify(seqs)).map(Number)
  }
  return {
    startsAt: ahead[0]?.startsAt ?? null,
    async match(collectors) {
      for (const { question } of collectors) refuseUncounted(question)
      try {
        if (nears.length > 0 || own.bounds.within !== null) found = await verified()
        for (let from = 0; from < ahead.length; from += INDICES) {
          const next = ahead[from]!.startsAt
          if (from > 0 && collectors.every(collector => collector.isComplete(next))) return
          await matchSome(ahead.slice(from, from + INDICES), collectors)
        }
      } catch (error) {
        // A request also fails when its index was replaced and deleted meanwhile. The search then
        // starts again with the new index.
        if (!(await told.isCurrent()))
          throw new SegmentsChanged('the archive changed during a search')
        told.failed()
        throw error
      }
    },
  }
}

/**
 * Hands each answer to the collectors when it comes. When a later request fails, the whole search
 * fails, and its collectors are thrown away.
 */
async function ask(
  { body, pages, take }: ArchiveQuestion,
  search: (body: Record<string, unknown>) => Promise<SearchAnswer>,
): Promise<void> {
  const asksMore = body.size !== 0 || body.track_total_hits !== false || body.aggs !== undefined
  if (asksMore) take(await search(body))
  for (const page of pages) {
    let after: unknown = null
    do {
      const { buckets, after: next } = (await search(pageOf(page, after))).composite(page.name)
      for (const bucket of buckets) page.take(bucket)
      after = buckets.length === 0 ? null : (next ?? null)
    } while (after !== null)
  }
}

const SEARCH = [
  // A missing index or shard is an error, never a shorter page.
  'allow_partial_search_results=false',
  'ignore_unavailable=false',
  `cancel_after_time_interval=${CANCEL}ms`,
  'filter_path=timed_out,_shards.failed,hits.total,hits.hits.fields,hits.hits.sort,aggregations',
].join('&')

const searchRequest = (indices: ArchiveIndex[], body: Record<string, unknown>) => ({
  method: 'POST' as const,
  path: `/${indices.map(index => index.name).join(',')}/_search?${SEARCH}`,
  body: JSON.stringify(body),
  within: WITHIN,
  each: EACH,
})

/** The most buckets or documents in one page of an answer. */
const PAGE = 10_000

/** Asks for a page of documents. Of each document, OpenSearch returns its number and its times. */
const OPEN_PAGE = {
  size: PAGE,
  track_total_hits: false,
  sort: [{ seq: 'asc' }],
  stored_fields: '_none_',
  docvalue_fields: ['seq', 'published', 'ingested'],
}

/** An aggregation whose buckets come in pages. */
interface Pages {
  name: string
  sources: Clause[]
  /** Aggregations within each bucket; absent: there are none. */
  aggs?: Clause
  take(bucket: CompositeBucket): void
}

/** The questions of all collectors of a search, put together. */
interface ArchiveQuestion {
  page: PageOrder | null
  /** Parts of the request's body. */
  body: Record<string, unknown>
  pages: Pages[]
  take(answer: SearchAnswer): void
}

function questionOf(aggregations: readonly Question[]): ArchiveQuestion {
  const question: ArchiveQuestion = {
    page: null,
    body: { size: 0, track_total_hits: false },
    pages: [],
    take() {},
  }
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
        aggs[name] = {
          filters: { filters: aggregation.terms.map(term => clauseOf({ kind: 'term', term })) },
        }
        question.body.track_total_hits = true
        takes.push(answer => aggregation.take(answer.counts(name), answer.total ?? 0))
        break
      case 'outlets':
        question.pages.push({
          name,
          sources: [sourceOf('publisher')],
          take: ({ key, count }) => aggregation.take(Number(key.publisher), count),
        })
        break
      case 'names':
        question.pages.push(
          namesOf('outlet', 'publisher', aggregation),
          namesOf('author', 'author_nos', aggregation),
        )
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
    ...(last === undefined
      ? {}
      : { search_after: [value, ...(scored ? [last.score] : []), last.id] }),
    stored_fields: '_none_',
    docvalue_fields: ['seq'],
  }
}

function timesOf(
  { axis, starts }: Extract<Question, { kind: 'times' }>,
  name: string,
): Record<string, Clause> {
  const field = axis === 'published_at' ? 'published' : 'ingested'
  const ranges = Array.from(starts.subarray(1), (to, bucket) => ({ from: starts[bucket]!, to }))
  return {
    // OpenSearch refuses an empty list of ranges.
    ...(ranges.length === 0 ? {} : { [name]: { range: { field, ranges } } }),
    [`${name}_none`]: { missing: { field } },
  }
}

const sourceOf = (field: string): Clause => ({ [field]: { terms: { field } } })

/** Counts articles by the number of their outlet or author, and by country. */
const namesOf = (
  field: NameField,
  source: string,
  { take }: Extract<Question, { kind: 'names' }>,
): Pages => ({
  name: field,
  sources: [sourceOf(source), sourceOf('country')],
  aggs: NEWEST,
  take({ key, count, newest }) {
    const countries = COUNTRIES.reduce(
      (bits, one, bit) => (one === key.country ? bits | (1 << bit) : bits),
      0,
    )
    const minute = minuteOf(newest)
    take(field, Number(key[source]), {
      articles: count,
      countries,
      newest: COUNTRIES.map(() => minute),
    })
  },
})

/**
 * Asks for two times of the articles of a bucket. One is the latest publication. The other is the
 * latest ingestion of articles without a date of publication.
 */
const NEWEST: Clause = {
  dated: { max: { field: 'published' } },
  undated: {
    filter: { bool: { must_not: [{ exists: { field: 'published' } }] } },
    aggs: { ingested: { max: { field: 'ingested' } } },
  },
}

/** @param after the key after which this page begins; null: the first page */
const pageOf = ({ name, sources, aggs }: Pages, after: unknown): Record<string, unknown> => ({
  size: 0,
  track_total_hits: false,
  aggs: {
    [name]: {
      composite: { size: PAGE, sources, ...(after === null ? {} : { after }) },
      ...(aggs === undefined ? {} : { aggs }),
    },
  },
})

/** @throws CountedElsewhere when documents of the archive lack what is counted */
function refuseUncounted(question: Collector['question']): void {
  const { kind } = question
  if (kind === 'texts' || kind === 'sections') throw new CountedElsewhere(kind)
  if (kind === 'terms' && question.terms.some(isStated)) throw new CountedElsewhere('kinds')
}

/** Whether a term is of a kind or an access. */
const isStated = (term: string): boolean => term[0] === 'K' || term[0] === 'F'

/** A clause of OpenSearch's query language. */
type Clause = Readonly<Record<string, unknown>>

const ALL: Clause = { match_all: {} }

/**
 * The condition of a syntax tree. It matches the same documents as `execute/two-phase.ts` after
 * verification, with one difference: the two sides of NEAR may stand anywhere in the text.
 */
function clauseOf(node: QueryNode): Clause {
  switch (node.kind) {
    case 'term':
      return termClause(node.term)
    case 'near':
      return clauseOf(node.of)
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

const anyOf = (clauses: Clause[]): Clause =>
  clauses.length === 1 ? clauses[0]! : { bool: { should: clauses, minimum_should_match: 1 } }

/** Documents with one of these numbers; without a number there is none. */
const oneOf = (seqs: number[]): Clause => ({
  bool: { should: [{ terms: { seq: [] } }, ...among(seqs)], minimum_should_match: 1 },
})

/** Terms of one field become one clause, because the number of clauses has a limit. */
function orClauses(nodes: QueryNode[]): Clause[] {
  const terms = nodes.flatMap(node =>
    node.kind === 'term' && parseNameTerm(node.term) === null ? [node.term] : [],
  )
  const others = nodes.filter(node => node.kind !== 'term' || parseNameTerm(node.term) !== null)
  const byField = Map.groupBy(terms.map(fieldOf), ({ field }) => field)
  const sets = [...byField].map(
    ([field, own]): Clause => ({ terms: { [field]: own.map(({ value }) => value) } }),
  )
  return [...sets, ...others.map(clauseOf)]
}

function termClause(term: string): Clause {
  const named = parseNameTerm(term)
  if (named === null) {
    const { field, value } = fieldOf(term)
    return { term: { [field]: value } }
  }
  const field = named.field === 'outlet' ? 'outlets' : 'authors'
  // Every name contains the empty part, so each article with a name matches.
  if (named.part === '') return named.field === 'outlet' ? ALL : termClause(TERMS.hasAuthor(true))
  return { wildcard: { [field]: { value: `*${named.part.replace(/[\\*?]/g, '\\$&')}*` } } }
}

/**
 * The field that holds a term. Words of titles have their own field, outlets too, and all other
 * terms share one field.
 */
function fieldOf(term: string): { field: 'title' | 'terms' | 'publisher'; value: string } {
  if (term[0] === 'P') return { field: 'publisher', value: term.slice(1) }
  const word = parseWordTerm(term)
  return word?.kind === 'word' && word.inTitle
    ? { field: 'title', value: word.of }
    : { field: 'terms', value: term }
}

/**
 * The conditions on times and `seq`. `within` is not among them, because OpenSearch compares two
 * fields only by a script, which a server may refuse.
 *
 * @param extents of all indices of the request. A condition that all their articles meet is left
 *   out.
 */
function filterClauses(
  { bounds, watermark, above }: DocFilter,
  extents: readonly Extent[],
): Clause[] {
  const { published, undatedSince, ingested } = bounds
  const clauses: Clause[] = [{ range: { seq: { gt: Number(above), lte: Number(watermark) } } }]
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
  if (ingested !== null)
    clauses.push({ range: { ingested: { gte: ingested.from, lt: ingested.to } } })
  return clauses
}

/**
 * A query that gives the same score as `execute/order.ts`. The sum of the weights is a whole number
 * below 2^24, so a float holds it. A long question has more clauses than a query may have. The
 * functions of `function_score` do not count towards this limit.
 */
function scored(query: Clause, scoring: readonly ScoringTerm[]): Clause {
  const functions = scoring.map(({ language, term, weight }) => ({
    filter: { bool: { filter: [termClause(term), termClause(TERMS.language(language))] } },
    weight,
  }))
  return { function_score: { query, functions, score_mode: 'sum', boost_mode: 'replace' } }
}
