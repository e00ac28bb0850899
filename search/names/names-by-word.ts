import type { EventLoopPace } from '../pace.ts'
import { lowestBit } from '../segment/bitmap.ts'

/**
 * The words of some names: those of name n are `ids` from `starts[n]` to before `starts[n + 1]`.
 */
export interface WordsOfNames {
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
