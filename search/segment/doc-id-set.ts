import { copyBits, countBits, fill, hasBit, lowestBit, writeDocs } from './arrays.ts'

/**
 * A set of the documents 0 to `size` − 1 of one segment. It has one of two containers, as in
 * Roaring bitmaps (Lemire et al., arXiv:1603.06549): a sorted array for few documents, a bitmap for
 * many. A set never changes.
 */
export type DocIdSet = ArraySet | BitmapSet

export interface ArraySet {
  kind: 'array'
  size: number
  count: number
  docs: Uint16Array
  /**
   * The same documents as a bitmap, which the first lookup makes; null: not made yet, undefined:
   * lookups never make one.
   */
  lookup: Uint32Array | null | undefined
}

export interface BitmapSet {
  kind: 'bitmap'
  size: number
  count: number
  bits: Uint32Array
}

/**
 * Whether a set has so few documents that work on an array costs less than work on the whole
 * bitmap.
 */
const isSparse = (count: number, size: number) => count * 64 < size

export function arraySet(docs: Uint16Array, size: number): DocIdSet {
  return { kind: 'array', size, count: docs.length, docs, lookup: undefined }
}

/**
 * An array set that is kept for long. Its lookup bitmap pays off, because other documents are
 * looked up in it again and again.
 */
export function lastingArray(docs: Uint16Array, size: number): DocIdSet {
  return {
    kind: 'array',
    size,
    count: docs.length,
    docs,
    lookup: isSparse(docs.length, size) ? undefined : null,
  }
}

export function bitmapSet(bits: Uint32Array, size: number): DocIdSet {
  return { kind: 'bitmap', size, count: countBits(bits, bits.length), bits }
}

/** Bytes that a set takes, including a lookup bitmap that may be made later. */
export function bytesOf(set: DocIdSet): number {
  if (set.kind === 'bitmap') return set.bits.byteLength
  return set.docs.byteLength + (set.lookup === undefined ? 0 : set.size >>> 3)
}

const NONE = new Uint16Array(0)

/*
 * Operations write their result arrays one after the other into one buffer, the arena. To create a
 * typed array takes longer than to fill most of them. A set that outlives its search would keep the
 * whole buffer in memory, so `ownCopy` copies it. Operations are synchronous and a process runs one
 * at a time, so one arena is enough.
 */
const ARENA_DOCS = 1 << 17
let arena = new Uint16Array(ARENA_DOCS)
let used = 0

/**
 * Makes sure that the arena has room. @param most how many documents may be written; at most 65,536
 */
function reserve(most: number): void {
  if (used + most <= ARENA_DOCS) return
  arena = new Uint16Array(ARENA_DOCS)
  used = 0
}

/** Makes a set of the `count` documents that were written to the arena last. */
function takeFromArena(count: number, size: number): DocIdSet {
  const start = used
  used += count
  return arraySet(count === 0 ? NONE : arena.subarray(start, used), size)
}

/** Copies a set out of the arena. */
export function ownCopy(set: DocIdSet): DocIdSet {
  return set.kind === 'array' ? arraySet(set.docs.slice(), set.size) : set
}

/** Working memory for a bitmap. Each operation overwrites it. */
const work = new Uint32Array(65_536 >>> 5)

export function emptySet(size: number): DocIdSet {
  return arraySet(NONE, size)
}

/** The documents from `from` to before `to`. */
export function rangeSet(from: number, to: number, size: number): DocIdSet {
  const bits = new Uint32Array((size + 31) >>> 5)
  fill(bits, from, to)
  return { kind: 'bitmap', size, count: Math.max(0, to - from), bits }
}

/**
 * The documents of a set from `from` to before `to`, and the documents from `rest` on.
 *
 * @param from at most `to`, which is at most `rest`
 */
export function ranges(set: DocIdSet, from: number, to: number, rest: number): DocIdSet {
  if (set.kind === 'array') {
    const { docs } = set
    const start = lowerBound(docs, from)
    const end = lowerBound(docs, to, start)
    const tail = lowerBound(docs, rest, end)
    if (tail === docs.length)
      return end - start === docs.length ? set : arraySet(docs.subarray(start, end), set.size)
    if (start === end) return arraySet(docs.subarray(tail), set.size)
    const kept = new Uint16Array(end - start + docs.length - tail)
    kept.set(docs.subarray(start, end))
    kept.set(docs.subarray(tail), end - start)
    return arraySet(kept, set.size)
  }
  work.fill(0, 0, set.bits.length)
  copyBits(set.bits, work, from, to)
  copyBits(set.bits, work, rest, set.size)
  return fromWork(set.size)
}

export function intersection(a: DocIdSet, b: DocIdSet): DocIdSet {
  if (a.count === a.size) return b
  if (b.count === b.size) return a
  if (a.kind === 'array')
    return b.kind === 'bitmap' ? withBit(a.docs, b.bits, 1, a.size) : common(a, b)
  if (b.kind === 'array') return withBit(b.docs, a.bits, 1, a.size)
  const bits = a.bits
  const others = b.bits
  for (let at = 0; at < bits.length; at++) work[at] = bits[at]! & others[at]!
  return fromWork(a.size)
}

