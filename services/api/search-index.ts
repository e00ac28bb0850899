import { type CacheSizes, openIndexOf, type SearchIndex } from '../../search/index.ts'
import type { Config } from '../../shared/config/config.ts'
import { gauge } from '../../shared/metrics/registry.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { SHOWN_ARTICLES, type ShownArticle } from './articles/shown-article.ts'

/** Opens the index of an API process: articles are kept as the bytes that it sends. */
export function openApiIndex(pool: Pool, config: Config): SearchIndex<ShownArticle> {
  return openIndexOf(pool, SHOWN_ARTICLES, { caches: cacheSizesOf(config) })
}

/** Sizes of the caches that were set; the others fit the machine's memory. */
function cacheSizesOf(config: Config): Partial<CacheSizes> {
  const sizes: Record<keyof CacheSizes, number> = {
    postings: config.SEARCH_CACHE_POSTINGS,
    columns: config.SEARCH_CACHE_COLUMNS,
    verified: config.SEARCH_CACHE_VERIFIED,
    articles: config.SEARCH_CACHE_ARTICLES,
    names: config.SEARCH_CACHE_NAMES,
  }
  return Object.fromEntries(Object.entries(sizes).filter(([, bytes]) => bytes > 0))
}

/** Shows what an opened index holds in memory. */
export function observeIndex(index: Pick<SearchIndex, 'stats'>): void {
  const stats = async () => index.stats()
  gauge(
    'search_cache_bytes',
    'Bytes in the caches of the search engine: in use, and the limit.',
    ['cache', 'kind'],
    stats,
    (set, { caches, prefetched }) => {
      for (const [cache, { used, limit }] of Object.entries(caches)) {
        set({ cache, kind: 'used' }, used)
        set({ cache, kind: 'limit' }, limit)
      }
      set({ cache: 'prefetch', kind: 'used' }, prefetched)
    },
  )
  gauge('search_memory_articles', 'Articles in in-memory segments.', [], stats, (set, { memory }) =>
    set({}, memory.articles),
  )
}
