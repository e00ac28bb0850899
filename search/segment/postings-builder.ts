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
   * come in this order several times. A second time with the same list and document has no effect.
   */
  add(doc: number, lists: Int32Array, count: number): void
  /**
   * Sorts all pairs into lists, in the order in which the lists came first. `add` must not be
   * called afterwards.
   */
  lists(): Omit<TermLists, 'names' | 'hashes'> & { numbers: Int32Array }
}

/** Collects pairs of a list and a document. The caller numbers the lists. */
export function createPostings(): PostingsBuilder {
  const pieces: Int32Array[] = []
  // The pairs of one `add` follow each other, so `runs` keeps their document once.
  const runs = { docs: createNumbers(), starts: createNumbers() }
  // Two numbers for each list: its last document + 1, and how many documents it has. They stand
  // side by side, because `add` needs both.
  let heads = new Int32Array(1 << 12)
  const numbers = createNumbers()
  let piece = new Int32Array(0)
  let end = 0
  const total = () => Math.max(pieces.length - 1, 0) * PIECE + end
  return {
    add(doc, lists, count) {
      let latest = heads
      let place = end
      let room = piece
      runs.docs.push(doc)
      runs.starts.push(total())
      for (let at = 0; at < count; at++) {
        const list = lists[at]!
        if (list * 2 >= latest.length) latest = heads = moved(heads, list * 4)
        const before = latest[list * 2]!
        if (before === doc + 1) continue
        if (before === 0) numbers.push(list)
        latest[list * 2] = doc + 1
        latest[list * 2 + 1]!++
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
      const size = total()
      // A counting sort is linear. It is also stable, so documents stay in order.
      const starts = new Uint32Array(numbers.length + 1)
      const next = heads
      numbers.view().forEach((list, at) => {
        starts[at + 1] = starts[at]! + next[list * 2 + 1]!
        next[list * 2] = starts[at]!
      })
      const docs = new Uint16Array(size)
      runs.starts.push(size)
      let place = 0
      for (let run = 0; run < runs.docs.length; run++) {
        const doc = runs.docs.at(run)
        const runEnd = runs.starts.at(run + 1)
        while (place < runEnd) {
          const lists = pieces[Math.floor(place / PIECE)]!
          const from = place % PIECE
          const to = Math.min(from + runEnd - place, PIECE)
          for (let at = from; at < to; at++) docs[next[lists[at]! * 2]!++] = doc
          place += to - from
          if (to === PIECE) release(lists)
        }
      }
      const ends = starts.subarray(1)
      return { numbers: numbers.view(), docs, starts: starts.subarray(0, ends.length), ends }
    },
  }
}

export interface Numbers {
  append(more: Int32Array): void
  push(value: number): void
  at(index: number): number
  set(index: number, value: number): void
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
    set(index, value) {
      values[index] = value
    },
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

/** The texts of a builder, for another builder with the same vocabulary. */
export interface KnownTexts extends Omit<SegmentTexts, 'words'> {
  /** Document n is the article with the `seq` `seqs[n]`. */
  seqs: bigint[]
  words: Int32Array
}
