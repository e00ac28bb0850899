/**
 * Lists of ascending documents that grow at their ends, most of them very short: chained through one array for all, where arrays
 * of their own would take a hundred bytes each.
 */
export interface GrowingLists {
  /** The number of a new list. */
  create(): number
  /** Adds a document unless it is the list's last. Returns whether it was not. */
  add(list: number, doc: number): boolean
  docs(list: number): Uint16Array
}

export function createLists(): GrowingLists {
  let counts = new Int32Array(1 << 12)
  /** The end of each list's chain; −1: the list is empty. */
  let ends = new Int32Array(1 << 12)
  let length = 0
  let docs = new Uint16Array(1 << 12)
  /** The place in the chain before each. */
  let before = new Int32Array(1 << 12)
  let used = 0
  return {
    create() {
      if (length === ends.length) {
        counts = grown(counts, new Int32Array(length * 2))
        ends = grown(ends, new Int32Array(length * 2))
      }
      ends[length] = -1
      return length++
    },
    add(list, doc) {
      const end = ends[list]!
      if (end >= 0 && docs[end] === doc) return false
      if (used === docs.length) {
        docs = grown(docs, new Uint16Array(used * 2))
        before = grown(before, new Int32Array(used * 2))
      }
      docs[used] = doc
      before[used] = end
      ends[list] = used++
      counts[list]!++
      return true
    },
    docs(list) {
      const found = new Uint16Array(counts[list]!)
      for (let at = ends[list]!, place = found.length - 1; at >= 0; at = before[at]!) found[place--] = docs[at]!
      return found
    },
  }
}

/** Numbers of lists by the number of another; `undefined` where none is noted. */
export interface Links {
  get(list: number): number | undefined
  set(list: number, other: number): void
}

export function createLinks(): Links {
  // Noted as one more, so that 0 is none.
  let links = new Int32Array(1 << 12)
  return {
    get(list) {
      const link = list < links.length ? links[list]! : 0
      return link === 0 ? undefined : link - 1
    },
    set(list, other) {
      while (list >= links.length) links = grown(links, new Int32Array(links.length * 2))
      links[list] = other + 1
    },
  }
}

function grown<T extends Int32Array | Uint16Array>(from: T, to: T): T {
  to.set(from)
  return to
}
