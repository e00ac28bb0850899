import { grown } from './grown.ts'

/**
 * Collects pairs of a term's id and a document, in order of documents, and returns them list by
 * list.
 */
export interface Postings {
  add(list: number, doc: number): void
  /**
   * Calls back with every list that is not empty, in order of ids. Its documents ascend in `docs`
   * from `from` to before `to`.
   */
  eachList(visit: (list: number, docs: Uint16Array, from: number, to: number) => void): void
}

export function createPostings(capacity = 1 << 16): Postings {
  let lists = new Int32Array(capacity)
  let docs = new Uint16Array(capacity)
  let end = 0
  let highest = -1
  return {
    add(list, doc) {
      if (end === lists.length) {
        lists = grown(lists, new Int32Array(end * 2))
        docs = grown(docs, new Uint16Array(end * 2))
      }
      lists[end] = list
      docs[end++] = doc
      if (list > highest) highest = list
    },
    eachList(visit) {
      // A counting sort is linear, and stable: documents stay in order.
      const starts = new Uint32Array(highest + 2)
      for (let at = 0; at < end; at++) starts[lists[at]! + 1]!++
      for (let list = 0; list <= highest; list++) starts[list + 1]! += starts[list]!
      const sorted = new Uint16Array(end)
      const next = starts.slice()
      for (let at = 0; at < end; at++) sorted[next[lists[at]!]!++] = docs[at]!
      for (let list = 0; list <= highest; list++) {
        if (starts[list]! < starts[list + 1]!) visit(list, sorted, starts[list]!, starts[list + 1]!)
      }
    },
  }
}

/** A list of numbers that grows. */
export interface Numbers {
  push(value: number): void
  at(index: number): number
  set(index: number, value: number): void
  readonly length: number
  /** The numbers so far; valid until the next `push`. */
  view(): Int32Array
}

export function createNumbers(): Numbers {
  let values = new Int32Array(1 << 12)
  let length = 0
  return {
    push(value) {
      if (length === values.length) values = grown(values, new Int32Array(length * 2))
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