/**
 * The intersection of one or more sets. If all sets are bitmaps, one pass is enough. Otherwise the
 * documents of the smallest set are looked up in the others.
 */
export function intersectionOf(sets: DocIdSet[]): DocIdSet {
  if (sets.length === 1) return sets[0]!
  if (sets.length === 2) return intersection(sets[0]!, sets[1]!)
  const sorted = sets.toSorted((a, b) => a.count - b.count)
  const [first, ...more] = sorted.flatMap(set =>
    set.kind === 'bitmap' && set.count < set.size ? [set.bits] : [],
  )
  if (first === undefined || more.length < sets.length - 1) return sorted.reduce(intersection)
  work.set(first)
  for (const bits of more) for (let at = 0; at < bits.length; at++) work[at] = work[at]! & bits[at]!
  return fromWork(sets[0]!.size)
}

/** The documents of `a` that are not in `b`. */
export function difference(a: DocIdSet, b: DocIdSet): DocIdSet {
  if (a.count === 0 || b.count === 0) return a
  if (a.kind === 'array')
    return b.kind === 'bitmap' ? withBit(a.docs, b.bits, 0, a.size) : without(a, b)
  work.set(a.bits)
  if (b.kind === 'bitmap') {
    const { bits } = b
    for (let at = 0; at < bits.length; at++) work[at] = work[at]! & ~bits[at]!
  } else for (const doc of b.docs) work[doc >>> 5] = work[doc >>> 5]! & ~(1 << (doc & 31))
  return fromWork(a.size)
}

export function union(sets: DocIdSet[], size: number): DocIdSet {
  const some = sets.filter(set => set.count > 0)
  const [only] = some
  if (only === undefined) return emptySet(size)
  if (some.length === 1) return only
  let most = 0
  for (const set of some) most += set.count
  if (isSparse(most, size)) return sparseUnion(some, most, size)
  work.fill(0, 0, (size + 31) >>> 5)
  for (const set of some) add(set, work)
  return fromWork(size)
}

/** Sets the bit of each document of a set. */
function add(set: DocIdSet, bits: Uint32Array): void {
  if (set.kind === 'bitmap') {
    const others = set.bits
    for (let at = 0; at < others.length; at++) bits[at] = bits[at]! | others[at]!
  } else {
    const { docs } = set
    for (let at = 0; at < docs.length; at++) bits[docs[at]! >>> 5]! |= 1 << (docs[at]! & 31)
  }
}

/**
 * `seen` has a bit for each document. `seenWords` has a bit for each word of `seen` that is not 0.
 * Both are all 0 between two operations.
 */
const seen = new Uint32Array(65_536 >>> 5)
const seenWords = new Uint32Array(65_536 >>> 10)

/**
 * The union of sets with few documents. The number of steps grows with the documents, not with
 * `size`.
 */
function sparseUnion(sets: DocIdSet[], most: number, size: number): DocIdSet {
  for (const set of sets) {
    const docs = docsOf(set)
    for (let at = 0; at < docs.length; at++) {
      const word = docs[at]! >>> 5
      seen[word]! |= 1 << (docs[at]! & 31)
      seenWords[word >>> 5]! |= 1 << (word & 31)
    }
  }
  reserve(most)
  let end = used
  const last = (size - 1) >>> 10
  for (let at = 0; at <= last; at++) {
    for (let words = seenWords[at]!; words !== 0; words &= words - 1) {
      const word = (at << 5) + lowestBit(words)
      for (let bits = seen[word]!; bits !== 0; bits &= bits - 1)
        arena[end++] = (word << 5) + lowestBit(bits)
      seen[word] = 0
    }
    seenWords[at] = 0
  }
  return takeFromArena(end - used, size)
}

/** The documents that pass a test. */
export function passing(set: DocIdSet, test: (doc: number) => boolean): DocIdSet {
  return filtered(docsOf(set), set.size, test)
}

export function has(set: DocIdSet, doc: number): boolean {
  if (set.kind === 'bitmap') return hasBit(set.bits, doc)
  const at = lowerBound(set.docs, doc)
  return at < set.docs.length && set.docs[at] === doc
}

/** The documents in ascending order. */
export function docsOf(set: DocIdSet): Uint16Array {
  if (set.kind === 'array') return set.docs
  const docs = new Uint16Array(set.count)
  writeDocs(set.bits, set.bits.length, docs, 0)
  return docs
}

/** Visits documents in one direction until `visit` returns false. */
export function walk(set: DocIdSet, backwards: boolean, visit: (doc: number) => boolean): void {
  if (set.kind === 'array') {
    const { docs } = set
    if (backwards) for (let at = docs.length - 1; at >= 0 && visit(docs[at]!); at--);
    else for (let at = 0; at < docs.length && visit(docs[at]!); at++);
  } else if (backwards) walkBackwards(set.bits, visit)
  else walkForwards(set.bits, visit)
}

