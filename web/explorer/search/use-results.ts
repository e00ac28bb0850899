import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Client, Copies, PollQuery, PollState } from '#clients/typescript/src/index'
import type { ArticleObject, PageEnvelope, StatedArticle } from '#services/api/contract/resources'
import { useWork } from '#web/parts/controls.tsx'
import {
  type Asking,
  ask,
  type Failure,
  hasList,
  isListOf,
  isRecord,
  type Outcome,
  pageKey,
} from '#web/parts/request'
import { rest, whenSeen } from '#web/parts/time'
import { BESIDE, isSame, readSearch, type Search, writeSearch } from './search.ts'

/*
 * The results of a search in the form of the page: the first page, further pages by the cursor, and
 * the number of newer articles. The answer of an older search never replaces the answer of a newer
 * search.
 */

export interface Results {
  /** The search that found the articles; null: no search was answered yet. */
  of: Search | null
  articles: Article[]
  total: number
  estimate: boolean
  /** Cursor of the following page; null on the last page. */
  next: string | null
  /** `first`: another search is running, `more`: a further page is loading. */
  loading: 'first' | 'more' | null
  failure: Failure | null
  /** How many requests the plan allows in a month; null: no quota. */
  quota: number | null
  /** The matches in articles, by the article's id. They arrive later than `articles`. */
  matches: ReadonlyMap<string, Matches>
  /** The copies of articles' texts, by the article's id. They arrive later than `articles`. */
  told: ReadonlyMap<string, Told>
}

/** The copies of the text of an article. */
export type Told = Copies

/** The matches of a search in an article. */
export interface Matches {
  /** Folded words of title and snippet that match. */
  words: ReadonlySet<string>
  /** How many places in the text match. */
  places: number
  /** Whether the first of these places is in the second half of the text. */
  late: boolean
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
  matches: new Map(),
  told: new Map(),
}

/** The results with their first page. */
const begun = ({ of, page, quota }: First): Results => ({
  ...NOTHING,
  // `of` is a new object even for the same search, so that figures and new articles are counted
  // again.
  of: { ...of },
  articles: page.articles,
  total: page.total_results,
  estimate: page.total_results_is_estimate === true,
  next: page.next_cursor,
  quota,
})

const PER_PAGE = 25

export function parametersOf(
  search: Search,
  cursor: string | null,
  perPage = PER_PAGE,
): URLSearchParams {
  const parameters = writeSearch(search)
  parameters.set('per_page', String(perPage))
  if (cursor !== null) parameters.set('cursor', cursor)
  return parameters
}

export const askPage = (
  search: Search,
  cursor: string | null,
  asking: Asking,
  perPage = PER_PAGE,
): Promise<Outcome<PageEnvelope>> =>
  ask(`${BESIDE}?${parametersOf(search, cursor, perPage)}`, isPage, asking)

/** The first page of a search, which the test of a key has loaded. */
export interface First {
  of: Search
  page: PageEnvelope
  quota: number | null
}

/** The id of the article on an article's page; null: this is a page of a search. */
export function idOfPage(): string | null {
  const written = /^\/a\/([^/]+)$/.exec(location.pathname)?.[1]
  return written === undefined ? null : decodeURIComponent(written)
}

/**
 * Tests a key. On the page of a search it requests the results, which the page needs anyway. On
 * other pages it makes a request that does not count for the month.
 */
export async function tryKey(
  key: string,
): Promise<
  | { kind: 'works'; first: First | null }
  | { kind: 'fails'; code: 'invalid_token' | 'too_many_failed_attempts' | 'offline' }
> {
  const of = readSearch(new URLSearchParams(location.search))
  const answer =
    location.pathname === '/'
      ? await askPage(of, null, { key })
      : await ask('/explore/feeds', isRecord, { key })
  if (answer.kind === 'ok')
    return {
      kind: 'works',
      first: isPage(answer.value) ? { of, page: answer.value, quota: answer.quota } : null,
    }
  const { code } = answer
  if (code === 'missing_token') return { kind: 'fails', code: 'invalid_token' }
  if (code === 'invalid_token' || code === 'too_many_failed_attempts' || code === 'offline')
    return { kind: 'fails', code }
  // The API refused the search, not the key. The page gives the reason.
  return { kind: 'works', first: null }
}

/**
 * The results of a search. It loads the first page when the search or `round` changes, and
 * further pages by the cursor.
 *
 * @param search null: the search cannot be requested
 * @param first a first page that is already loaded
 */
/** The articles of a search so far, and how to load more of them. */
export interface LoadedResults extends Results {
  loadMore(): void
}

