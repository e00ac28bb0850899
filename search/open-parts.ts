import type { ArticleOutlet } from '../shared/articles/article.ts'
import type { Queryable } from '../shared/postgres/pool.ts'
import type { ArticleForm, KeptArticle } from './cache/article-form.ts'
import { createSegmentCache } from './cache/segment-cache.ts'
import type { CacheSizes } from './cache/sizes.ts'
import { createStoredArticles } from './cache/stored-articles.ts'
import type { IndexParts } from './execute/index-parts.ts'
import { createMemoryIndex } from './memory/memory-index.ts'
import { createNameLists } from './names/name-lists.ts'
import { withNameLists } from './names/named-cache.ts'
import type { ArticleFilter } from './query/filters.ts'
import type { SegmentSource } from './segment/builder.ts'
import type { KnownDays } from './store/article-source.ts'
import { openReads, type Standbys } from './store/index-reads.ts'
import { openSegmentStore } from './store/open.ts'
import { postgresArticles } from './store/postgres-articles.ts'
import type { IndexMeta } from './store/segment-store.ts'

const NO_NAMES = {
  outlet: (): ArticleOutlet => ({ name: null, domain: null }),
  author: () => ({ name: '' }),
}

/** Opens the parts of an index: stores, caches, in-memory segments and names, wired together. */
export function openParts<A extends KeptArticle>(
  db: Queryable,
  form: ArticleForm<A>,
  sizes: CacheSizes,
  standbys?: Standbys,
) {
  const reads = openReads(db, standbys)
  const segments = openSegmentStore(reads)
  const source = postgresArticles(reads)
  const stored = createStoredArticles(source, { ...sizes, names: sizes.names / 2 }, form)
  const names = createNameLists(source, sizes.names / 8)
  let meta: IndexMeta | null = null
  let known: { lastSeq: bigint; days: KnownDays } | null = null
  return {
    segments,
    source,
    stored,
    names,
    cache: withNameLists(createSegmentCache(segments, sizes), names, (sizes.names * 3) / 8),
    memory: createMemoryIndex(source, articles => stored.keep(articles)),
    knownMeta: () => meta,

    async metaOf(version: bigint): Promise<IndexMeta> {
      if (meta?.version === version) return meta
      meta = await segments.readMeta(version)
      return meta
    },

    /**
     * Days are only ever added, so the known ones hold until a newer article comes: most searches
     * need not read them.
     */
    async daysUpTo(lastSeq: bigint): Promise<KnownDays> {
      if (known !== null && known.lastSeq >= lastSeq) return known.days
      const read = await source.readDays(lastSeq)
      // Another search may have read newer days meanwhile.
      if ((known?.lastSeq ?? -1n) < read.lastSeq) known = read
      return read.days
    },

    /** Names are read only where a filter looks at them. */
    namesOf(articles: SegmentSource[], { outlet, author }: ArticleFilter) {
      if (outlet === null && author === null) return NO_NAMES
      return stored.names(
        articles.map(article => article.publisherNo),
        articles.flatMap(article => article.authorNos),
      )
    },
  } satisfies IndexParts<A> & Record<string, unknown>
}