function walkForwards(bits: Uint32Array, visit: (doc: number) => boolean): void {
  for (let at = 0; at < bits.length; at++) {
    for (let word = bits[at]!; word !== 0; word &= word - 1) {
      if (!visit((at << 5) + lowestBit(word))) return
    }
  }
}

function walkBackwards(bits: Uint32Array, visit: (doc: number) => boolean): void {
  for (let at = bits.length - 1; at >= 0; at--) {
    for (let word = bits[at]! >>> 0; word !== 0; ) {
      const bit = 31 - Math.clz32(word)
      if (!visit((at << 5) + bit)) return
      word = (word & ~(1 << bit)) >>> 0
    }
  }
}

function filtered(docs: Uint16Array, size: number, test: (doc: number) => boolean): DocIdSet {
  reserve(docs.length)
  // This takes the room before the test runs, because the test may also write to the arena.
  const kept = arena
  const start = used
  used += docs.length
  let end = start
  for (let at = 0; at < docs.length; at++) if (test(docs[at]!)) kept[end++] = docs[at]!
  if (arena === kept && used === start + docs.length) used = end
  return arraySet(end === start ? NONE : kept.subarray(start, end), size)
}

/*
 * To intersect two arrays, `markAll` marks the documents of one, and the documents of the other are
 * looked up. This has no branch that a processor could mispredict. A mark is a byte, because writes
 * to neighbouring bits of one word would wait for each other. Its value is the number of the
 * operation, so marks are cleared only once in 255 operations.
 */
const marks = new Uint8Array(65_536)
let mark = 0

function markAll(docs: Uint16Array): void {
  if (mark === 255) {
    marks.fill(0)
    mark = 0
  }
  mark++
  for (let at = 0; at < docs.length; at++) marks[docs[at]!] = mark
}

/** A binary search for one document takes as long as marking this number of documents. */
const SEARCH_COST = 32

function common(a: ArraySet, b: ArraySet): DocIdSet {
  const { size } = a
  const [less, more] = a.count <= b.count ? [a, b] : [b, a]
  if (more.lookup !== undefined) return withBit(less.docs, lookupOf(more), 1, size)
  const few = less.docs
  const many = more.docs
  reserve(few.length)
  let end = used
  if (few.length * SEARCH_COST < many.length) {
    let from = 0
    for (let at = 0; at < few.length && from < many.length; at++) {
      from = lowerBound(many, few[at]!, from)
      if (many[from] === few[at]) arena[end++] = few[at]!
    }
  } else {
    markAll(many)
    for (let at = 0; at < few.length; at++) {
      const doc = few[at]!
      arena[end] = doc
      end += ((marks[doc]! ^ mark) - 1) >>> 31
    }
  }
  return takeFromArena(end - used, size)
}

function lookupOf(set: ArraySet): Uint32Array {
  if (set.lookup) return set.lookup
  set.lookup = new Uint32Array((set.size + 31) >>> 5)
  add(set, set.lookup)
  return set.lookup
}

/** The documents of `a` that are not in `b`. */
function without(a: ArraySet, b: ArraySet): DocIdSet {
  const { docs, size } = a
  const others = b.docs
  if (b.lookup !== undefined) return withBit(docs, lookupOf(b), 0, size)
  reserve(docs.length)
  markAll(others)
  let end = used
  for (let at = 0; at < docs.length; at++) {
    const doc = docs[at]!
    arena[end] = doc
    end += 1 - (((marks[doc]! ^ mark) - 1) >>> 31)
  }
  return takeFromArena(end - used, size)
}

/** The documents of `docs` whose bit in `bits` equals `bit`. */
function withBit(docs: Uint16Array, bits: Uint32Array, bit: 0 | 1, size: number): DocIdSet {
  reserve(docs.length)
  const flip = 1 - bit
  let end = used
  for (let at = 0; at < docs.length; at++) {
    const doc = docs[at]!
    arena[end] = doc
    end += ((bits[doc >>> 5]! >>> (doc & 31)) & 1) ^ flip
  }
  return takeFromArena(end - used, size)
}

/**
 * Makes a set of the bitmap in `work`. Few documents become an array, which makes later operations
 * cheap.
 */
function fromWork(size: number): DocIdSet {
  const words = (size + 31) >>> 5
  const count = countBits(work, words)
  if (!isSparse(count, size)) return { kind: 'bitmap', size, count, bits: work.slice(0, words) }
  reserve(count)
  writeDocs(work, words, arena, used)
  return takeFromArena(count, size)
}

/**
 * The position of the first document that is `doc` or higher; `docs.length`: there is no such
 * document.
 */
export function lowerBound(docs: Uint16Array, doc: number, from = 0): number {
  let low = from
  // The loop has no branch in it: the processor would predict half of such branches wrongly.
  for (let left = docs.length - from; left > 0; ) {
    const half = (left + 1) >>> 1
    low += ((docs[low + half - 1]! - doc) >> 31) & half
    left -= half
  }
  return low
}
