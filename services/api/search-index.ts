import {
  archiveSettingsOf,
  type CacheSizes,
  defaultCacheSizes,
  openIndexOf,
  type SearchIndex,
} from '../../search/index.ts'
import type { Config } from '../../shared/config/config.ts'
import { gauge } from '../../shared/log/registry.ts'
import { SHOWN_ARTICLES, type ShownArticle } from './articles/shown-article.ts'
import type { Servers } from './reading/servers.ts'

/**
 * Opens the index of an API process: articles are kept as the bytes that it sends.
 *
 * @param processes that share the port with this one, itself included
 */
export function openApiIndex({ pool, standbys }: Servers, config: Config, processes = 1): SearchIndex<ShownArticle> {
  return openIndexOf(pool, SHOWN_ARTICLES, {
    caches: cacheSizesOf(config, processes),
    standbys,
    archive: archiveSettingsOf(config),
  })
}

/**
 * Sizes of the caches: those that were set, or that fit the machine's memory.
 *
 * @param processes that share the port. Each has an equal part, so that the sum stays the same
 */
function cacheSizesOf(config: Config, processes: number): CacheSizes {
  const fitting = defaultCacheSizes()
  const size = (set: number, otherwise: number) => Math.floor((set > 0 ? set : otherwise) / processes)
  return {
    postings: size(config.SEARCH_CACHE_POSTINGS, fitting.postings),
    columns: size(config.SEARCH_CACHE_COLUMNS, fitting.columns),
    verified: size(config.SEARCH_CACHE_VERIFIED, fitting.verified),
    counts: size(config.SEARCH_CACHE_COUNTS, fitting.counts),
    articles: size(config.SEARCH_CACHE_ARTICLES, fitting.articles),
    names: size(config.SEARCH_CACHE_NAMES, fitting.names),
  }
}

/**
 * Shows what an opened index holds in memory, and how far the archive is behind.
 *
 * @param recent the newest articles that stay out of the archive
 */
export function observeIndex(index: Pick<SearchIndex, 'stats'>, recent: number): void {
  const stats = async () => index.stats()
  gauge(
    'archive_backlog_articles',
    'Articles that are old enough for the archive index and not in it; 0 without an archive.',
    [],
    stats,
    (set, { archived, covered }) => set({}, archived === null ? 0 : Math.max(0, Number(covered - archived) - recent)),
  )
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
