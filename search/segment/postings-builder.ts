import { moved, release } from './large.ts'

/** Collects pairs of a term's id and a document, in order of documents. */
export interface Postings {
  add(list: number, doc: number): void
  /** All pairs as lists. Nothing can be added afterwards. */
  lists(): PostingLists
}

/**
 * Lists by id. List n is `docs` from `starts[n]` to before `starts[n + 1]`, in ascending order; it
 * may be empty.
 */
export interface PostingLists {
  count: number
  docs: Uint16Array
  starts: Uint32Array
}

/**
 * Pairs that are kept in one piece. Pieces of a fixed size neither are copied as they grow nor have
 * room that is never used: a segment has tens of millions of pairs.
 */
const PIECE = 1 << 18

export function createPostings(): Postings {
  const pieces: Int32Array[] = []
  // Pairs of one document follow each other, so a document is kept once and not with each pair.
  const runs = { docs: createNumbers(), starts: createNumbers() }
  let lists = new Int32Array(0)
  let end = 0
  let latest = -1
  let highest = -1
  const total = () => Math.max(pieces.length - 1, 0) * PIECE + end
  return {
    add(list, doc) {
      if (end === lists.length) {
        lists = new Int32Array(PIECE)
        pieces.push(lists)
        end = 0
      }
      if (doc !== latest) {
        runs.docs.push(doc)
        runs.starts.push(total())
        latest = doc
      }
      lists[end++] = list
      if (list > highest) highest = list
    },
    lists() {
      const size = total()
      // A counting sort is linear, and stable: documents stay in order.
      const starts = new Uint32Array(highest + 2)
      for (const [number, piece] of pieces.entries()) countLists(piece, size - number * PIECE, starts)
      for (let list = 0; list <= highest; list++) starts[list + 1]! += starts[list]!
      const docs = new Uint16Array(size)
      const next = starts.slice()
      let run = -1
      let doc = 0
      let place = 0
      for (const piece of pieces) {
        for (let at = 0; at < piece.length && place < size; at++, place++) {
          if (run + 1 < runs.starts.length && runs.starts.at(run + 1) === place) doc = runs.docs.at(++run)
          docs[next[piece[at]!]!++] = doc
        }
        release(piece)
      }
      return { count: highest + 1, docs, starts }
    },
  }
}

function countLists(lists: Int32Array, size: number, starts: Uint32Array): void {
  const end = Math.min(size, lists.length)
  for (let at = 0; at < end; at++) starts[lists[at]! + 1]!++
}

/** A list of numbers that grows. */
export interface Numbers {
  push(value: number): void
  append(values: Int32Array): void
  at(index: number): number
  set(index: number, value: number): void
  readonly length: number
  /** The numbers so far; valid until the next `push`. */
  view(): Int32Array
}

/** @param capacity numbers for which there is room from the beginning */
export function createNumbers(capacity = 1 << 12): Numbers {
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
    get length() {
      return length
    },
    view: () => values.subarray(0, length),
  }
}
