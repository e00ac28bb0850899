import { setTimeout as pause } from 'node:timers/promises'
import type { Findings, Outages, Part } from '#test/faults/findings'

/** A page of articles, as far as the readers look at it. */
export interface Page {
  total_results: number
  /** There are that many or more. */
  total_results_is_estimate?: true
  next_cursor: string | null
  articles: {
    id: string
    title: string
    url: string
    published_at: string | null
    ingested_at: string | null
  }[]
}

export interface Client {
  /** `again`: searches by meaning that were refused for the moment, and asked again. */
  counts: { asked: number; forgiven: number; again: number; failed: number; slowest: number }
  /**
   * Asks one API for a page. Null when it failed: inside a fault's window that is forgiven,
   * outside it is a finding.
   *
   * @param api number of the process
   */
  page(api: number, query: URLSearchParams): Promise<Page | null>
  feed(api: number, query: URLSearchParams): Promise<string | null>
}

/** Longer than any answer may take on a machine that is busy with everything at once. */
const PATIENCE_MS = 10_000

/** ms between two tries of a search by meaning. */
const AGAIN_MS = 1_000

/**
 * @param options.askAgainFor ms in which a search by meaning is asked again while the model is too
 *   busy (503, as the contract says); absent: a refusal is a failure
 */
export function createClient(
  apis: readonly string[],
  key: string,
  outages: Outages,
  findings: Findings,
  { askAgainFor = 0 }: { askAgainFor?: number } = {},
): Client {
  const counts = { asked: 0, forgiven: 0, again: 0, failed: 0, slowest: 0 }

  async function ask<T>(
    api: number,
    path: string,
    query: URLSearchParams,
    read: (answer: Response) => Promise<T>,
  ) {
    const semantic = query.get('search') === 'semantic'
    const parts: Part[] = [
      'postgres',
      `api-${api}`,
      ...(semantic ? (['qdrant', 'model'] as const) : []),
    ]
    const began = Date.now()
    counts.asked += 1
    const once = () =>
      fetch(`${apis[api]}${path}?${query}`, {
        headers: { authorization: `Bearer ${key}` },
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
    try {
      let answer = await once()
      while (semantic && answer.status === 503 && Date.now() - began < askAgainFor) {
        await answer.body?.cancel()
        counts.again += 1
        await pause(AGAIN_MS)
        answer = await once()
      }
      if (answer.status !== 200)
        throw new Error(`${answer.status} ${(await answer.text()).slice(0, 300)}`)
      const result = await read(answer)
      if (!outages.excuse(parts, began))
        counts.slowest = Math.max(counts.slowest, Date.now() - began)
      return result
    } catch (error) {
      if (outages.excuse(parts, began)) {
        counts.forgiven += 1
        return null
      }
      counts.failed += 1
      const at = new Date(began).toISOString()
      findings.add(
        `Outside of any fault a request failed: ${path}?${query} at api-${api}, asked at ${at}, after ${Date.now() - began} ms: ${reason(error)}`,
      )
      return null
    }
  }

  return {
    counts,
    page: (api, query) =>
      ask(api, '/v1/articles', query, async answer => readPage(await answer.json())),
    feed: (api, query) => ask(api, '/v1/articles.rss', query, answer => answer.text()),
  }
}

function readPage(body: unknown): Page {
  if (isPage(body)) return body
  throw new Error(`this is no page: ${JSON.stringify(body).slice(0, 200)}`)
}

const isPage = (body: unknown): body is Page =>
  typeof body === 'object' &&
  body !== null &&
  'articles' in body &&
  Array.isArray(body.articles) &&
  'next_cursor' in body &&
  'total_results' in body &&
  typeof body.total_results === 'number'

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
