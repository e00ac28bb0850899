/**
 * Lists of ascending documents by number of a term, growing at their ends, most of them very short: chained through one array for
 * all, where arrays of their own would take a hundred bytes each.
 */
export interface GrowingLists {
  /** Adds a document unless it is the list's last. Returns whether it was added. */
  add(term: number, doc: number): boolean
  /** Not to be written to. */
  docs(term: number): Uint16Array
}

/** What is known of a list: documents, the end of its chain + 1, the last document + 1. Together, for one look at memory. */
const WIDTH = 3
const [COUNT, END, LAST] = [0, 1, 2] as const

/** Lists as long as this are kept as they were last asked for: a chain is slow to follow, a short one less than it takes to keep it. */
const LONG = 32

export function createLists(): GrowingLists {
  let lists = new Int32Array(WIDTH << 12)
  let docs = new Uint16Array(1 << 12)
  /** The place in the chain before each, + 1. */
  let before = new Int32Array(1 << 12)
  let used = 0
  const asked = new Map<number, Uint16Array>()
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
      const known = count < LONG ? undefined : asked.get(term)
      if (known?.length === count) return known
      const found = new Uint16Array(count)
      if (known !== undefined) found.set(known)
      const rest = known?.length ?? 0
      for (let at = lists[list + END]!, place = count - 1; place >= rest; at = before[at - 1]!) {
        found[place--] = docs[at - 1]!
      }
      if (count >= LONG) asked.set(term, found)
      return found
    },
  }
}

function grown<T extends Int32Array | Uint16Array>(from: T, to: T): T {
  to.set(from)
  return to
}
