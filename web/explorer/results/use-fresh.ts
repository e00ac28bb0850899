import { useEffect, useState } from 'preact/hooks'
import { ask } from '../../parts/request.ts'
import { type Search, writeSearch } from '../search/search.ts'
import { readPage } from './page.ts'

/** Between two looks, in ms. With a quota each look costs one of the month, so they are rare. */
const PAUSE = 20_000
const PAUSE_WITH_QUOTA = 300_000
const LONGEST_PAUSE = 900_000
/** Pages of one look; a reader needs no exact figure beyond. */
const PAGES = 5

/**
 * How many articles of a search have entered the index since it was shown, by the contract's
 * polling pattern: by time of ingestion, from the latest that is known, duplicates dropped by id.
 * It looks while somebody sees the page, and waits as long as the API asks.
 *
 * @param of null: nothing is shown, or nothing can be polled (semantic search)
 */
export function useFresh(of: Search | null, key: string, quota: number | null): number {
  const [fresh, setFresh] = useState(0)
  useEffect(() => {
    setFresh(0)
    if (of === null || of.mode === 'semantic') return
    const end = new AbortController()
    void follow(of, key, quota === null ? PAUSE : PAUSE_WITH_QUOTA, end.signal, setFresh).catch(() => {
      // The search has changed, or the page is closed.
    })
    return () => end.abort()
  }, [of, key, quota])
  return fresh
}

async function follow(
  of: Search,
  key: string,
  pause: number,
  signal: AbortSignal,
  tell: (fresh: number) => void,
): Promise<void> {
  const place = await firstPlace(of, key, signal)
  const known = new Set<string>(place.known)
  const before = known.size
  let { latest } = place
  let etag: string | null = null
  let next = pause
  for (;;) {
    await rest(next, signal)
    await whenSeen(signal)
    const look = await lookOnce({ of, key, latest, etag, signal })
    if (look.kind === 'failed') {
      // A key that does not work any more will not work later.
      if (look.stop) return
      next = Math.min(LONGEST_PAUSE, Math.max(next * 2, look.retryAfter * 1_000))
      continue
    }
    next = pause
    if (look.kind === 'unchanged') continue
    for (const id of look.ids) known.add(id)
    // Another address has another answer, whose tag is not known yet.
    etag = look.latest === latest ? look.etag : null
    latest = look.latest
    tell(known.size - before)
  }
}

/** Where following begins: the latest moment that this search has, and what is known of it. */
async function firstPlace(of: Search, key: string, signal: AbortSignal): Promise<{ latest: string; known: string[] }> {
  const parameters = pollParameters(of, 'desc', '1')
  const answer = await ask(`/v1/articles?${parameters}`, readPage, { key, signal })
  const newest = answer.kind === 'ok' ? answer.value.articles[0] : undefined
  if (newest?.ingested_at) return { latest: newest.ingested_at, known: [newest.id] }
  // Nothing is indexed for it yet; whatever comes is new.
  return { latest: new Date(Date.now() - PAUSE).toISOString(), known: [] }
}

type Look =
  | { kind: 'found'; ids: string[]; latest: string; etag: string | null }
  | { kind: 'unchanged' }
  | { kind: 'failed'; retryAfter: number; stop: boolean }

async function lookOnce(at: {
  of: Search
  key: string
  latest: string
  etag: string | null
  signal: AbortSignal
}): Promise<Look> {
  const { of, key, signal } = at
  const ids: string[] = []
  let { latest, etag } = at
  let cursor: string | null = null
  for (let page = 0; page < PAGES; page++) {
    const parameters = pollParameters(of, 'asc', '100')
    parameters.set('ingested_after', at.latest)
    if (cursor !== null) parameters.set('cursor', cursor)
    const answer = await ask(`/v1/articles?${parameters}`, readPage, { key, signal, etag: page === 0 ? etag : null })
    if (answer.kind === 'unchanged') return answer
    if (answer.kind === 'failure') {
      const stop = ['missing_token', 'invalid_token', 'quota_exceeded', 'invalid_request'].includes(answer.code)
      return { kind: 'failed', retryAfter: answer.retryAfter ?? 0, stop }
    }
    if (page === 0) etag = answer.etag
    for (const { id, ingested_at } of answer.value.articles) {
      ids.push(id)
      if (ingested_at !== null) latest = ingested_at
    }
    cursor = answer.value.next
    if (cursor === null) break
  }
  return { kind: 'found', ids, latest, etag }
}

function pollParameters(of: Search, order: 'asc' | 'desc', perPage: string): URLSearchParams {
  const parameters = writeSearch({ ...of, sort: 'ingested_at', order })
  parameters.set('per_page', perPage)
  return parameters
}

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(late)
        reject(signal.reason)
      },
      { once: true },
    )
  })
}

/** Nobody sees a hidden tab: it asks for nothing. */
function whenSeen(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const look = () => !document.hidden && resolve()
    document.addEventListener('visibilitychange', look, { signal })
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
