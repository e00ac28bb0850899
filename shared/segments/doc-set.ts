/**
 * A set of the documents 0 to `size` − 1 of one segment: a sorted list while they are few, one bit each when they are many.
 * Never changed once made.
 */
export type DocSet =
  | { kind: 'list'; size: number; count: number; docs: Uint16Array }
  | { kind: 'bits'; size: number; count: number; bits: Uint32Array }

/** A list of this many takes as much room as the bits. */
const isSparse = (count: number, size: number) => count * 16 < size

export function listSet(docs: Uint16Array, size: number): DocSet {
  return { kind: 'list', size, count: docs.length, docs }
}

export function bitSet(bits: Uint32Array, size: number): DocSet {
  return { kind: 'bits', size, count: countBits(bits), bits }
}

const NONE = new Uint16Array(0)

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
    if (end - start + docs.length - tail === docs.length) return set
    const kept = new Uint16Array(end - start + docs.length - tail)
    kept.set(docs.subarray(start, end))
    kept.set(docs.subarray(tail), end - start)
    return listSet(kept, set.size)
  }
  const bits = new Uint32Array(set.bits.length)
  copyBits(set.bits, bits, from, to)
  copyBits(set.bits, bits, rest, set.size)
  return settled(bits, set.size)
}

export function intersection(a: DocSet, b: DocSet): DocSet {
  if (a.count === a.size) return b
  if (b.count === b.size) return a
  if (a.kind === 'bits' && b.kind === 'bits') {
    const bits = new Uint32Array(a.bits.length)
    for (let at = 0; at < bits.length; at++) bits[at] = a.bits[at]! & b.bits[at]!
    return settled(bits, a.size)
  }
  if (a.kind === 'bits') return intersection(b, a)
  if (b.kind === 'bits') {
    const kept = new Uint16Array(a.docs.length)
    return listSet(kept.slice(0, keepMarked(a.docs, b.bits, kept)), a.size)
  }
  return common(a.docs, b.docs, a.size)
}

/** The intersection of one set or more. The fewest are looked for in the others; where all are many, in one pass. */
export function intersectionOf(sets: DocSet[]): DocSet {
  const [first, ...more] = sets.toSorted((a, b) => a.count - b.count)
  if (more.length < 2 || first!.kind === 'list') return more.reduce(intersection, first!)
  const bits = first!.kind === 'bits' ? first!.bits.slice() : new Uint32Array(0)
  for (const other of more) {
    if (other.kind === 'list') return sets.reduce(intersection)
    if (other.count === other.size) continue
    for (let at = 0; at < bits.length; at++) bits[at] = bits[at]! & other.bits[at]!
  }
  return settled(bits, first!.size)
}

/** What is in `a` and not in `b`. */
export function difference(a: DocSet, b: DocSet): DocSet {
  if (a.count === 0 || b.count === 0) return a
  if (a.kind === 'list') return filtered(a.docs, a.size, absentFrom(b))
  const bits = a.bits.slice()
  if (b.kind === 'bits') for (let at = 0; at < bits.length; at++) bits[at] = bits[at]! & ~b.bits[at]!
  else for (const doc of b.docs) bits[doc >>> 5] = bits[doc >>> 5]! & ~(1 << (doc & 31))
  return settled(bits, a.size)
}

export function union(sets: DocSet[], size: number): DocSet {
  const some = sets.filter(set => set.count > 0)
  const [only] = some
  if (only === undefined) return emptySet(size)
  if (some.length === 1) return only
  const few = fewOf(some, size)
  if (few !== null) return few
  const bits = new Uint32Array((size + 31) >>> 5)
  for (const set of some) {
    if (set.kind === 'bits') for (let at = 0; at < bits.length; at++) bits[at] = bits[at]! | set.bits[at]!
    else for (const doc of set.docs) bits[doc >>> 5] = bits[doc >>> 5]! | (1 << (doc & 31))
  }
  return settled(bits, size)
}

/** So few that to sort them takes less than a look at a bit for each document. */
const FEW = 64

