import { type CacheSizes, type CacheStats, createCacheBySegment } from './cache/cache.ts'
import { createSegmentCache, type SegmentCache } from './cache/segment-cache.ts'
import {
  type ArticleForm,
  createStoredArticles,
  type KeptArticle,
  type Names,
} from './cache/stored-articles.ts'
import { type Elsewhere, type IndexParts, nowhere, type StoredMeta } from './execute/index-parts.ts'
import { NONE_REMOVED, removedArticles } from './execute/removed.ts'
import { createLexicons } from './memory/lexicons.ts'
import { createMemoryIndex } from './memory/memory-index.ts'
import { createNameLists, type NameLists } from './memory/name-lists.ts'
import type { Queryable } from './postgres.ts'
import type { ArticleFilter } from './query/filters.ts'
import type { SegmentSource } from './segment/builder.ts'
import { bytesOf, type DocIdSet } from './segment/doc-id-set.ts'
import type { KnownDays } from './store/article-source.ts'
import { postgresArticles } from './store/postgres-articles.ts'
import { openSegmentStore } from './store/postgres-segments.ts'
import {
  justWait,
  type ListKey,
  openReads,
  type Standbys,
  type WaitFor,
} from './store/segment-store.ts'
import { parseNameTerm } from './terms.ts'
import type { ArticleOutlet } from './vocabulary.ts'

const NO_NAMES = {
  outlet: (): ArticleOutlet => ({ name: null, domain: null }),
  author: () => ({ name: '' }),
}

/** For an index without an archive, whose segments hold every article. */
const NOWHERE = nowhere(
  missing => new Error(`The first ${missing} articles have no segment, and nothing else has them.`),
)

/** Optional parts that the caller of `openIndex` hands in. */
export interface PartsOptions {
  /**
   * Standby servers. A search reads from them when they have all that it needs; absent: from `db`
   * alone.
   */
  standbys?: Standbys | undefined
  /** Holds the oldest articles in place of segments; absent: segments hold all articles. */
  elsewhere?: Elsewhere | undefined
  /** Called with each promise that a search waits for, and its name; absent: `justWait`. */
  waitFor?: WaitFor | undefined
}

/** The parts of an index, with what `openIndex` needs of them besides. */
export interface OpenedParts<A extends KeptArticle = KeptArticle> extends IndexParts<A> {
  cache: CacheWithNameLists
  /** The meta that the latest search has read; null: none yet. */
  knownMeta(): StoredMeta | null
  /** Reads names only if a filter uses them. */
  namesOf(articles: SegmentSource[], filter: ArticleFilter): typeof NO_NAMES | Promise<Names>
  closeElsewhere(): Promise<void>
}

/** Opens the parts of an index and connects them: stores, caches, in-memory segments and names. */
export function openParts<A extends KeptArticle>(
  db: Queryable,
  form: ArticleForm<A>,
  sizes: CacheSizes,
  { standbys, elsewhere = NOWHERE, waitFor = justWait }: PartsOptions,
): OpenedParts<A> {
  const reads = openReads(db, standbys, waitFor)
  const segments = openSegmentStore(reads)
  const source = postgresArticles(reads)
  const stored = createStoredArticles(source, { ...sizes, names: sizes.names / 2 }, form)
  const names = createNameLists(source, sizes.names / 8)
  let meta: StoredMeta | null = null
  let removed = { ...NONE_REMOVED, seqs: [] as number[] }
  let known: { lastSeq: bigint; days: KnownDays } | null = null
  return {
    segments,
    source,
    stored,
    names,
    lexicons: createLexicons(segments),
    waitFor,
    cache: withNameLists(createSegmentCache(segments, sizes), names, (sizes.names * 3) / 8),
    memory: createMemoryIndex(source, stored.keep),
    closeElsewhere: elsewhere.close,
    knownMeta: () => meta,

    async metaOf(version) {
      if (meta?.version === version) return meta
      const read = await segments.readMeta(version)
      const held = await elsewhere.at(version, (read.segments[0]?.first ?? 1n) - 1n)
      // Other searches may read other versions meanwhile. A failover may undo removals.
      let own = removed.last <= read.removals ? removed : { ...NONE_REMOVED, seqs: [] }
      if (own.last < read.removals) {
        const seqs = [...own.seqs, ...(await segments.readRemoved(own.last, read.version))]
        own = { ...removedArticles(read.removals, seqs), seqs }
      }
      removed = own
      // The archive matches the articles of these segments, so the segments need no memory.
      meta = {
        ...read,
        segments: read.segments.filter(segment => segment.last > held.covered),
        elsewhere: held,
        removed: own,
      }
      return meta
    },

    async daysUpTo(lastSeq) {
      if (known !== null && known.lastSeq >= lastSeq) return known.days
      const read = await source.readDays(lastSeq)
      // Another search may have read newer days meanwhile.
      if ((known?.lastSeq ?? -1n) < read.lastSeq) known = read
      return read.days
    },

    namesOf(articles, { outlet, author }) {
      if (outlet === null && author === null) return NO_NAMES
      return stored.names(
        articles.map(article => article.publisherNo),
        articles.flatMap(article => article.authorNos),
      )
    },
  }
}

interface CacheWithNameLists extends SegmentCache {
  /** Statistics of the kept lists of parts of names. */
  namedStats(): CacheStats
}

/**
 * A cache that also has the posting lists of parts of names. It computes these lists, because they
 * are not stored.
 *
 * @param limit bytes of these lists
 */
function withNameLists(cache: SegmentCache, names: NameLists, limit: number): CacheWithNameLists {
  const lists = createCacheBySegment<DocIdSet>(limit)

  async function make(wanted: ListKey[], version: bigint): Promise<DocIdSet[]> {
    if (wanted.length === 0) return []
    const columns = await cache.columns(
      wanted.map(one => one.segment),
      version,
    )
    const made = await names.ofStored(
      wanted.map(({ term }, at) => ({ term, columns: columns[at]! })),
    )
    wanted.forEach(({ segment, term }, at) => {
      lists.set({ segment, key: term }, made[at]!, bytesOf(made[at]!))
    })
    return made
  }
  return {
    ...cache,
    list: (segment, term) =>
      parseNameTerm(term) === null ? cache.list(segment, term) : lists.get({ segment, key: term }),
    listsOf: term => (parseNameTerm(term) === null ? cache.listsOf(term) : lists.ofKey(term)),
    async readLists(wanted, version) {
      const isNamed = wanted.map(one => parseNameTerm(one.term) !== null)
      const [made, read] = await Promise.all([
        make(
          wanted.filter((_, at) => isNamed[at]),
          version,
        ),
        isNamed.every(one => one)
          ? []
          : cache.readLists(
              wanted.filter((_, at) => !isNamed[at]),
              version,
            ),
      ])
      const nextMade = made.values()
      const nextRead = read.values()
      return isNamed.map(one => (one ? nextMade : nextRead).next().value!)
    },
    namedStats: () => lists.stats(),
  }
}
