import type { ArticleOutlet } from '../shared/articles/article.ts'
import type { Queryable } from '../shared/postgres/pool.ts'
import { archivePart } from './archive/archive.ts'
import { type ArchiveClient, ArchiveMissing } from './archive/client.ts'
import type { ArticleForm, KeptArticle } from './cache/article-form.ts'
import { createSegmentCache } from './cache/segment-cache.ts'
import type { CacheSizes } from './cache/sizes.ts'
import { createStoredArticles } from './cache/stored-articles.ts'
import type { IndexParts, StoredMeta } from './execute/index-parts.ts'
import type { SearchPlan } from './execute/plan.ts'
import type { Visit } from './execute/visit.ts'
import { createMemoryIndex } from './memory/memory-index.ts'
import { createNameLists } from './names/name-lists.ts'
import { withNameLists } from './names/named-cache.ts'
import type { ArticleFilter } from './query/filters.ts'
import type { SegmentSource } from './segment/builder.ts'
import { NO_ARCHIVE } from './store/archive-store.ts'
import type { KnownDays } from './store/article-source.ts'
import { openReads, type Standbys } from './store/index-reads.ts'
import { openSegmentStore } from './store/open.ts'
import { readArchiveMeta } from './store/postgres-archive.ts'
import { postgresArticles } from './store/postgres-articles.ts'

const NO_NAMES = {
  outlet: (): ArticleOutlet => ({ name: null, domain: null }),
  author: () => ({ name: '' }),
}

/** Opens the parts of an index: stores, caches, in-memory segments and names, wired together. */
export function openParts<A extends KeptArticle>(
  db: Queryable,
  form: ArticleForm<A>,
  sizes: CacheSizes,
  { standbys, archive }: { standbys: Standbys | undefined; archive: ArchiveClient | null },
) {
  const reads = openReads(db, standbys)
  const segments = openSegmentStore(reads)
  const source = postgresArticles(reads)
  const stored = createStoredArticles(source, { ...sizes, names: sizes.names / 2 }, form)
  const names = createNameLists(source, sizes.names / 8)
  const readArchive = readArchiveMeta(db)
  let meta: StoredMeta | null = null
  let known: { lastSeq: bigint; days: KnownDays } | null = null
  return {
    segments,
    source,
    stored,
    names,
    cache: withNameLists(createSegmentCache(segments, sizes), names, (sizes.names * 3) / 8),
    memory: createMemoryIndex(source, articles => stored.keep(articles)),
    knownMeta: () => meta,

    async metaOf(version: bigint): Promise<StoredMeta> {
      if (meta?.version === version) return meta
      const read = await segments.readMeta(version)
      if (archive === null && read.releasedTo > 0n) throw new ArchiveMissing(read.releasedTo)
      const own = archive === null ? NO_ARCHIVE : await readArchive(read.version)
      // Segments that the archive covers are not matched, so nothing of them needs memory.
      meta = { ...read, segments: read.segments.filter(segment => segment.last > own.covered), archive: own }
      return meta
    },

    archive:
      archive === null
        ? null
        : (own: StoredMeta, plan: SearchPlan, visit: Visit) =>
            archivePart(archive, own.archive, plan, visit, async () => {
              const { version } = await segments.readSnapshot()
              return version === own.version
            }),

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
