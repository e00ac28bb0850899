import { type CacheStats, createCache } from '../cache/cache.ts'
import { createPace, SHORT_TURN } from '../pace.ts'
import { grown } from '../segment/arrays.ts'
import type { NameBatch, NamesWanted } from '../store/article-source.ts'

/*
 * A filter may give a part of a name. All folded names stand in one buffer. A byte search of the
 * whole buffer is fast enough, so parts of names need no index.
 */

/** How many names one statement reads. Adding them takes a millisecond or two of the event loop. */
const NAMES_PER_READ = 4_096
/**
 * How many names are searched between two looks at the clock. This takes a fraction of a
 * millisecond.
 */
const NAMES_PER_STEP = 8_192
/** Bytes of a kept result, besides the text of the part and the bitmap. */
const PART_BYTES = 300

/** The names that contain a part of a name, as a bitmap of their numbers. */
interface Found {
  bits: Uint32Array
  /** How many names have been searched. */
  searched: number
}

export interface NameIndex {
  /** Whether this number was read. A number without a name counts as well. */
  has(no: number): boolean
  /**
   * Reads all names once. Later calls wait for the same read. After a failure the next call reads
   * again.
   */
  readAll(): Promise<void>
  /** Reads the names of some numbers that were not read before. */
  read(nos: number[]): Promise<void>
  containing(part: string): Promise<Uint32Array>
  of(no: number): string[]
  /** The highest number that was read or noted. */
  highest(): number
  stats(): { names: number; bytes: number; parts: CacheStats }
}

/**
 * The names of all outlets, or of all authors, in memory. A name never changes once it has a
 * number, so the names in memory are never stale. Numbers may become visible in another order than
 * they were given out. So a search asks only whether the names of its own articles are here.
 *
 * @param limit bytes of the kept results
 */
export function createNameIndex(
  readNames: (wanted: NamesWanted) => Promise<NameBatch>,
  limit: number,
): NameIndex {
  const texts = createNameTexts()
  const parts = createPartSearch(texts, limit)
  let all: Promise<void> | null = null
  /**
   * The names of all numbers up to this one were read. After a failure, reading goes on from here.
   */
  let readTo = 0

  async function readThrough(): Promise<void> {
    for (;;) {
      const batch = await readNames({ after: readTo, limit: NAMES_PER_READ })
      const last = batch.nos.at(-1)
      if (last === undefined) return
      texts.add(batch)
      readTo = last
    }
  }
  return {
    has: texts.has,
    readAll() {
      all ??= readThrough().catch((error: unknown) => {
        all = null
        throw error
      })
      return all
    },
    async read(nos) {
      const missing = nos.filter(no => !texts.has(no))
      if (missing.length === 0) return
      // Another search may read the same names meanwhile. A name that is added twice does no harm.
      texts.add(await readNames(missing))
      // Numbers without a name are noted too. Otherwise each search would ask for them again.
      missing.forEach(texts.note)
    },
    containing: parts.containing,
    of: texts.of,
    highest: texts.highest,
    stats: () => ({ names: texts.size, bytes: texts.bytes, parts: parts.stats() }),
  }
}

/**
 * Finds the names that contain a part, and keeps the results.
 *
 * @param limit bytes of the kept results
 */
function createPartSearch(texts: NameTexts, limit: number) {
  const kept = createCache<string, Found>(limit)
  const searching = new Map<string, Promise<Uint32Array>>()

  /** Searches the names that were added after the last search for this part. */
  async function search(part: string): Promise<Uint32Array> {
    const wanted = Buffer.from(part)
    const pace = createPace(SHORT_TURN)
    let { bits, searched } = kept.get(part) ?? { bits: new Uint32Array(0), searched: 0 }
    try {
      while (searched < texts.size) {
        const words = (texts.highest() >>> 5) + 1
        if (bits.length < words) bits = grown(bits, new Uint32Array(words))
        const to = Math.min(texts.size, searched + NAMES_PER_STEP)
        texts.search(wanted, searched, to, bits)
        searched = to
        if (pace.isDue()) await pace.rest()
      }
      kept.set(part, { bits, searched }, PART_BYTES + part.length * 2 + bits.byteLength)
      return bits
    } finally {
      // This runs before the promise resolves. A later call may know of more names, and must start
      // a new search.
      searching.delete(part)
    }
  }
  return {
    /**
     * Returns a bitmap of the numbers of all names that contain a folded part. It covers the names
     * that are known when it resolves.
     */
    async containing(part: string): Promise<Uint32Array> {
      const known = kept.get(part)
      if (known !== undefined && known.searched === texts.size) return known.bits
      let running = searching.get(part)
      if (running === undefined) {
        const own = Promise.withResolvers<Uint32Array>()
        running = own.promise
        searching.set(part, running)
        search(part).then(own.resolve, own.reject)
      }
      return running
    },
    stats: () => kept.stats(),
  }
}

