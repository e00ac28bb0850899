import { useCallback, useEffect, useReducer, useRef } from 'preact/hooks'
import { ask, type Failure } from '../../parts/request.ts'
import { type Search, writeSearch } from '../search/search.ts'
import { type Article, type ResultsPage, readPage } from './page.ts'

export interface Results {
  /** The search that the articles are of; null: none has been answered yet. */
  of: Search | null
  articles: Article[]
  total: number
  estimate: boolean
  /** Cursor of the following page; null on the last one. */
  next: string | null
  /** `first`: another search is on its way, `more`: a further page. */
  loading: 'first' | 'more' | null
  failure: Failure | null
  /** Requests of the month in the plan; null: no quota. */
  quota: number | null
}

const NOTHING: Results = {
  of: null,
  articles: [],
  total: 0,
  estimate: false,
  next: null,
  loading: null,
  failure: null,
  quota: null,
}

type Event =
  | { kind: 'cleared' }
  | { kind: 'asked'; what: 'first' | 'more' }
  | { kind: 'first'; of: Search; page: ResultsPage; quota: number | null }
  | { kind: 'more'; page: ResultsPage }
  | { kind: 'failed'; failure: Failure; first: boolean }

function reduce(results: Results, event: Event): Results {
  switch (event.kind) {
    case 'cleared':
      return NOTHING
    case 'asked':
      return { ...results, loading: event.what, failure: null }
    case 'first':
      // A new object also for the same search: figures and new articles are counted anew.
      return { ...NOTHING, ...event.page, of: { ...event.of }, quota: event.quota }
    case 'more': {
      const known = new Set(results.articles.map(({ id }) => id))
      const added = event.page.articles.filter(({ id }) => !known.has(id))
      return { ...results, loading: null, next: event.page.next, articles: [...results.articles, ...added] }
    }
    case 'failed':
      return event.first
        ? { ...NOTHING, failure: event.failure }
        : { ...results, loading: null, failure: event.failure }
  }
}

const PER_PAGE = '25'

/**
 * The results of a search: its first page when the search, the key or `round` changes, and further
 * pages by the cursor.
 *
 * @param search null: there is none that could be asked
 */
export function useResults(search: Search | null, key: string, round: number): Results & { loadMore(): void } {
  const [results, tell] = useReducer(reduce, NOTHING)
  const running = useRef<AbortController | null>(null)

  const load = useCallback(
    async (of: Search, cursor: string | null) => {
      running.current?.abort()
      const mine = new AbortController()
      running.current = mine
      tell({ kind: 'asked', what: cursor === null ? 'first' : 'more' })
      const parameters = writeSearch(of)
      parameters.set('per_page', PER_PAGE)
      if (cursor !== null) parameters.set('cursor', cursor)
      try {
        const answer = await ask(`/v1/articles?${parameters}`, readPage, { key, signal: mine.signal })
        if (answer.kind === 'failure') tell({ kind: 'failed', failure: answer, first: cursor === null })
        else if (answer.kind === 'ok')
          tell(
            cursor === null
              ? { kind: 'first', of, page: answer.value, quota: answer.quota }
              : { kind: 'more', page: answer.value },
          )
      } catch {
        // Another search has taken its place.
      }
    },
    [key],
  )

  useEffect(() => {
    if (search === null) tell({ kind: 'cleared' })
    else void load(search, null)
    return () => running.current?.abort()
  }, [search, key, round, load])

  const { of, next, loading } = results
  const loadMore = useCallback(() => {
    if (of !== null && next !== null && loading === null) void load(of, next)
  }, [load, of, next, loading])
  return { ...results, loadMore }
}
