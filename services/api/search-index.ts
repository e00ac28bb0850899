import type { CacheSizes, SearchIndex } from '../../search/index.ts'
import type { Config } from '../../shared/config/config.ts'
import { gauge } from '../../shared/metrics/registry.ts'

/** Sizes of the caches that were set; the others fit the machine's memory. */
export function cacheSizesOf(config: Config): Partial<CacheSizes> {
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
export function observeIndex(index: SearchIndex): void {
  const stats = async () => index.stats()
  gauge(
    'search_cache_bytes',
    'Bytes in the caches of the search engine: in use, and the limit.',
    ['cache', 'kind'],
    stats,
    (set, { caches, prefetched, names }) => {
      for (const [cache, { used, limit }] of Object.entries(caches)) {
        set({ cache, kind: 'used' }, used)
        set({ cache, kind: 'limit' }, limit)
      }
      set({ cache: 'prefetch', kind: 'used' }, prefetched)
      set({ cache: 'name_index', kind: 'used' }, names.bytes)
    },
  )
  gauge('search_memory_articles', 'Articles in in-memory segments.', [], stats, (set, { memory }) =>
    set({}, memory.articles),
  )
}
