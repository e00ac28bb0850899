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
  const pieces: { lists: Int32Array; docs: Uint16Array }[] = []
  let lists = new Int32Array(0)
  let docs = new Uint16Array(0)
  let end = 0
  let highest = -1
  const addPiece = () => {
    lists = new Int32Array(PIECE)
    docs = new Uint16Array(PIECE)
    pieces.push({ lists, docs })
    end = 0
  }
  return {
    add(list, doc) {
      if (end === lists.length) addPiece()
      lists[end] = list
      docs[end++] = doc
      if (list > highest) highest = list
    },
    lists() {
      const sizeOf = (piece: number) => (piece === pieces.length - 1 ? end : PIECE)
      // A counting sort is linear, and stable: documents stay in order.
      const starts = new Uint32Array(highest + 2)
      for (const [number, piece] of pieces.entries()) countLists(piece.lists, sizeOf(number), starts)
      for (let list = 0; list <= highest; list++) starts[list + 1]! += starts[list]!
      const sorted = new Uint16Array(starts[highest + 1]!)
      const next = starts.slice()
      for (const [number, piece] of pieces.entries()) {
        sortPiece(piece, sizeOf(number), next, sorted)
        release(piece.lists)
        release(piece.docs)
      }
      return { count: highest + 1, docs: sorted, starts }
    },
  }
}

function countLists(lists: Int32Array, size: number, starts: Uint32Array): void {
  for (let at = 0; at < size; at++) starts[lists[at]! + 1]!++
}

type Piece = Record<'lists', Int32Array> & Record<'docs', Uint16Array>

function sortPiece({ lists, docs }: Piece, size: number, next: Uint32Array, sorted: Uint16Array): void {
  for (let at = 0; at < size; at++) sorted[next[lists[at]!]!++] = docs[at]!
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
