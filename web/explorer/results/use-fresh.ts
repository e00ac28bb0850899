import { useEffect, useState } from 'preact/hooks'
import { ask, type Failure, type Unchanged } from '../../parts/request.ts'
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

/** Where following stands. */
interface Place {
  /** The latest time of ingestion that is known; null: nothing is indexed for the search yet. */
  latest: string | null
  etag: string | null
}

async function follow(
  of: Search,
  key: string,
  pause: number,
  signal: AbortSignal,
  tell: (fresh: number) => void,
): Promise<void> {
  let place: Place | null = null
  let shownUpTo: string | null = null
  const fresh = new Set<string>()
  for (let wait = 0; ; ) {
    await rest(wait, signal)
    await whenSeen(signal)
    const look: Look = place === null ? await firstLook(of, key, signal) : await lookOnce(of, key, place, signal)
    if (look.kind === 'failed') {
      // A key that does not work any more will not work later.
      if (look.stop) return
      wait = Math.min(LONGEST_PAUSE, Math.max(pause, wait * 2, look.retryAfter * 1_000))
      continue
    }
    wait = pause
    if (look.kind === 'unchanged') continue
    if (place === null) shownUpTo = look.place.latest
    place = look.place
    // Articles of one batch have one time. What becomes visible later has a later one (decision
    // 23).
    for (const { id, at } of look.articles) if (shownUpTo === null || at > shownUpTo) fresh.add(id)
    tell(fresh.size)
  }
}

/** The beginning: the latest time that the search has. Nothing is new yet. */
async function firstLook(of: Search, key: string, signal: AbortSignal): Promise<Look> {
  const answer = await ask(`/v1/articles?${pollParameters(of, 'desc', '1')}`, readPage, { key, signal })
  if (answer.kind !== 'ok') return failed(answer)
  return { kind: 'found', articles: [], place: { latest: answer.value.articles[0]?.ingested_at ?? null, etag: null } }
}

type Look =
  | { kind: 'found'; articles: { id: string; at: string }[]; place: Place }
  | { kind: 'unchanged' }
  | { kind: 'failed'; retryAfter: number; stop: boolean }

/** All pages since the latest time, which is included: its articles come again. */
async function lookOnce(of: Search, key: string, from: Place, signal: AbortSignal): Promise<Look> {
  const articles: { id: string; at: string }[] = []
  let { latest, etag } = from
  let cursor: string | null = null
  for (let page = 0; page < PAGES; page++) {
    const parameters = pollParameters(of, 'asc', '100')
    if (from.latest !== null) parameters.set('ingested_after', from.latest)
    if (cursor !== null) parameters.set('cursor', cursor)
    const answer = await ask(`/v1/articles?${parameters}`, readPage, { key, signal, etag: page === 0 ? etag : null })
    if (answer.kind !== 'ok') return failed(answer)
    if (page === 0) etag = answer.etag
    for (const { id, ingested_at } of answer.value.articles) {
      if (ingested_at === null) continue
      articles.push({ id, at: ingested_at })
      latest = ingested_at
    }
    cursor = answer.value.next
    if (cursor === null) break
  }
  // Another time is another address, whose tag is not known yet.
  return { kind: 'found', articles, place: { latest, etag: latest === from.latest ? etag : null } }
}

const HOPELESS = ['missing_token', 'invalid_token', 'quota_exceeded', 'invalid_request']

function failed(answer: Unchanged | Failure): Look {
  if (answer.kind === 'unchanged') return answer
  return { kind: 'failed', retryAfter: answer.retryAfter ?? 0, stop: HOPELESS.includes(answer.code) }
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
