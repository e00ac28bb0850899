import { copyBits, countBits, fill, hasBit, lowestBit, writeDocs } from './bitmap.ts'

/**
 * A set of the documents 0 to `size` − 1 of one segment: a sorted list while they are few, one bit each when they are many.
 * Its documents never change.
 */
export type DocSet = ListSet | BitSet

export interface ListSet {
  kind: 'list'
  size: number
  count: number
  docs: Uint16Array
  /** The same as bits, made when other documents are first looked up in it; null: not yet, undefined: never. */
  lookup: Uint32Array | null | undefined
}

export interface BitSet {
  kind: 'bits'
  size: number
  count: number
  bits: Uint32Array
}

/** From here on to write all of them down takes as long as a step on the bits of all. */
const isSparse = (count: number, size: number) => count * 64 < size

export function listSet(docs: Uint16Array, size: number): DocSet {
  return { kind: 'list', size, count: docs.length, docs, lookup: undefined }
}

/** A list that stays, and that others are looked up in again and again. */
export function lastingList(docs: Uint16Array, size: number): DocSet {
  return { kind: 'list', size, count: docs.length, docs, lookup: isSparse(docs.length, size) ? undefined : null }
}

export function bitSet(bits: Uint32Array, size: number): DocSet {
  return { kind: 'bits', size, count: countBits(bits, bits.length), bits }
}

/** Bytes that it takes, or will take. */
export function bytesOf(set: DocSet): number {
  if (set.kind === 'bits') return set.bits.byteLength
  return set.docs.byteLength + (set.lookup === undefined ? 0 : set.size >>> 3)
}

const NONE = new Uint16Array(0)

/*
 * Room for the lists that operations make, one behind the other in one array: an array of its own takes longer to make than
 * most lists. What is kept longer than a search is copied (`ownCopy`), or it would hold the lists beside it too.
 */
const ROOM = 1 << 17
let room = new Uint16Array(ROOM)
let used = 0

/** Sees to it that the room takes so many documents more. @param most up to 65,536 */
function reserve(most: number): void {
  if (used + most <= ROOM) return
  room = new Uint16Array(ROOM)
  used = 0
}

/** The list of the documents that were written behind those in use. */
function taken(count: number, size: number): DocSet {
  const start = used
  used += count
  return listSet(count === 0 ? NONE : room.subarray(start, used), size)
}

/** The same documents in an array of their own. */
export function ownCopy(set: DocSet): DocSet {
  return set.kind === 'list' ? listSet(set.docs.slice(), set.size) : set
}

/** Bits that an operation works on; worth nothing between two. */
const work = new Uint32Array(65_536 >>> 5)

export function emptySet(size: number): DocSet {
  return listSet(NONE, size)
}

/** The documents from `from` to before `to`. */
export function rangeSet(from: number, to: number, size: number): DocSet {
  const bits = new Uint32Array((size + 31) >>> 5)
  fill(bits, from, to)
  return { kind: 'bits', size, count: Math.max(0, to - from), bits }
}

/** Those from `from` to before `to`, and those from `rest` on. @param from at most `to`, which is at most `rest` */
export function stretchesOf(set: DocSet, from: number, to: number, rest: number): DocSet {
  if (set.kind === 'list') {
    const { docs } = set
    const start = lowerBound(docs, from)
    const end = lowerBound(docs, to, start)
    const tail = lowerBound(docs, rest, end)
    if (tail === docs.length) return end - start === docs.length ? set : listSet(docs.subarray(start, end), set.size)
    if (start === end) return listSet(docs.subarray(tail), set.size)
    const kept = new Uint16Array(end - start + docs.length - tail)
    kept.set(docs.subarray(start, end))
    kept.set(docs.subarray(tail), end - start)
    return listSet(kept, set.size)
  }
  work.fill(0, 0, set.bits.length)
  copyBits(set.bits, work, from, to)
  copyBits(set.bits, work, rest, set.size)
  return settled(set.size)
}

export function intersection(a: DocSet, b: DocSet): DocSet {
  if (a.count === a.size) return b
  if (b.count === b.size) return a
  if (a.kind === 'list') return b.kind === 'bits' ? withBit(a.docs, b.bits, 1, a.size) : common(a, b)
  if (b.kind === 'list') return withBit(b.docs, a.bits, 1, a.size)
  const [bits, others] = [a.bits, b.bits]
  for (let at = 0; at < bits.length; at++) work[at] = bits[at]! & others[at]!
  return settled(a.size)
}

