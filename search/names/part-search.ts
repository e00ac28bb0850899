import { type Cache, type CacheStats, createCache } from '../cache/cache.ts'
import { createPace, SHORT_SLICE } from '../pace.ts'
import type { NameTexts } from './name-texts.ts'
import { createNumberSet, type NumberSet } from './number-set.ts'

/** Searches for parts in names, and keeps what it finds. */
export interface PartSearch {
  /**
   * The numbers of all names that contain a folded part: of those that are there when it resolves.
   */
  containing(part: string): Promise<NumberSet>
  stats(): CacheStats
}

/** The names found for a part. They grow with the names. */
interface Found {
  numbers: NumberSet
  /** Names that were searched. */
  searched: number
}

/** Names that are searched between two looks at the clock: a fraction of a millisecond. */
const NAMES_PER_STEP = 16_384
/** Bytes of a kept part besides its text and its numbers. */
const PART_BYTES = 300

/** @param limit bytes of the parts that are kept */
export function createPartSearch(texts: NameTexts, limit: number): PartSearch {
  const kept: Cache<string, Found> = createCache(limit)
  const searching = new Map<string, Promise<NumberSet>>()

  /** Searches the names that came since the part was searched last. */
  async function search(part: string): Promise<NumberSet> {
    const { numbers, searched: before } = kept.get(part) ?? { numbers: createNumberSet(), searched: 0 }
    const pace = createPace(SHORT_SLICE)
    let searched = before
    try {
      if (searched === 0) searched = await texts.searchListed(part, numbers, pace)
      while (searched < texts.size) {
        const { size } = texts
        const names = texts.search(part)
        while (searched < size && size === texts.size) {
          const to = Math.min(size, searched + NAMES_PER_STEP)
          names.visit(searched, to, numbers.add)
          searched = to
          if (pace.isDue()) await pace.rest()
        }
      }
      if (searched > before) kept.set(part, { numbers, searched }, PART_BYTES + part.length * 2 + numbers.bytes)
      return numbers
    } finally {
      // Before the promise is resolved: who asks afterwards may know of more names.
      searching.delete(part)
    }
  }
  return {
    async containing(part) {
      const known = kept.get(part)
      if (known !== undefined && known.searched === texts.size) return known.numbers
      let running = searching.get(part)
      if (running === undefined) {
        const own = Promise.withResolvers<NumberSet>()
        running = own.promise
        searching.set(part, running)
        search(part).then(own.resolve, own.reject)
      }
      return running
    },
    stats: () => kept.stats(),
  }
}
