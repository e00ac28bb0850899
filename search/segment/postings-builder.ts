import { bitsOf, moved, release } from './arrays.ts'
import { type DocIdSet, has, intersection, lowerBound } from './doc-id-set.ts'

/**
 * Terms with their posting lists. List n is `docs` from `starts[n]` to before `ends[n]`, in
 * ascending order. No list is empty.
 */
export interface TermLists {
  names: string[]
  /** `hashOf` each name. */
  hashes: Int32Array
  docs: Uint16Array
  starts: Uint32Array
  ends: Uint32Array
}

/**
 * How many pairs one piece holds. A segment has tens of millions of pairs. Pieces of a fixed size
 * need no copy when the pairs grow, and leave little room unused.
 */
const PIECE = 1 << 18

export interface PostingsBuilder {
  /**
   * Adds a document to the first `count` of `lists`. Documents come in ascending order, and may
   * come in this order several times, with other lists. A second time with the same list and
   * document has no effect.
   */
  add(doc: number, lists: Int32Array, count: number): void
  /**
   * Sorts all pairs into lists, in the order in which the lists came first. `add` must not be
   * called afterwards.
   */
  lists(): Omit<TermLists, 'names' | 'hashes'> & { numbers: Int32Array }
}

/** Lists whose numbers have the same bits above these are sorted together, in small tables. */
const LOW = 10
const TOGETHER = 1 << LOW

/** Collects pairs of a list and a document. The caller numbers the lists. */
export function createPostings(): PostingsBuilder {
  const pieces: Int32Array[] = []
  // The pairs of one `add` follow each other, so `runs` keeps their document once.
  const runs = { docs: createNumbers(), starts: createNumbers() }
  /** How many pairs each `TOGETHER` lists have. */
  let sizes = new Int32Array(1 << 4)
  let piece = new Int32Array(0)
  let end = 0
  const total = () => Math.max(pieces.length - 1, 0) * PIECE + end
  return {
    add(doc, lists, count) {
      let counts = sizes
      let place = end
      let room = piece
      runs.docs.push(doc)
      runs.starts.push(total())
      for (let at = 0; at < count; at++) {
        const list = lists[at]!
        const part = list >>> LOW
        if (part >= counts.length) counts = sizes = moved(sizes, part * 2)
        counts[part]!++
        if (place === room.length) {
          room = new Int32Array(PIECE)
          pieces.push(room)
          place = 0
        }
        room[place++] = list
      }
      piece = room
      end = place
    },
    lists() {
      runs.starts.push(total())
      const parts = new Uint32Array(sizes.length + 1)
      for (let part = 0; part < sizes.length; part++) parts[part + 1] = parts[part]! + sizes[part]!
      const { pairs, numbers } = spread(pieces, runs, parts)
      return { numbers, ...sorted(pairs, parts, numbers) }
    },
  }
}

/**
 * Spreads pairs over parts of `TOGETHER` lists (a radix partition), in their order. A pair is the
 * last bits of its list, then its document.
 *
 * @param parts where the parts begin
 */
function spread(
  pieces: Int32Array[],
  runs: { docs: Numbers; starts: Numbers },
  parts: Uint32Array,
): { pairs: Int32Array; numbers: Int32Array } {
  const pairs = new Int32Array(parts.at(-1)!)
  const next = parts.slice()
  const numbers = createNumbers()
  /** A bit for each list that has come. */
  const seen = new Int32Array((parts.length * TOGETHER) >>> 5)
  let place = 0
  for (let run = 0; run < runs.docs.length; run++) {
    const doc = runs.docs.at(run)
    const runEnd = runs.starts.at(run + 1)
    while (place < runEnd) {
      const lists = pieces[Math.floor(place / PIECE)]!
      const from = place % PIECE
      const to = Math.min(from + runEnd - place, PIECE)
      for (let at = from; at < to; at++) {
        const list = lists[at]!
        pairs[next[list >>> LOW]!++] = ((list & (TOGETHER - 1)) << 16) | doc
        const bit = 1 << (list & 31)
        if ((seen[list >>> 5]! & bit) !== 0) continue
        seen[list >>> 5]! |= bit
        numbers.push(list)
      }
      place += to - from
      if (to === PIECE) release(lists)
    }
  }
  return { pairs, numbers: numbers.view() }
}

