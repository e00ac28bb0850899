import type { ArticleFilter, Breakdown, Counts, IndexState, SearchIndex } from '../../../search/index.ts'
import type { Country } from '../../../shared/articles/article.ts'
import type { Plan } from '../../../shared/plans/plan.ts'
import { ApiError } from '../contract/api-error.ts'
import { RETRY_SEMANTIC } from '../contract/limits.ts'
import type { Cursor } from '../cursor/cursor.ts'
import { ceilMs, nextMidnight } from '../parameters/instants.ts'
import type { ArticlesRequest } from '../parameters/request.ts'
import { type SemanticSearch, SemanticUnavailable, SetExpired } from '../semantic/query.ts'
import type { Listed, ShownArticle } from './shown-article.ts'

/** What both operations search with. */
export interface Searches {
  index: SearchIndex<ShownArticle>
  semantic: SemanticSearch<ShownArticle>
  /** Runs a search with a permit of its key. */
  withPermit: <T>(search: () => Promise<T>) => Promise<T>
  /** The state of the index when the request was counted; absent: a search reads it. */
  state: IndexState | undefined
}

/** A page, whichever way it was searched. */
export interface Found {
  rows: Listed[]
  total: number
  estimate: boolean
  next: Cursor['at'] | null
  /** What finding it took, without the wait for a permit. */
  ms: number
}

/** A valid request with its plan applied. */
export interface PlannedRequest {
  request: ArticlesRequest
  plan: Plan
  countries: Country[]
  historyStart: Date
}

/**
 * Finds one page.
 * @param at where the sequence stands; null: at its beginning
 * @throws ApiError `semantic_search_unavailable`; `invalid_request` when the candidate set has
 * expired
 */
export async function findArticles(
  searches: Searches,
  planned: PlannedRequest,
  at: Cursor['at'] | null,
): Promise<Found> {
  return searches.withPermit(async () => {
    const start = performance.now()
    const found = await findPage(searches, planned, at)
    return { ...found, ms: performance.now() - start }
  })
}

async function findPage(
  searches: Searches,
  planned: PlannedRequest,
  at: Cursor['at'] | null,
): Promise<Omit<Found, 'ms'>> {
  const { question, order, perPage } = planned.request
  const filter = filterOf(planned)
  if (question.search === 'semantic') {
    try {
      const page = await searches.semantic.search(
        { ...filter, text: question.q, planCountries: planned.plan.countries, sort: question.sort, order, perPage },
        at?.kind === 'semantic' ? at : null,
      )
      return { ...page, estimate: false, next: page.next && { kind: 'semantic', ...page.next } }
    } catch (error) {
      throw explain(error)
    }
  }
  const { match, searchIn, sort } = question
  const page = await searches.index.search(
    { ...filter, match, searchIn, sort, order, perPage },
    at?.kind === 'words' ? at : null,
    { state: searches.state },
  )
  return { ...page, next: page.next && { kind: 'words', ...page.next } }
}

/**
 * Counts all articles that the pages of a request would show.
 *
 * @throws ApiError `semantic_search_unavailable`
 * @throws TooManyBuckets
 */
export async function countArticles(
  searches: Searches,
  planned: PlannedRequest,
  breakdown: Breakdown,
): Promise<{ counts: Counts; ms: number }> {
  return searches.withPermit(async () => {
    const start = performance.now()
    const counts = await countAll(searches, planned, breakdown)
    return { counts, ms: performance.now() - start }
  })
}

async function countAll({ index, semantic }: Searches, planned: PlannedRequest, breakdown: Breakdown): Promise<Counts> {
  const { question } = planned.request
  const filter = filterOf(planned)
  if (question.search !== 'semantic') {
    const { match, searchIn, sort } = question
    return index.countBy({ ...filter, match, searchIn, sort }, breakdown)
  }
  const asked = { text: question.q, planCountries: planned.plan.countries, coverage: filter.coverage }
  const seqs = await semantic.candidates(asked).catch((error: unknown) => {
    throw explain(error)
  })
  return index.countAmong(seqs, { ...filter, sort: question.sort }, breakdown)
}

/** The filters of a request, bounded by its plan. */
export function filterOf({ request, countries, historyStart }: Omit<PlannedRequest, 'plan'>): ArticleFilter {
  const { question: _question, q: _q, order: _order, perPage: _perPage, cursor: _cursor, ...filters } = request
  const { countries: _asked, publishedAfter: after, publishedBefore: before, ingestedAfter, ...more } = filters
  // The other filters go to the search as they are. The compiler refuses one that the search does
  // not have.
  void ({} satisfies Record<Exclude<keyof typeof more, keyof ArticleFilter>, never>)
  return {
    ...more,
    countries,
    coverage: {
      historyStart,
      publishedAfter: after && new Date(ceilMs(after)),
      publishedBefore:
        before &&
        (before.day
          ? { at: new Date(nextMidnight(before)), exclusive: true }
          : { at: new Date(before.ms), exclusive: false }),
    },
    ingestedAfter: ingestedAfter && new Date(ceilMs(ingestedAfter)),
  }
}

function explain(error: unknown): unknown {
  if (error instanceof SemanticUnavailable) {
    return new ApiError('semantic_search_unavailable', {
      headers: { 'Retry-After': String(RETRY_SEMANTIC) },
      cause: error,
    })
  }
  if (error instanceof SetExpired) return new ApiError('invalid_request', { errors: { cursor: ['expired'] } })
  return error
}