/** The intersection of one set or more. The fewest are looked for in the others; where all are many, in one pass. */
export function intersectionOf(sets: DocSet[]): DocSet {
  if (sets.length === 1) return sets[0]!
  if (sets.length === 2) return intersection(sets[0]!, sets[1]!)
  const sorted = sets.toSorted((a, b) => a.count - b.count)
  const [first, ...more] = sorted.flatMap(set => (set.kind === 'bits' && set.count < set.size ? [set.bits] : []))
  if (first === undefined || more.length < sets.length - 1) return sorted.reduce(intersection)
  work.set(first)
  for (const bits of more) for (let at = 0; at < bits.length; at++) work[at] = work[at]! & bits[at]!
  return settled(sets[0]!.size)
}

/** What is in `a` and not in `b`. */
export function difference(a: DocSet, b: DocSet): DocSet {
  if (a.count === 0 || b.count === 0) return a
  if (a.kind === 'list') return b.kind === 'bits' ? withBit(a.docs, b.bits, 0, a.size) : without(a, b)
  work.set(a.bits)
  if (b.kind === 'bits') {
    const { bits } = b
    for (let at = 0; at < bits.length; at++) work[at] = work[at]! & ~bits[at]!
  } else for (const doc of b.docs) work[doc >>> 5] = work[doc >>> 5]! & ~(1 << (doc & 31))
  return settled(a.size)
}

export function union(sets: DocSet[], size: number): DocSet {
  const some = sets.filter(set => set.count > 0)
  const [only] = some
  if (only === undefined) return emptySet(size)
  if (some.length === 1) return only
  let most = 0
  for (const set of some) most += set.count
  if (isSparse(most, size)) return fewOf(some, most, size)
  work.fill(0, 0, (size + 31) >>> 5)
  for (const set of some) add(set, work)
  return settled(size)
}

/** Sets the bits of a set's documents. */
function add(set: DocSet, bits: Uint32Array): void {
  if (set.kind === 'bits') {
    const others = set.bits
    for (let at = 0; at < others.length; at++) bits[at] = bits[at]! | others[at]!
  } else {
    const { docs } = set
    for (let at = 0; at < docs.length; at++) bits[docs[at]! >>> 5]! |= 1 << (docs[at]! & 31)
  }
}

/** A bit for each document, and one for each 32 documents of which one has its bit; all are 0 between two operations. */
const seen = new Uint32Array(65_536 >>> 5)
const seenWords = new Uint32Array(65_536 >>> 10)

/** The union of sets that hold few documents together, in as many steps. */
function fewOf(sets: DocSet[], most: number, size: number): DocSet {
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
      for (let bits = seen[word]!; bits !== 0; bits &= bits - 1) room[end++] = (word << 5) + lowestBit(bits)
      seen[word] = 0
    }
    seenWords[at] = 0
  }
  return taken(end - used, size)
}

/** Those that pass a test. */
export function passing(set: DocSet, test: (doc: number) => boolean): DocSet {
  return filtered(docsOf(set), set.size, test)
}

export function has(set: DocSet, doc: number): boolean {
  if (set.kind === 'bits') return hasBit(set.bits, doc)
  const at = lowerBound(set.docs, doc)
  return at < set.docs.length && set.docs[at] === doc
}

/** Its documents in ascending order. */
export function docsOf(set: DocSet): Uint16Array {
  if (set.kind === 'list') return set.docs
  const docs = new Uint16Array(set.count)
  writeDocs(set.bits, set.bits.length, docs, 0)
  return docs
}