/** The union of lists that hold few documents together; null: they do not. */
function fewOf(sets: DocSet[], size: number): DocSet | null {
  const docs: number[] = []
  for (const set of sets) {
    if (set.kind !== 'list' || docs.length + set.count > Math.min(FEW, size >>> 5)) return null
    for (const doc of set.docs) docs.push(doc)
  }
  const sorted = Uint16Array.from(docs).sort()
  let count = 0
  for (const doc of sorted) if (count === 0 || sorted[count - 1] !== doc) sorted[count++] = doc
  return listSet(sorted.slice(0, count), size)
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
  let next = 0
  for (let at = 0; at < set.bits.length; at++) {
    for (let word = set.bits[at]!; word !== 0; word &= word - 1) {
      docs[next++] = (at << 5) + (31 - Math.clz32(word & -word))
    }
  }
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
        if (!visit((at << 5) + (31 - Math.clz32(word & -word)))) return
      }
    }
  }
}

function absentFrom(set: DocSet): (doc: number) => boolean {
  if (set.kind === 'bits') return doc => !hasBit(set.bits, doc)
  const { docs } = set
  // Asked in ascending order, so it never looks back.
  let at = 0
  return doc => {
    while (at < docs.length && docs[at]! < doc) at++
    return at === docs.length || docs[at] !== doc
  }
}

function filtered(docs: Uint16Array, size: number, test: (doc: number) => boolean): DocSet {
  const kept = new Uint16Array(docs.length)
  let count = 0
  for (const doc of docs) if (test(doc)) kept[count++] = doc
  return listSet(kept.slice(0, count), size)
}

/** One bit for each document of the largest segment; all are 0 between calls. */
const marks = new Uint32Array(65_536 >>> 5)

function common(a: Uint16Array, b: Uint16Array, size: number): DocSet {
  const [few, many] = a.length <= b.length ? [a, b] : [b, a]
  const kept = new Uint16Array(few.length)
  let count = 0
  if (few.length * 16 < many.length) {
    let from = 0
    for (const doc of few) {
      from = lowerBound(many, doc, from)
      if (from < many.length && many[from] === doc) kept[count++] = doc
    }
  } else {
    // Three passes without a branch to be guessed wrong are faster than one that merges.
    for (let at = 0; at < many.length; at++) marks[many[at]! >>> 5]! |= 1 << (many[at]! & 31)
    count = keepMarked(few, marks, kept)
    for (let at = 0; at < many.length; at++) marks[many[at]! >>> 5] = 0
  }
  return listSet(kept.slice(0, count), size)
}

/** Copies the documents that have their bit, and returns how many. */
function keepMarked(docs: Uint16Array, bits: Uint32Array, kept: Uint16Array): number {
  let count = 0
  for (let at = 0; at < docs.length; at++) {
    const doc = docs[at]!
    kept[count] = doc
    count += (bits[doc >>> 5]! >>> (doc & 31)) & 1
  }
  return count
}

/** Bits that turned out to be few become a list: what follows is then as cheap as they are few. */
function settled(bits: Uint32Array, size: number): DocSet {
  const set: DocSet = { kind: 'bits', size, count: countBits(bits), bits }
  return isSparse(set.count, size) ? listSet(docsOf(set), size) : set
}

function hasBit(bits: Uint32Array, doc: number): boolean {
  return ((bits[doc >>> 5]! >>> (doc & 31)) & 1) === 1
}

function lowerBound(docs: Uint16Array, doc: number, from = 0): number {
  let low = from
  let high = docs.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (docs[middle]! < doc) low = middle + 1
    else high = middle
  }
  return low
}

function fill(bits: Uint32Array, from: number, to: number): void {
  for (let doc = from; doc < to; ) {
    if ((doc & 31) === 0 && doc + 32 <= to) {
      bits[doc >>> 5] = 0xffffffff
      doc += 32
    } else {
      bits[doc >>> 5] = bits[doc >>> 5]! | (1 << (doc & 31))
      doc++
    }
  }
}

/** Adds the bits from `from` to before `to`. */
function copyBits(source: Uint32Array, target: Uint32Array, from: number, to: number): void {
  if (from >= to) return
  const [first, last] = [from >>> 5, (to - 1) >>> 5]
  for (let at = first; at <= last; at++) {
    let word = source[at]!
    if (at === first) word &= -1 << (from & 31)
    if (at === last) word &= -1 >>> (31 - ((to - 1) & 31))
    target[at] = target[at]! | word
  }
}

/** Population count of 32 bits at a time (Warren, Hacker's Delight, 5-1). */
function countBits(bits: Uint32Array): number {
  let count = 0
  for (let at = 0; at < bits.length; at++) {
    let word = bits[at]!
    word -= (word >>> 1) & 0x55555555
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333)
    count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return count
}
