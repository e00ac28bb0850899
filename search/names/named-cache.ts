import { createCacheBySegment } from '../cache/by-segment.ts'
import type { CacheStats } from '../cache/cache.ts'
import type { SegmentCache } from '../cache/segment-cache.ts'
import { bytesOf, type DocIdSet } from '../segment/doc-id-set.ts'
import type { ListKey } from '../store/segment-store.ts'
import { parseNameTerm } from '../terms.ts'
import type { NameLists } from './name-lists.ts'

export interface NamedCache extends SegmentCache {
  /** The lists of parts of names that are kept. */
  namedStats(): CacheStats
}

/**
 * A cache that also has the posting lists of parts of names: they are made, not read.
 *
 * @param limit bytes of these lists
 */
export function withNameLists(cache: SegmentCache, names: NameLists, limit: number): NamedCache {
  const lists = createCacheBySegment<DocIdSet>(limit)

  async function make(wanted: ListKey[], version: bigint): Promise<DocIdSet[]> {
    if (wanted.length === 0) return []
    const columns = await cache.columns(
      wanted.map(one => one.segment),
      version,
    )
    const made = await names.ofStored(wanted.map(({ term }, at) => ({ term, columns: columns[at]! })))
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
      const [nextMade, nextRead] = [made.values(), read.values()]
      return isNamed.map(one => (one ? nextMade : nextRead).next().value!)
    },
    namedStats: () => lists.stats(),
  }
}
