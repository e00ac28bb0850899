import type { EventLoopPace } from '../pace.ts'
import { finishHash, grown, HASH_SEED, hashStep } from '../segment/arrays.ts'
import { hasBit } from '../segment/bitmap.ts'
import { BREAK, createNameWords, listNamesByWord, type NamesByWord, type NameWords } from './name-words.ts'
import type { NumberSet } from './number-set.ts'

/**
 * Folded names with their numbers, as lists of words: half a million names of authors are made of
 * some ten thousand words. A part is looked up in the words first, and then in the names that have
 * such words.
 */
export interface NameTexts extends Pick<NameColumns, 'hash' | 'areEqual'> {
  /** Number of names, in the order in which they were added. */
  readonly size: number
  readonly bytes: number
  /**
   * Adds names.
   *
   * @param nos the number of each name
   * @param words all their words as `wordList` writes a list, an empty word after each name
   */
  add(nos: ArrayLike<number>, words: string): void
  /** The numbers of the names that contain a folded part. */
  search(part: string): NameSearch
  /**
   * Adds the numbers of names that contain a folded part. Searches only names that are listed by
   * their words.
   *
   * @returns how many names those are, from the first on
   */
  searchListed(part: string, numbers: NumberSet, pace: EventLoopPace): Promise<number>
  /** The names of a number, in the order in which they were added; none: it has no name here. */
  of(no: number): string[]
}

/** Holds while no names are added. */
interface NameSearch {
  /** Calls back with the numbers of names from one to before another. */
  visit(from: number, to: number, found: (no: number) => void): void
}

/** To look at the texts of fewer names takes less than to look the part up in the words. */
const FEW_NAMES = 256
/**
 * Where the words of a part occur less often than once in so many names, their names are visited;
 * otherwise all names are looked at in their order.
 */
const SPARSE = 8
/** The same where words have to stand side by side, which takes longer to see in single names. */
const SPARSE_SEQUENCE = 32
/** So many names at most are not listed by their words: to search them takes a millisecond. */
const MOST_UNLISTED = 32_768

export function createNameTexts(): NameTexts {
  const words = createNameWords()
  const columns = createNameColumns()
  const listed = createNewestLists(words, columns)
  const textOf = (name: number) => {
    const starts = columns.starts()
    return Array.from(columns.ids().subarray(starts[name]!, starts[name + 1]!), words.text).join(' ')
  }
  return {
    get size() {
      return columns.size
    },
    get bytes() {
      return words.bytes + columns.bytes + (listed.current()?.bytes ?? 0)
    },
    add(added, list) {
      let at = 0
      words.read(list, id => {
        if (id === words.empty) columns.endName(added[at++]!)
        else columns.addWord(id)
      })
    },
    search(part) {
      let sets: Uint32Array[] | null = null
      return {
        visit(from, to, found) {
          if (part !== '' && (sets !== null || to - from > FEW_NAMES)) {
            sets ??= textsInWords(part).map(words.containing)
            visitSequences(columns, sets, from, to, found)
            return
          }
          const nos = columns.nos()
          for (let name = from; name < to; name++) if (part === '' || textOf(name).includes(part)) found(nos[name]!)
        },
      }
    },
    async searchListed(part, numbers, pace) {
      const names = await listed.newest(pace)
      if (names === null || part === '') return 0
      const sets = textsInWords(part).map(words.containing)
      const counts = sets.map(names.count)
      const fewest = Math.min(...counts)
      const sparse = sets.length === 1 ? SPARSE : SPARSE_SEQUENCE
      if (fewest * sparse > names.size) await markAll(columns, sets, names.size, numbers, pace)
      else {
        const visit = (name: number) => {
          if (sets.length === 1 || hasSequence(columns, sets, name)) numbers.add(columns.nos()[name]!)
        }
        await names.visit(sets[counts.indexOf(fewest)]!, visit, pace)
      }
      return names.size
    },
    of(no) {
      const { from, to } = columns.namesOf(no)
      return Array.from({ length: to - from }, (_, at) => textOf(from + at))
    },
    hash: columns.hash,
    areEqual: columns.areEqual,
  }
}

/** Lists of names by their words, made again when too many names are not in them. */
function createNewestLists(words: Pick<NameWords, 'size'>, columns: NameColumns) {
  let listed: NamesByWord | null = null
  let listing: Promise<NamesByWord> | null = null
  return {
    current: () => listed,
    async newest(pace: EventLoopPace): Promise<NamesByWord | null> {
      if (columns.size - (listed?.size ?? 0) <= MOST_UNLISTED) return listed
      const of = { size: columns.size, starts: columns.starts(), ids: columns.ids(), words: words.size }
      listing ??= listNamesByWord(of, pace).finally(() => {
        listing = null
      })
      listed = await listing
      return listed
    },
  }
}

/** Visits names in which words of the first set, the second set … stand side by side. */
function visitSequences(
  columns: NameColumns,
  sets: Uint32Array[],
  from: number,
  to: number,
  found: (no: number) => void,
): void {
  const [nos, starts, ids] = [columns.nos(), columns.starts(), columns.ids()]
  const [first, ...rest] = sets
  const more = rest.length
  for (let name = from, at = starts[from]!; name < to; name++) {
    const end = starts[name + 1]!
    for (; at < end - more; at++) {
      if (!hasBit(first!, ids[at]!)) continue
      if (more > 0 && !rest.every((set, index) => hasBit(set, ids[at + index + 1]!))) continue
      found(nos[name]!)
      break
    }
    at = end
  }
}