/** Calls back with documents in one direction until told to stop. */
export function walk(set: DocSet, backwards: boolean, visit: (doc: number) => boolean): void {
  if (set.kind === 'list') {
    const { docs } = set
    if (backwards) for (let at = docs.length - 1; at >= 0 && visit(docs[at]!); at--);
    else for (let at = 0; at < docs.length && visit(docs[at]!); at++);
    return
  }
  const { bits } = set
  if (backwards) {
    for (let at = bits.length - 1; at >= 0; at--) {
      for (let word = bits[at]! >>> 0; word !== 0; ) {
        const bit = 31 - Math.clz32(word)
        if (!visit((at << 5) + bit)) return
        word = (word & ~(1 << bit)) >>> 0
      }
    }
  } else {
    for (let at = 0; at < bits.length; at++) {
      for (let word = bits[at]!; word !== 0; word &= word - 1) {
        if (!visit((at << 5) + lowestBit(word))) return
      }
    }
  }
}

function filtered(docs: Uint16Array, size: number, test: (doc: number) => boolean): DocSet {
  reserve(docs.length)
  // Claimed meanwhile, as the test may work with sets itself.
  const [kept, start] = [room, used]
  used += docs.length
  let end = start
  for (let at = 0; at < docs.length; at++) if (test(docs[at]!)) kept[end++] = docs[at]!
  if (room === kept && used === start + docs.length) used = end
  return listSet(end === start ? NONE : kept.subarray(start, end), size)
}

/*
 * Two lists are held against each other by marking the documents of one and looking the other up: no branch to be guessed wrong.
 * A byte each, as neighbours in one word would wait for each other; what is marked has the number of the operation, so
 * that nothing needs to be cleared but once in 255.
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

/** Looking one document up in a sorted list takes as long as marking so many. */
const LOOK_UP = 32

function common(a: ListSet, b: ListSet): DocSet {
  const { size } = a
  const [less, more] = a.count <= b.count ? [a, b] : [b, a]
  if (more.lookup !== undefined) return withBit(less.docs, lookupOf(more), 1, size)
  const [few, many] = [less.docs, more.docs]
  reserve(few.length)
  let end = used
  if (few.length * LOOK_UP < many.length) {
    let from = 0
    for (let at = 0; at < few.length && from < many.length; at++) {
      from = lowerBound(many, few[at]!, from)
      if (many[from] === few[at]) room[end++] = few[at]!
    }
  } else {
    markAll(many)
    for (let at = 0; at < few.length; at++) {
      const doc = few[at]!
      room[end] = doc
      end += ((marks[doc]! ^ mark) - 1) >>> 31
    }
  }
  return taken(end - used, size)
}

function lookupOf(set: ListSet): Uint32Array {
  if (set.lookup) return set.lookup
  set.lookup = new Uint32Array((set.size + 31) >>> 5)
  add(set, set.lookup)
  return set.lookup
}

/** The documents of the one list that are not in the other. */
function without(a: ListSet, b: ListSet): DocSet {
  const { docs, size } = a
  const others = b.docs
  if (b.lookup !== undefined) return withBit(docs, lookupOf(b), 0, size)
  reserve(docs.length)
  markAll(others)
  let end = used
  for (let at = 0; at < docs.length; at++) {
    const doc = docs[at]!
    room[end] = doc
    end += 1 - (((marks[doc]! ^ mark) - 1) >>> 31)
  }
  return taken(end - used, size)
}

/** The documents whose bit is `bit`. */
function withBit(docs: Uint16Array, bits: Uint32Array, bit: 0 | 1, size: number): DocSet {
  reserve(docs.length)
  const flip = 1 - bit
  let end = used
  for (let at = 0; at < docs.length; at++) {
    const doc = docs[at]!
    room[end] = doc
    end += ((bits[doc >>> 5]! >>> (doc & 31)) & 1) ^ flip
  }
  return taken(end - used, size)
}

/** The bits at work as a set. Those that turned out to be few become a list: what follows is then as cheap as they are few. */
function settled(size: number): DocSet {
  const words = (size + 31) >>> 5
  const count = countBits(work, words)
  if (!isSparse(count, size)) return { kind: 'bits', size, count, bits: work.slice(0, words) }
  reserve(count)
  writeDocs(work, words, room, used)
  return taken(count, size)
}

function lowerBound(docs: Uint16Array, doc: number, from = 0): number {
  let low = from
  // Halved without a branch: half of all guesses would be wrong.
  for (let left = docs.length - from; left > 0; ) {
    const half = (left + 1) >>> 1
    low += ((docs[low + half - 1]! - doc) >> 31) & half
    left -= half
  }
  return low
}
