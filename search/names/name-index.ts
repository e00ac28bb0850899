import type { CacheStats } from '../cache/cache.ts'
import { hasBit } from '../segment/bitmap.ts'
import { grown } from '../segment/grown.ts'
import type { NameBatch, NamesWanted } from '../store/article-source.ts'
import { createNameTexts } from './name-texts.ts'
import type { NumberSet } from './number-set.ts'
import { createPartSearch } from './part-search.ts'

/**
 * The names of all outlets, or of all authors, in memory. A name never changes once it has a
 * number, so nothing here is ever stale. Numbers may become visible in another order than they were
 * given out. So a search does not ask whether all names are here, but whether those of its articles
 * are.
 */
export interface NameIndex {
  /** Reads all names once. Later calls return at once, unless it failed. */
  readAll(): Promise<void>
  /** Whether the name of a number is here. */
  has(no: number): boolean
  /** Reads the names of some numbers, where they are not here. */
  read(nos: number[]): Promise<void>
  /** The numbers of all names here that contain a folded part. */
  containing(part: string): Promise<NumberSet>
  /** The highest number. */
  highest(): number
  stats(): { names: number; bytes: number; parts: CacheStats }
}

/** An event loop takes in so many in a millisecond or two. */
const NAMES_PER_READ = 4_096

/** @param limit bytes of the parts that are kept */
export function createNameIndex(readNames: (wanted: NamesWanted) => Promise<NameBatch>, limit: number): NameIndex {
  const texts = createNameTexts()
  const parts = createPartSearch(texts, limit)
  let here = new Uint32Array(1 << 10)
  let [highest, readTo] = [0, 0]
  let all: Promise<void> | null = null

  const note = (no: number) => {
    if (no >>> 5 >= here.length) here = grown(here, new Uint32Array(((no * 2) >>> 5) + 1))
    here[no >>> 5]! |= 1 << (no & 31)
    highest = Math.max(highest, no)
  }
  const add = ({ nos, words }: NameBatch) => {
    texts.add(nos, words)
    nos.forEach(note)
  }
  const has = (no: number) => no >>> 5 < here.length && hasBit(here, no)

  async function readThrough(): Promise<void> {
    for (let next = readNames({ after: readTo, limit: NAMES_PER_READ }); ; ) {
      const batch = await next
      const last = batch.nos.at(-1)
      if (last === undefined) return
      // The database reads on meanwhile.
      next = readNames({ after: last, limit: NAMES_PER_READ })
      next.catch(() => {})
      add(batch)
      readTo = last
    }
  }
  return {
    has,
    readAll() {
      all ??= readThrough().catch((error: unknown) => {
        all = null
        throw error
      })
      return all
    },
    async read(nos) {
      const missing = nos.filter(no => !has(no))
      if (missing.length === 0) return
      // Another search may read the same ones meanwhile: a name that is here twice does no harm.
      add(await readNames(missing))
      // A number without a name would be asked for again and again.
      missing.forEach(note)
    },
    containing: parts.containing,
    highest: () => highest,
    stats: () => ({ names: texts.size, bytes: texts.bytes + here.byteLength, parts: parts.stats() }),
  }
}
