import { grown } from '../segment/grown.ts'

/**
 * Posting lists that grow at their ends, by the id of a term. Most are very short, so they are
 * chained through one array: an array for each would take a hundred bytes.
 */
export interface GrowingPostings {
  /** Adds a document unless it is the last of the list. Returns whether it was added. */
  add(term: number, doc: number): boolean
  /** The documents in ascending order. The caller does not write to the array. */
  docs(term: number): Uint16Array
}

/**
 * Three numbers for each list, side by side: its length, the end of its chain + 1, its last
 * document + 1.
 */
const WIDTH = 3
const [COUNT, END, LAST] = [0, 1, 2] as const

/**
 * From this length on the last result is kept: to follow a chain is slow, but a short one costs
 * less than to keep it.
 */
const LONG = 32

export function createGrowingPostings(): GrowingPostings {
  let lists = new Int32Array(WIDTH << 12)
  let docs = new Uint16Array(1 << 12)
  /** The link of each document to the one before it in its chain, + 1. */
  let before = new Int32Array(1 << 12)
  let used = 0
  const results = new Map<number, Uint16Array>()
  return {
    add(term, doc) {
      const at = term * WIDTH
      while (at >= lists.length) lists = grown(lists, new Int32Array(lists.length * 2))
      if (lists[at + LAST] === doc + 1) return false
      if (used === docs.length) {
        docs = grown(docs, new Uint16Array(used * 2))
        before = grown(before, new Int32Array(used * 2))
      }
      docs[used] = doc
      before[used] = lists[at + END]!
      lists[at + COUNT]!++
      lists[at + END] = ++used
      lists[at + LAST] = doc + 1
      return true
    },
    docs(term) {
      const list = term * WIDTH
      if (list >= lists.length) return new Uint16Array(0)
      const count = lists[list + COUNT]!
      const known = count < LONG ? undefined : results.get(term)
      if (known?.length === count) return known
      const found = new Uint16Array(count)
      if (known !== undefined) found.set(known)
      const rest = known?.length ?? 0
      for (let at = lists[list + END]!, index = count - 1; index >= rest; at = before[at - 1]!) {
        found[index--] = docs[at - 1]!
      }
      if (count >= LONG) results.set(term, found)
      return found
    },
  }
}
