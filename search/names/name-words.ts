import type { EventLoopPace } from '../pace.ts'
import { grown } from '../segment/arrays.ts'
import { lowestBit } from '../segment/bitmap.ts'
import { createWordIds, type WordIds } from '../segment/word-ids.ts'

/**
 * The words that names are made of, by id, and their texts in one array that is scanned for parts.
 */
export interface NameWords extends Pick<WordIds, 'read' | 'text'> {
  readonly size: number
  /** Id of the empty word, which ends a name. */
  readonly empty: number
  readonly bytes: number
  /**
   * A bitmap of the words that contain a text. The text may begin and end with `BREAK`, which
   * stands before each word and after it.
   */
  containing(text: string): Uint32Array
}

/** No folded name contains it: white space is collapsed to a blank. */
export const BREAK = '\n'
const BREAK_UNIT = 10

/** Bytes of a word besides its text: hash, slots of the table, end. */
const WORD_BYTES = 32

export function createNameWords(): NameWords {
  const ids = createWordIds()
  let units = Uint16Array.of(BREAK_UNIT)
  let used = 1

  /** Words get their ids in the order in which they are read, and stand here in that order. */
  const addTexts = (from: number) => {
    for (let word = from; word < ids.size; word++) {
      const text = ids.text(word)
      const end = used + text.length + 1
      if (end > units.length) units = grown(units, new Uint16Array(Math.max(units.length * 2, end)))
      for (let at = 0; at < text.length; at++) units[used++] = text.charCodeAt(at)
      units[used++] = BREAK_UNIT
    }
  }
  const read: NameWords['read'] = (list, visit) => {
    const known = ids.size
    ids.read(list, visit)
    addTexts(known)
  }
  read(BREAK + BREAK, () => {})
  return {
    read,
    empty: 0,
    text: ids.text,
    get size() {
      return ids.size
    },
    get bytes() {
      return units.byteLength * 2 + ids.size * WORD_BYTES
    },
    containing(text) {
      const found = new Uint32Array((ids.size + 31) >>> 5)
      const wanted = Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
      const first = wanted[0]!
      let word = -1
      for (let at = 0; at < used; at++) {
        const unit = units[at]!
        if (unit === BREAK_UNIT) word++
        if (unit !== first) continue
        let same = 1
        while (same < wanted.length && units[at + same] === wanted[same]) same++
        if (same === wanted.length) found[word >>> 5]! |= 1 << (word & 31)
      }
      return found
    },
  }
}

/**
 * The words of some names: those of name n are `ids` from `starts[n]` to before `starts[n + 1]`.
 */
interface WordsOfNames {
  size: number
  starts: Uint32Array
  ids: Int32Array
  /** Number of different words. */
  words: number
}

/**
 * For each word the names that have it: an inverted index of names. A common part is in some
 * thousand words, so a search for it looks at the names of these words alone.
 */
export interface NamesByWord {
  /** Names that it knows; later ones have to be searched one by one. */
  readonly size: number
  readonly bytes: number
  /** How often the words of a bitmap occur in names. */
  count(words: Uint32Array): number
  /** Calls back with the names that have a word of a bitmap; with some of them more than once. */
  visit(words: Uint32Array, visit: (name: number) => void, pace: EventLoopPace): Promise<void>
}

/** Names or occurrences between two looks at the clock: a fraction of a millisecond. */
const STEP = 8_192

/** Lists the names of each word by a counting sort, in slices. Names may be added meanwhile. */
export async function listNamesByWord(of: WordsOfNames, pace: EventLoopPace): Promise<NamesByWord> {
  const { size, starts, ids, words } = of
  const used = starts[size]!
  /** Names of word w are `names` from `ends[w − 1]` to before `ends[w]`, once all are in. */
  const ends = new Uint32Array(words + 1)
  const names = new Int32Array(used)
  for (let from = 0; from < used; from += STEP) {
    const to = Math.min(used, from + STEP)
    for (let at = from; at < to; at++) ends[ids[at]! + 1]! += 1
    if (pace.isDue()) await pace.rest()
  }
  for (let word = 1; word <= words; word++) ends[word]! += ends[word - 1]!
  for (let from = 0; from < size; from += STEP) {
    const to = Math.min(size, from + STEP)
    for (let name = from, at = starts[from]!; name < to; name++) {
      for (const end = starts[name + 1]!; at < end; at++) names[ends[ids[at]!]!++] = name
    }
    if (pace.isDue()) await pace.rest()
  }
  const startOf = (word: number) => (word === 0 ? 0 : ends[word - 1]!)
  return {
    size,
    bytes: ends.byteLength + names.byteLength,
    count(wanted) {
      let sum = 0
      eachBit(wanted, words, word => {
        sum += ends[word]! - startOf(word)
      })
      return sum
    },
    async visit(wanted, visit, pace) {
      const found: number[] = []
      eachBit(wanted, words, word => found.push(word))
      let steps = 0
      for (const word of found) {
        for (let at = startOf(word); at < ends[word]!; at++) {
          visit(names[at]!)
          if (++steps % STEP === 0 && pace.isDue()) await pace.rest()
        }
      }
    },
  }
}

/** Visits the numbers below `end` of a bitmap, ascending. */
function eachBit(bits: Uint32Array, end: number, visit: (bit: number) => void): void {
  for (let at = 0; at < bits.length; at++) {
    for (let left = bits[at]!; left !== 0; left &= left - 1) {
      const bit = (at << 5) + lowestBit(left)
      if (bit < end) visit(bit)
    }
  }
}
