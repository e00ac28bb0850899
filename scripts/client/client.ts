import { setTimeout as sleep } from 'node:timers/promises'
import { ERROR_CODES } from '../../services/api/contract/errors.ts'
import type { Order, SearchIn, SearchMode, Sort } from '../../services/api/contract/parameters.ts'
import type { ArticleObject, PageEnvelope } from '../../services/api/contract/resources.ts'
import type { Country, Language } from '../../shared/articles/article.ts'
import { readRetryAfter } from '../../shared/http/retry-after.ts'
import { ApiFailure, patienceFor } from './failure.ts'

export { ApiFailure } from './failure.ts'
export type { ArticleObject, PageEnvelope }

/**
 * The parameters of both operations, except the cursor. Times as `2026-11-20` or
 * `2026-11-20T08:00:00Z`.
 */
export interface ArticlesQuery {
  q?: string
  search?: SearchMode
  search_in?: SearchIn
  country?: readonly Country[]
  language?: readonly Language[]
  has_author?: boolean
  outlet?: string
  author?: string
  published_after?: string
  published_before?: string
  ingested_after?: string
  sort?: Sort
  order?: Order
  per_page?: number
}

export interface ClientOptions {
  /** Address of the API, as `https://news.example`. */
  url: string
  key: string
  /**
   * How often a request is repeated after a temporary failure (rate limit, 5xx, no answer); 8 by
   * default.
   */
  retries?: number
  signal?: AbortSignal
  /** Called before each wait. */
  onWait?(ms: number, reason: unknown): void
}

/**
 * A client of Perscope's API that follows its contract: waits out the rate limit, never hides an
 * error.
 */
export interface Client {
  /** @throws ApiFailure */
  page(query: ArticlesQuery, cursor?: string | null): Promise<PageEnvelope>
  /** All pages of a sequence, in order, one request each. */
  pages(query: ArticlesQuery): AsyncGenerator<PageEnvelope>
  /** The feed of the same query, as RSS 2.0. */
  feed(query: ArticlesQuery): Promise<string>
}

/** Longest one request may take. */
const TIMEOUT = 30_000

export function createClient(options: ClientOptions): Client {
  const base = options.url.replace(/\/+$/, '')
  const retries = options.retries ?? 8

  async function once(path: string): Promise<string> {
    const limits = [AbortSignal.timeout(TIMEOUT), ...(options.signal ? [options.signal] : [])]
    const response = await fetch(base + path, {
      headers: { Authorization: `Bearer ${options.key}` },
      signal: AbortSignal.any(limits),
    })
    const text = await response.text()
    if (response.ok) return text
    throw failureOf(response, text)
  }

  async function ask(path: string): Promise<string> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await once(path)
      } catch (error) {
        const wait = attempt < retries && !options.signal?.aborted ? patienceFor(error, attempt) : null
        if (wait === null) throw error
        options.onWait?.(wait, error)
        await sleep(wait, undefined, options.signal ? { signal: options.signal } : {})
      }
    }
  }

  const client: Client = {
    async page(query, cursor = null) {
      // The contract tests check answers against the schema, so the client does not.
      return JSON.parse(await ask(`/v1/articles${queryString(query, cursor)}`)) as PageEnvelope
    },
    async *pages(query) {
      let cursor: string | null = null
      do {
        const page: PageEnvelope = await client.page(query, cursor)
        yield page
        cursor = page.next_cursor
      } while (cursor !== null)
    },
    feed: query => ask(`/v1/articles.rss${queryString(query, null)}`),
  }
  return client
}

function queryString(query: ArticlesQuery, cursor: string | null): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, cursor })) {
    if (value !== undefined && value !== null) parameters.set(name, String(value)) // lists are joined by commas
  }
  return parameters.size === 0 ? '' : `?${parameters}`
}

function failureOf(response: Response, text: string): ApiFailure {
  const retryAfter = readRetryAfter(response.headers.get('retry-after'), response.headers.get('date'))
  let body: { code?: unknown; message?: unknown; errors?: Record<string, string[]> } = {}
  try {
    body = JSON.parse(text)
  } catch {
    // No error object: something between the API and the client has answered.
  }
  const code = ERROR_CODES.find(known => known === body.code) ?? 'internal_error'
  const message = typeof body.message === 'string' ? body.message : `Answered ${response.status} without saying why.`
  return new ApiFailure(response.status, code, message, body.errors ?? {}, retryAfter)
}
