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
  /** The folded names of a number, for an outlet its name and its domain; none: not here. */
  of(no: number): string[]
  /** Equal for numbers with equal names. */
  hash(no: number): number
  areEqual(a: number, b: number): boolean
  /** The highest number. */
  highest(): number
  stats(): { names: number; bytes: number; parts: CacheStats }
}

/** An event loop takes in so many in a millisecond or two. */
const NAMES_PER_READ = 4_096
/** Numbers that one reader reads through. */
const WINDOW = 16 * NAMES_PER_READ
/** Readers side by side: Postgres takes a little longer for a batch than we do. */
const READERS = 2

/** @param limit bytes of the parts that are kept */
export function createNameIndex(readNames: (wanted: NamesWanted) => Promise<NameBatch>, limit: number): NameIndex {
  const texts = createNameTexts()
  const parts = createPartSearch(texts, limit)
  let here = new Uint32Array(1 << 10)
  let highest = 0
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
    let window = 0
    let isOver = false
    const readWindow = async (start: number) => {
      const end = start + WINDOW
      for (let last = start - 1; last < end - 1; ) {
        const batch = await readNames({ after: last, limit: Math.min(NAMES_PER_READ, end - 1 - last) })
        const [first] = batch.nos
        if (first === undefined) {
          isOver = true
          return
        }
        // No number lies between: there may be many such windows.
        if (first >= end) window = Math.max(window, Math.floor(first / WINDOW))
        // A reading that failed has left some.
        else if (!batch.nos.every(has)) add(batch)
        last = batch.nos.at(-1)!
      }
    }
    const readNext = async () => {
      while (!isOver) await readWindow(window++ * WINDOW)
    }
    await Promise.all(Array.from({ length: READERS }, readNext))
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
    of: texts.of,
    hash: texts.hash,
    areEqual: texts.areEqual,
    highest: () => highest,
    stats: () => ({ names: texts.size, bytes: texts.bytes + here.byteLength, parts: parts.stats() }),
  }
}
