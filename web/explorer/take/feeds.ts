import { ask, askFile, type Failure, isRecord } from '../../parts/request.ts'
import { type Search, writeSearch } from '../search/search.ts'

/** A search as a feed of this key; its secret address is known only when it is made. */
export interface SearchFeed {
  id: string
  title: string
  url: string | null
}

export async function listFeeds(key: string, signal: AbortSignal): Promise<SearchFeed[] | Failure> {
  const answer = await ask('/explore/feeds', readFeeds, { key, signal })
  return answer.kind === 'ok' ? answer.value : answer.kind === 'failure' ? answer : []
}

export async function makeFeed(search: Search, key: string): Promise<SearchFeed | Failure> {
  const body = { search: String(writeSearch(search)) }
  const answer = await ask('/explore/feeds', readFeed, { key, method: 'POST', body })
  if (answer.kind === 'unchanged') throw new Error('A new feed cannot be unchanged.')
  return answer.kind === 'ok' ? answer.value : answer
}

/** null: it has ended */
export async function endFeed(id: string, key: string): Promise<Failure | null> {
  const answer = await ask(`/explore/feeds/${encodeURIComponent(id)}`, () => true, { key, method: 'DELETE' })
  return answer.kind === 'failure' ? answer : null
}

export async function feedsAsOpml(key: string): Promise<Blob | Failure> {
  const answer = await askFile('/explore/feeds.opml', { key })
  return answer.kind === 'ok' ? answer.value : answer
}

function readFeeds(json: unknown): SearchFeed[] | null {
  if (!isRecord(json) || !Array.isArray(json.feeds)) return null
  return json.feeds.map(readFeed).filter(feed => feed !== null)
}

function readFeed(json: unknown): SearchFeed | null {
  if (!isRecord(json) || typeof json.id !== 'string' || typeof json.title !== 'string') return null
  return { id: json.id, title: json.title, url: typeof json.url === 'string' ? json.url : null }
}
