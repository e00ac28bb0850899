import {
  type ArticleFilter,
  type Breakdown,
  type CountedTexts,
  type Counts,
  type IndexState,
  type SearchIndex,
  TooFrequent,
} from '#search/index'
import type { WithPermit } from '#services/api/access/access'
import { COSTS, type Pay } from '#services/api/access/costs'
import type { Cursor } from '#services/api/contract/cursor'
import { ApiError, invalid } from '#services/api/contract/errors'
import { ceilMs, lastMs } from '#services/api/contract/instants'
import { RETRY_UNAVAILABLE } from '#services/api/contract/parameters'
import { type ArticlesRequest, checkPlan } from '#services/api/contract/request'
import {
  type SearchPermits,
  type SemanticSearch,
  SemanticUnavailable,
  SetExpired,
} from '#services/api/semantic/query'
import type { Country } from '#shared/articles/article'
import { isSetName } from '#shared/desk/outlet-sets'
import type { Plan } from '#shared/plans/keys'
import { historyStart } from '#shared/plans/reach'
import type { Pool } from '#shared/postgres/pool'
import type { Listed, ShownArticle } from './shown-article.ts'

/*
 * Both operations and everything beside them search here. A request is checked against its plan,
 * and a search by words or by meaning finds the page. Waiting for a permit does not count as time
 * of the search.
 */

/** The parts that both operations use to search. */
export interface Searches {
  index: SearchIndex<ShownArticle>
  semantic: SemanticSearch<ShownArticle>
  /** Statements for this request alone, charged to its key. They end when its client leaves. */
  db: Pool
  /** Aborts when the client leaves. */
  leaves: AbortSignal
  /** Runs a search, or a part of one, with a permit of its key. */
  withPermit: WithPermit
  /** Asks the model and the vector store, with a permit of their own kind. */
  withQuestionPermit: WithPermit
  /** Takes more of the minute before work that costs more than one request. */
  pay: Pay
  /** The state of the index when the request was counted; absent: a search reads it. */
  state: IndexState | undefined
}

/** A page of a search by words or by meaning. */
export interface Found {
  rows: Listed[]
  total: number
  estimate: boolean
  next: Cursor['at'] | null
  /** ms that the search for the page took, without the waits for permits. */
  ms: number
}

/** A request for articles, or for counts and other facts about articles. */
export interface Asking {
  searches: Searches
  /** The query string as it arrived, without `?`. */
  rawQuery: string
  plan: Plan
}

/** A valid request with its plan applied. */
export interface PlannedRequest {
  request: ArticlesRequest
  plan: Plan
  countries: Country[]
  historyStart: Date
}

/**
 * Checks a request against its plan.
 *
 * @throws ApiError `country_not_included`, `history_not_included`
 */
export function plannedOf(
  request: ArticlesRequest,
  plan: Plan,
  start: Date = historyStart(plan.history, new Date()),
): PlannedRequest {
  // Sets of the key stand there as their domains (`withSets`). A search for a name finds nothing.
  const name = request.outlets?.find(isSetName)
  if (name !== undefined) throw invalid('outlets', noSetNamed(name))
  return { request, plan, countries: checkPlan(request, plan, start), historyStart: start }
}

export const noSetNamed = (name: string): string =>
  `This key has no set of outlets named "${name}"; write domains, as nrc.nl, or see /explore/outlet-sets.`

/**
 * Finds one page.
 * @param at the place after which the page begins; null: this is the first page
 * @param least of a search by meaning: the lowest relevance that counts
 * @throws ApiError `semantic_search_unavailable`; `invalid_request` for an expired candidate set
 */
export async function findArticles(
  searches: Searches,
  planned: PlannedRequest,
  at: Cursor['at'] | null,
  least = 0,
): Promise<Found> {
  const { index, semantic, state } = searches
  const { question, order, perPage } = planned.request
  const filter = filterOf(planned)
  return measured(searches, async permits => {
    if (question.search === 'semantic') {
      const asked = {
        text: question.q,
        planCountries: planned.plan.countries,
        sort: question.sort,
        order,
        perPage,
        least,
      }
      const position = at?.kind === 'semantic' ? at : null
      const page = await semantic.search({ ...filter, ...asked, state }, position, permits)
      return { ...page, estimate: false, next: page.next && { kind: 'semantic', ...page.next } }
    }
    const { match, searchIn, sort } = question
    const page = await permits.statements(pace =>
      index.search(
        { ...filter, match, searchIn, sort, order, perPage },
        at?.kind === 'words' ? at : null,
        { state, pace },
      ),
    )
    return { ...page, next: page.next && { kind: 'words', ...page.next } }
  })
}