export function useResults(
  search: Search | null,
  round: number,
  first: First | null,
): LoadedResults {
  const [results, setResults] = useState(NOTHING)
  const running = useRef(new AbortController())
  const given = useRef(first)

  const load = useCallback(async (of: Search, cursor: string | null) => {
    // A further page leaves the requests about the copies and matches of earlier pages alone.
    if (cursor === null) {
      running.current.abort()
      running.current = new AbortController()
    }
    const asking = { signal: running.current.signal }
    setResults(before => ({
      ...before,
      loading: cursor === null ? 'first' : 'more',
      failure: null,
    }))
    const here =
      cursor === null && given.current !== null && isSame(given.current.of, of)
        ? given.current
        : null
    given.current = null
    try {
      const answer = here
        ? { kind: 'ok' as const, value: here.page, quota: here.quota }
        : await askPage(of, cursor, asking)
      if (answer.kind === 'failure')
        return setResults(before => ({
          ...(cursor === null ? NOTHING : before),
          loading: null,
          failure: answer,
        }))
      const { value: page, quota } = answer
      setResults(before =>
        cursor === null
          ? begun({ of, page, quota })
          : {
              ...before,
              loading: null,
              next: page.next_cursor,
              articles: [...before.articles, ...page.articles],
            },
      )
      if (page.articles.length === 0) return
      const copies = await askCopies(String(parametersOf(of, cursor)), asking)
      if (copies.kind === 'ok') {
        const told = copies.value.data.map(one => [one.id, one] as const)
        setResults(before => ({ ...before, told: new Map([...before.told, ...told]) }))
      }
      if (of.mode === 'semantic' || of.q.trim() === '') return
      const found = await ask(
        `/explore/matches?${parametersOf(of, cursor)}`,
        isListOf<FoundIn>,
        asking,
      )
      if (found.kind !== 'ok') return
      const matches = found.value.data.map(
        ({ id, words, places, first }) =>
          [id, { words: new Set(words), places: places ?? 0, late: (first ?? 0) >= 0.5 }] as const,
      )
      setResults(before => ({ ...before, matches: new Map([...before.matches, ...matches]) }))
    } catch {
      // Another search has replaced this one.
    }
  }, [])

  useEffect(() => {
    if (search === null) setResults(NOTHING)
    else void load(search, null)
    return () => running.current.abort()
  }, [search, round, load])

  const { of, next, loading } = results
  const loadMore = useCallback(() => {
    if (of !== null && next !== null && loading === null) void load(of, next)
  }, [load, of, next, loading])
  return { ...results, loadMore }
}

export type Article = ArticleObject & Partial<StatedArticle>

interface FoundIn {
  id: string
  words: string[]
  places: number | null
  first: number | null
}

/** @param query of a page, or the id of an article */
export const askCopies = (query: string, asking: Asking): Promise<Outcome<{ data: Told[] }>> =>
  ask(`/explore/copies?${query}`, isListOf<Told>, asking)

const isPage = (json: unknown): json is PageEnvelope => hasList(json, 'articles')

/**
 * ms between two polls. `PAUSE_WITH_QUOTA` is longer, because each poll then takes a request from
 * the quota of the month.
 */
const PAUSE = 20_000
const PAUSE_WITH_QUOTA = 300_000
const LONGEST_PAUSE = 900_000
/** The most pages of one poll. Beyond them, readers need no exact number. */
const PAGES = 5

/**
 * The number of articles that have entered the index since a search was shown. It uses the
 * contract's polling pattern: by time of ingestion, from the latest known time, duplicates dropped
 * by id. It polls only while the page is visible, and waits as long as the API asks.
 *
 * @param of null: nothing is shown, or the search cannot be polled (semantic search)
 */
export function useFresh(of: Search | null, quota: number | null): number {
  const [fresh, setFresh] = useState(0)
  const look = useCallback(
    async (signal: AbortSignal) => {
      setFresh(0)
      if (of === null || of.mode === 'semantic') return
      await follow(of, quota === null ? PAUSE : PAUSE_WITH_QUOTA, signal, setFresh)
    },
    [of, quota],
  )
  useWork(look)
  return fresh
}

async function follow(
  of: Search,
  pause: number,
  signal: AbortSignal,
  tell: (fresh: number) => void,
): Promise<void> {
  // The package for clients is a separate file, so that the first view does not wait for it.
  const { createClient, ApiError } = await import('#clients/typescript/src/index')
  const look = createLook(
    createClient({ url: location.origin, key: pageKey() ?? '', retries: 0, signal }),
    of,
  )
  for (let wait = 0; ; ) {
    await rest(wait, signal)
    await whenSeen(signal)
    try {
      tell(await look())
      wait = pause
    } catch (error) {
      signal.throwIfAborted()
      const refusal = error instanceof ApiError ? error : null
      // A key that has become invalid stays invalid.
      if (HOPELESS.includes(refusal?.code ?? '')) return
      wait = Math.min(LONGEST_PAUSE, Math.max(pause, wait * 2, (refusal?.retryAfter ?? 0) * 1_000))
    }
  }
}

const HOPELESS = ['missing_token', 'invalid_token', 'quota_exceeded', 'invalid_request']

/**
 * @returns a function that polls once, and returns the number of new articles. Its first call only
 * reads what is shown, and returns 0
 */
function createLook(client: Client, of: Search): () => Promise<number> {
  // `writeSearch` writes parameters in the spelling of the API. Lists stay as written.
  const query = Object.fromEntries(writeSearch({ ...of, sort: null, order: 'desc' })) as PollQuery
  const fresh = new Set<string>()
  // The latest time of ingestion that is shown; empty: the search has no article yet.
  let shownUpTo: string | null = null
  let state: PollState | null = null
  return async () => {
    if (shownUpTo === null) {
      const [latest] = (await client.search({ ...query, sort: 'ingested_at', per_page: 1 }))
        .articles
      shownUpTo = latest?.ingested_at ?? ''
      return 0
    }
    let pages = 0
    for await (const batch of client.poll(query, { state, since: shownUpTo || undefined })) {
      state = batch.state
      // Articles of one batch have the same time. Articles that become visible later have a later
      // time (decision 23).
      for (const { id, ingested_at } of batch.articles)
        if ((ingested_at ?? '') > shownUpTo) fresh.add(id)
      if (++pages === PAGES) break
    }
    return fresh.size
  }
}
