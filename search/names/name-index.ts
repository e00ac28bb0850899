import { type Cache, type CacheStats, createCache } from '../cache/cache.ts'
import { createPace, SHORT_SLICE } from '../pace.ts'
import { grown } from '../segment/arrays.ts'
import { hasBit } from '../segment/bitmap.ts'
import type { NameBatch, NamesWanted } from '../store/article-source.ts'
import { createNameTexts, type NameTexts } from './name-texts.ts'
import { createNumberSet, type NumberSet } from './number-set.ts'

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

/** Searches for parts in names, and keeps what it finds. */
interface PartSearch {
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
function createPartSearch(texts: NameTexts, limit: number): PartSearch {
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