/**
 * Counts all articles that the pages of a request would show.
 * @param texts counts each text once; absent: counts each article
 * @param least of a search by meaning: the lowest relevance that counts
 * @throws ApiError `semantic_search_unavailable`
 * @throws TooManyBuckets
 * @throws CountedElsewhere
 */
export async function countArticles(
  searches: Searches,
  planned: PlannedRequest,
  breakdown: Breakdown,
  texts?: CountedTexts,
  least = 0,
): Promise<{ counts: Counts; ms: number }> {
  const { index, semantic, state } = searches
  const { question } = planned.request
  const filter = filterOf(planned)
  return measured(searches, async permits => {
    if (question.search !== 'semantic') {
      const { match, searchIn, sort } = question
      const query = { ...filter, match, searchIn, sort }
      const counts = await permits.statements(pace =>
        index.countBy(query, breakdown, state?.lastSeq, texts, pace),
      )
      return { counts }
    }
    const asked = { text: question.q, planCountries: planned.plan.countries, reach: filter.reach }
    const seqs = await semantic.candidates(asked, least, permits)
    const counts = await permits.statements(() =>
      index.countAmong(seqs, { ...filter, sort: question.sort }, breakdown, texts, state),
    )
    return { counts }
  })
}

/**
 * Pays for searches that belong to one request, in one decision, before any of them begins.
 *
 * @param more what they cost of the minute besides
 * @returns `searches`, for work that is paid
 * @throws ApiError
 */
export async function payTogether(
  searches: Searches,
  all: PlannedRequest[],
  more: number,
): Promise<Searches> {
  const { index, state, withPermit, pay } = searches
  const priced = all.flatMap(one => {
    const { question } = one.request
    return question.search === 'expression' ? [{ ...filterOf(one), ...question }] : []
  })
  const price = await withPermit(async pace => {
    let sum = 0
    for (const query of priced) sum += await index.price(query, { state, pace })
    return sum
  }).catch((error: unknown) => {
    throw explainSearch(error)
  })
  await pay(more + price / COSTS.near)
  return paid(searches)
}

/** Searches whose work is paid already. */
export const paid = (searches: Searches): Searches => ({
  ...searches,
  withPermit: work => searches.withPermit(({ isDue, rest }) => work({ isDue, rest })),
})

/** Runs a search and adds `ms`: the time that its parts took, without the waits for permits. */
async function measured<T>(
  { withPermit, withQuestionPermit, leaves }: Searches,
  search: (permits: SearchPermits) => Promise<T>,
): Promise<T & { ms: number }> {
  let ms = 0
  const timed = async <T>(work: () => Promise<T>): Promise<T> => {
    const start = performance.now()
    try {
      return await work()
    } finally {
      ms += performance.now() - start
    }
  }
  const found = await search({
    leaves,
    statements: work => withPermit(pace => timed(() => work(pace))),
    question: work => withQuestionPermit(() => timed(work)),
  }).catch((error: unknown) => {
    throw explainSearch(error)
  })
  return { ...found, ms }
}

/** The filters of a request, bounded by its plan. */
export function filterOf({
  request,
  countries,
  historyStart,
}: Omit<PlannedRequest, 'plan'>): ArticleFilter {
  const {
    question: _question,
    q: _q,
    order: _order,
    perPage: _perPage,
    cursor: _cursor,
    ...filters
  } = request
  const {
    countries: _asked,
    publishedAfter: after,
    publishedBefore: before,
    ingestedAfter,
    ...more
  } = filters
  // The other filters go to the search unchanged. The compiler refuses a filter that
  // `ArticleFilter` does not have.
  void ({} satisfies Record<Exclude<keyof typeof more, keyof ArticleFilter>, never>)
  return {
    ...more,
    countries,
    reach: {
      historyStart,
      publishedAfter: after && new Date(ceilMs(after)),
      publishedBefore: before && new Date(lastMs(before)),
    },
    ingestedAfter: ingestedAfter && new Date(ceilMs(ingestedAfter)),
  }
}

/**
 * Converts an error of a search into the error that the client gets.
 *
 * @param parameter that has the words of the search
 */
export function explainSearch(error: unknown, parameter = 'q'): unknown {
  if (error instanceof SemanticUnavailable) {
    return new ApiError('semantic_search_unavailable', {
      headers: { 'Retry-After': String(RETRY_UNAVAILABLE) },
      cause: error,
    })
  }
  if (error instanceof TooFrequent) return invalid(parameter, error.message)
  if (error instanceof SetExpired) return invalid('cursor', 'expired')
  return error
}
