import type { ArticleOutlet } from '../../shared/articles/article.ts'
import type { ArticleSource, Author } from '../store/article-source.ts'
import { type Cache, type CacheStats, createCache } from './cache.ts'

/** Outlets and authors as articles show them, by number. */
export interface Names {
  outlet(publisherNo: number): ArticleOutlet
  author(authorNo: number): Author
}

/**
 * Reads names and keeps them: a name never changes once it has a number, and every page needs some.
 */
export interface NameCache {
  read(publisherNos: number[], authorNos: number[]): Promise<Names>
  stats(): CacheStats
}

/** Bytes of a name with its id. */
const NAME_BYTES = 100

/** @param limit bytes; outlets take up to a fifth */
export function createNameCache(source: ArticleSource, limit: number): NameCache {
  const outlets = createCache<number, ArticleOutlet>(limit / 5)
  const authors = createCache<number, Author>((limit * 4) / 5)
  return {
    async read(publisherNos, authorNos) {
      const [outletsByNo, authorsByNo] = await Promise.all([
        readThrough(outlets, publisherNos, missing => source.readOutlets(missing)),
        readThrough(authors, authorNos, missing => source.readAuthors(missing)),
      ])
      return { outlet: no => outletsByNo.get(no)!, author: no => authorsByNo.get(no)! }
    },
    stats() {
      const [a, b] = [outlets.stats(), authors.stats()]
      return { limit: a.limit + b.limit, used: a.used + b.used }
    },
  }
}

async function readThrough<T>(
  cache: Cache<number, T>,
  nos: number[],
  read: (missing: number[]) => Promise<Map<number, T>>,
): Promise<Map<number, T>> {
  const found = new Map<number, T>()
  const missing: number[] = []
  for (const no of new Set(nos)) {
    const known = cache.get(no)
    if (known === undefined) missing.push(no)
    else found.set(no, known)
  }
  if (missing.length === 0) return found
  for (const [no, value] of await read(missing)) {
    found.set(no, value)
    cache.set(no, value, NAME_BYTES)
  }
  return found
}