const LINE_BREAK = 10

interface NameTexts {
  readonly size: number
  readonly bytes: number
  highest(): number
  has(no: number): boolean
  /** Notes a number as read, even if it has no name. */
  note(no: number): void
  add(batch: NameBatch): void
  /**
   * Sets the bit of each number whose name contains `wanted`, among the names from `from` to
   * before `to`.
   */
  search(wanted: Uint8Array, from: number, to: number, bits: Uint32Array): void
  /**
   * The names of a number, in the order in which they were added; empty: the number has no name
   * here.
   */
  of(no: number): string[]
}

/**
 * Folded names in UTF-8 with their numbers. Each name ends with a line break, which no folded name
 * contains.
 */
function createNameTexts(): NameTexts {
  let bytes = Buffer.alloc(1 << 14)
  /** Name n has the number `nos[n]`, and begins at `starts[n]`. */
  let nos = new Int32Array(1 << 10)
  let starts = new Uint32Array(1 << 10)
  /** By number: the place of its first name + 1; 0: the number was not read, −1: it has no name. */
  let firsts = new Int32Array(1 << 10)
  let size = 0
  let used = 0
  let highest = 0

  const note = (no: number) => {
    if (no >= firsts.length)
      firsts = grown(firsts, new Int32Array(Math.max(no + 1, firsts.length * 2)))
    if (firsts[no] === 0) firsts[no] = -1
    highest = Math.max(highest, no)
  }
  const endName = (no: number, end: number) => {
    if (size + 1 === starts.length) {
      starts = grown(starts, new Uint32Array(starts.length * 2))
      nos = grown(nos, new Int32Array(starts.length))
    }
    note(no)
    nos[size++] = no
    starts[size] = end
    if (firsts[no]! < 0) firsts[no] = size
  }
  return {
    get size() {
      return size
    },
    get bytes() {
      return bytes.length + nos.byteLength + starts.byteLength + firsts.byteLength
    },
    highest: () => highest,
    has: no => no < firsts.length && firsts[no] !== 0,
    note,
    add({ nos: added, names }) {
      const end = used + names.length
      if (end > bytes.length) bytes = grown(bytes, Buffer.alloc(Math.max(end, bytes.length * 2)))
      bytes.set(names, used)
      for (const no of added) {
        used = bytes.indexOf(LINE_BREAK, used) + 1
        endName(no, used)
      }
    },
    search: (wanted, from, to, bits) =>
      markContaining(wanted, { bytes, nos, starts }, from, to, bits),
    of(no) {
      const names: string[] = []
      const first = (firsts[no] ?? 0) - 1
      for (let name = first; name >= 0 && name < size && nos[name] === no; name++)
        names.push(bytes.toString('utf8', starts[name], starts[name + 1]! - 1))
      return names
    },
  }
}

/**
 * Marks the names that contain `wanted`. Comparing bytes is enough: in UTF-8 the bytes of a text
 * occur only where the text occurs.
 */
function markContaining(
  wanted: Uint8Array,
  { bytes, nos, starts }: { bytes: Buffer; nos: Int32Array; starts: Uint32Array },
  from: number,
  to: number,
  bits: Uint32Array,
): void {
  const searched = bytes.subarray(0, starts[to])
  let name = from
  for (;;) {
    const found = searched.indexOf(wanted, starts[name])
    if (found < 0 || name === to) return
    name = nameAt(starts, name, to, found)
    bits[nos[name]! >>> 5]! |= 1 << (nos[name]! & 31)
    name++
  }
}

/** Which of the names from `from` to before `to` has the byte `at`. */
function nameAt(starts: Uint32Array, from: number, to: number, at: number): number {
  let low = from
  let high = to
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (starts[middle]! <= at) low = middle
    else high = middle
  }
  return low
}