/** Names between two looks at the clock: a fraction of a millisecond. */
const NAMES_PER_STEP = 16_384

/** Adds the numbers of the first names in which words of the sets stand side by side. */
async function markAll(
  columns: NameColumns,
  sets: Uint32Array[],
  names: number,
  numbers: NumberSet,
  pace: EventLoopPace,
): Promise<void> {
  await numbers.fill(columns.highest(), async bits => {
    for (let from = 0; from < names; from += NAMES_PER_STEP) {
      markSequences(columns, sets, from, Math.min(names, from + NAMES_PER_STEP), bits)
      if (pace.isDue()) await pace.rest()
    }
  })
}

/**
 * The same for a range of names, without branches: of a common part, every other name has it, so
 * branches would mostly be predicted wrong.
 */
function markSequences(columns: NameColumns, sets: Uint32Array[], from: number, to: number, bits: Uint32Array): void {
  const [nos, starts, ids] = [columns.nos(), columns.starts(), columns.ids()]
  const first = sets[0]!
  const second = sets[1] ?? first
  const more = sets.length - 1
  for (let name = from; name < to; name++) {
    const end = starts[name + 1]! - more
    let any = 0
    for (let at = starts[name]!; at < end; at++) {
      let all = first[ids[at]! >>> 5]! >>> (ids[at]! & 31)
      if (more > 0) all &= second[ids[at + 1]! >>> 5]! >>> (ids[at + 1]! & 31)
      for (let next = 2; next <= more; next++) all &= sets[next]![ids[at + next]! >>> 5]! >>> (ids[at + next]! & 31)
      any |= all
    }
    bits[nos[name]! >>> 5]! |= (any & 1) << (nos[name]! & 31)
  }
}

/** Whether words of the first set, the second set … stand side by side in a name. */
function hasSequence(columns: NameColumns, sets: Uint32Array[], name: number): boolean {
  const [starts, ids] = [columns.starts(), columns.ids()]
  for (let at = starts[name]!, last = starts[name + 1]! - sets.length; at <= last; at++) {
    let same = 0
    while (same < sets.length && hasBit(sets[same]!, ids[at + same]!)) same++
    if (same === sets.length) return true
  }
  return false
}

/**
 * The texts to be found in neighbouring words of a name. Within a part, a blank ends one word and
 * begins the next.
 */
function textsInWords(part: string): string[] {
  const pieces = part.split(' ')
  const last = pieces.length - 1
  return pieces.map((piece, at) => `${at === 0 ? '' : BREAK}${piece}${at === last ? '' : BREAK}`)
}

/** Names as lists of the ids of their words. Each has the number of an outlet or author. */
interface NameColumns {
  readonly size: number
  readonly bytes: number
  /** No number is higher. */
  highest(): number
  /** Number of name n. Arrays are replaced when they grow. */
  nos(): Int32Array
  /** Words of name n are `ids` from `starts[n]` to before `starts[n + 1]`. */
  starts(): Uint32Array
  ids(): Int32Array
  addWord(id: number): void
  endName(no: number): void
  /** Names of a number: from one to before another. They were added side by side. */
  namesOf(no: number): { from: number; to: number }
  /** Equal for numbers with equal names. */
  hash(no: number): number
  areEqual(a: number, b: number): boolean
}

function createNameColumns(): NameColumns {
  let nos = new Int32Array(1 << 10)
  let starts = new Uint32Array(1 << 10)
  let ids = new Int32Array(1 << 12)
  /** A number's first name, from 1 on. */
  let firsts = new Uint32Array(1 << 10)
  let [size, used] = [0, 0]

  const namesOf = (no: number) => {
    const first = firsts[no] ?? 0
    if (first === 0) return { from: 0, to: 0 }
    let to = first
    while (to < size && nos[to] === no) to++
    return { from: first - 1, to }
  }
  return {
    get size() {
      return size
    },
    get bytes() {
      return nos.byteLength + starts.byteLength + ids.byteLength + firsts.byteLength
    },
    highest: () => firsts.length - 1,
    nos: () => nos,
    starts: () => starts,
    ids: () => ids,
    addWord(id) {
      if (used === ids.length) ids = grown(ids, new Int32Array(used * 2))
      ids[used++] = id
    },
    endName(no) {
      if (size + 1 === starts.length) {
        starts = grown(starts, new Uint32Array(starts.length * 2))
        nos = grown(nos, new Int32Array(starts.length))
      }
      if (no >= firsts.length) firsts = grown(firsts, new Uint32Array(Math.max(no + 1, firsts.length * 2)))
      nos[size++] = no
      starts[size] = used
      if (firsts[no] === 0) firsts[no] = size
    },
    namesOf,
    hash(no) {
      const { from, to } = namesOf(no)
      let hash = HASH_SEED
      for (let at = starts[from]!; at < starts[to]!; at++) hash = hashStep(hash, ids[at]!)
      return finishHash(hash)
    },
    areEqual(a, b) {
      const [one, other] = [namesOf(a), namesOf(b)]
      const names = one.to - one.from
      if (other.to - other.from !== names) return false
      const apart = starts[other.from]! - starts[one.from]!
      for (let name = 1; name <= names; name++) {
        if (starts[other.from + name]! - starts[one.from + name]! !== apart) return false
      }
      for (let at = starts[one.from]!; at < starts[one.to]!; at++) if (ids[at] !== ids[at + apart]) return false
      return true
    },
  }
}
