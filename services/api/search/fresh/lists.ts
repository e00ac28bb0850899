/**
 * Lists of ascending documents that grow at their ends, most of them very short: chained through one array for all, where arrays
 * of their own would take a hundred bytes each.
 */
export interface GrowingLists {
  /** The number of a new list. */
  create(): number
  /** Adds a document unless it is the list's last, or there is no list. Returns whether it was added. */
  add(list: number | null, doc: number): boolean
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
      if (list === null) return false
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

/** Lists by number of a word. */
export interface Links {
  /** A word's list, made when it is first asked for; null: it has none. */
  get(word: number, make: (word: number) => number | null): number | null
}

const UNKNOWN = 0
const NONE = -1

export function createLinks(): Links {
  // Lists are noted by their number + 1.
  let links = new Int32Array(1 << 12)
  return {
    get(word, make) {
      const known = word < links.length ? links[word]! : UNKNOWN
      if (known > 0) return known - 1
      if (known === NONE) return null
      const made = make(word)
      while (word >= links.length) links = grown(links, new Int32Array(links.length * 2))
      links[word] = made === null ? NONE : made + 1
      return made
    },
  }
}

function grown<T extends Int32Array | Uint16Array>(from: T, to: T): T {
  to.set(from)
  return to
}