/** Sorts each part by lists. This counting sort is stable, so documents stay in order. */
function sorted(
  pairs: Int32Array,
  parts: Uint32Array,
  numbers: Int32Array,
): Omit<TermLists, 'names' | 'hashes'> {
  const docs = new Uint16Array(pairs.length)
  const begins = new Uint32Array((parts.length - 1) * TOGETHER)
  const sizes = new Uint32Array(begins.length)
  /** Of each list of a part: its last document + 1, and where its next one goes. */
  const latest = new Int32Array(TOGETHER)
  const next = new Uint32Array(TOGETHER)
  for (let part = 0; part + 1 < parts.length; part++) {
    const from = parts[part]!
    const to = parts[part + 1]!
    if (from === to) continue
    next.fill(0)
    for (let at = from; at < to; at++) next[pairs[at]! >>> 16]!++
    for (let list = 0, end = from; list < TOGETHER; list++) {
      const size = next[list]!
      begins[part * TOGETHER + list] = end
      next[list] = end
      end += size
    }
    latest.fill(0)
    for (let at = from; at < to; at++) {
      const pair = pairs[at]!
      const list = pair >>> 16
      const doc = pair & 0xffff
      if (latest[list] === doc + 1) continue
      latest[list] = doc + 1
      docs[next[list]!++] = doc
    }
    for (let list = 0; list < TOGETHER; list++)
      sizes[part * TOGETHER + list] = next[list]! - begins[part * TOGETHER + list]!
  }
  release(pairs)
  const starts = new Uint32Array(numbers.length)
  const ends = new Uint32Array(numbers.length)
  for (let at = 0; at < numbers.length; at++) {
    const list = numbers[at]!
    starts[at] = begins[list]!
    ends[at] = begins[list]! + sizes[list]!
  }
  return { docs, starts, ends }
}

export interface Numbers {
  append(more: Int32Array): void
  push(value: number): void
  at(index: number): number
  length: number
  /** The present numbers; valid until the next `push` or `append`. */
  view(): Int32Array
}

/**
 * A list of numbers that grows.
 *
 * @param capacity how many numbers fit before the list grows for the first time
 */
export function createNumbers(capacity: number = 1 << 12): Numbers {
  let values = new Int32Array(capacity)
  let length = 0
  return {
    append(more) {
      const end = length + more.length
      if (end > values.length) values = moved(values, Math.max(length * 2, end))
      values.set(more, length)
      length = end
    },
    push(value) {
      if (length === values.length) values = moved(values, Math.max(length * 2, 1 << 12))
      values[length++] = value
    },
    at: index => values[index]!,
    get length(): number {
      return length
    },
    view: () => values.subarray(0, length),
  }
}

/** How many documents two sets have in common. Makes no third set. */
export function countCommon(a: DocIdSet, b: DocIdSet): number {
  if (a.count === a.size) return b.count
  if (b.count === b.size) return a.count
  if (a.kind === 'bitmap' && b.kind === 'bitmap') {
    let count = 0
    for (let at = 0; at < a.bits.length; at++) count += bitsOf((a.bits[at]! & b.bits[at]!) | 0)
    return count
  }
  if (a.kind === 'array' && b.kind === 'array') return intersection(a, b).count
  const [docs, bitmap] =
    a.kind === 'array' ? [a.docs, b] : b.kind === 'array' ? [b.docs, a] : [[], a]
  let count = 0
  for (const doc of docs) if (has(bitmap, doc)) count++
  return count
}

/** How many documents of a set are `from` or more and less than `to`. */
export function countBetween(set: DocIdSet, from: number, to: number): number {
  if (from >= to) return 0
  if (set.count === set.size) return to - from
  return set.kind === 'bitmap'
    ? bitsBetween(set.bits, from, to)
    : lowerBound(set.docs, to) - lowerBound(set.docs, from)
}

function bitsBetween(bits: Uint32Array, from: number, to: number): number {
  const first = from >>> 5
  const last = (to - 1) >>> 5
  const head = -1 << (from & 31)
  const tail = -1 >>> (31 - ((to - 1) & 31))
  if (first === last) return bitsOf(bits[first]! & head & tail)
  let count = bitsOf(bits[first]! & head) + bitsOf(bits[last]! & tail)
  for (let at = first + 1; at < last; at++) count += bitsOf(bits[at]! | 0)
  return count
}

/** The words of all documents as ids. Each title is followed by its body. */
export interface SegmentTexts {
  words: Numbers
  titleStarts: Int32Array
  bodyStarts: Int32Array
  ends: Int32Array
}
