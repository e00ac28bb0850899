import { codeUnits, hashOf, hashWords } from '../analysis/hashes.ts'
import { stopWordsOf } from '../analysis/index.ts'
import { stem } from '../analysis/stems.ts'
import { inTitle, TERMS } from '../terms.ts'
import type { Language } from '../vocabulary.ts'
import { grown, moved } from './arrays.ts'
import { createNumbers } from './postings-builder.ts'

export interface WordIds {
  size: number
  /**
   * Calls `visit` with the id of every word of a word list, in order. A new word gets the next
   * id.
   */
  read(list: string, visit: (word: number) => void): void
  /** The id of a word; −1: the word has no id. */
  find(word: string): number
  text(word: number): string
  texts(): WordTexts
  /** The length of the word in UTF-16 code units. */
  length(word: number): number
  /** By id: `hashOf` the word. */
  readonly hashes: Int32Array
}

export type Words = Pick<WordIds, 'text' | 'hashes'>

/**
 * The texts and hashes of all words, in a form that can go to another thread. Word n ends before
 * `ends[n]`.
 */
export interface WordTexts {
  units: Uint16Array<ArrayBuffer>
  ends: Uint32Array<ArrayBuffer>
  hashes: Int32Array<ArrayBuffer>
}

export function wordsOf({ units, ends, hashes }: WordTexts): Words {
  const bytes = Buffer.from(units.buffer)
  const strings: string[] = []
  return { text: word => (strings[word] ??= textOf(bytes, ends, word)), hashes }
}

const startOf = (ends: Uint32Array, word: number) => (word === 0 ? 0 : ends[word - 1]!)

// This decodes each text from the array. A substring of a word list would keep the whole list in
// memory.
const textOf = (bytes: Buffer, ends: Uint32Array, word: number) =>
  bytes.toString('utf16le', startOf(ends, word) * 2, ends[word]! * 2)

/**
 * Gives words ids from 0, in order of first appearance (Lucene: BytesRefHash). It reads words
 * directly from a word list, as `wordList` writes it, and makes no string for each word. A segment
 * has tens of millions of words.
 */
export function createWordIds(): WordIds {
  const texts = createWordTexts()
  let size = 0
  // A slot of this table (open addressing) has a hash and an id + 1. If the second number is 0, the
  // slot is free.
  let slots = new Int32Array(1 << 14)
  let hashes = new Int32Array(1 << 12)
  /** Used by `findLikely` alone. */
  let likely = new Int32Array(1 << 12)

  /**
   * The slot of the word that stands in `units` from `from` to before `to`. If the word is new: the
   * free slot for it.
   */
  const slotOf = (hash: number, units: Uint16Array, from: number, to: number): number => {
    const mask = slots.length - 2
    let slot = (hash << 1) & mask
    for (let held = slots[slot + 1]!; held !== 0; held = slots[slot + 1]!) {
      if (slots[slot] === hash && texts.stands(held - 1, units, from, to)) return slot
      slot = (slot + 2) & mask
    }
    return slot
  }
  const add = (slot: number, hash: number, units: Uint16Array, from: number, to: number): void => {
    slots[slot] = hash
    slots[slot + 1] = size + 1
    texts.add(units, from, to)
    if (size === hashes.length) hashes = grown(hashes, new Int32Array(size * 2))
    hashes[size++] = hash
    if (size * 4 > slots.length) slots = rehashed(hashes, size, slots.length * 2)
  }
  /**
   * The ids of the known words of a list; −1: all others, and a word before which another one has
   * the same hash. Slots and texts are far apart in memory. In loops without a branch, the
   * processor reads those of several words at a time.
   */
  const findLikely = (
    units: Uint16Array,
    ends: Int32Array,
    wanted: Uint32Array,
    count: number,
  ): Int32Array => {
    if (likely.length < count) likely = new Int32Array(count * 2)
    const ids = likely
    const table = slots
    const mask = table.length - 2
    for (let word = 0; word < count; word++) ids[word] = table[(wanted[word]! << 1) & mask]!
    for (let word = 0; word < count; word++) {
      const hash = wanted[word]! | 0
      let slot = (hash << 1) & mask
      if (ids[word] !== hash)
        while (table[slot] !== hash && table[slot + 1] !== 0) slot = (slot + 2) & mask
      ids[word] = table[slot + 1]! - 1
    }
    texts.keepEqual(ids, units, ends, count)
    return ids
  }
  return {
    get size(): number {
      return size
    },
    read(list, visit) {
      const { units, ends, hashes: found, count } = hashWords(list)
      const likely = findLikely(units, ends, found, count)
      for (let word = 0, from = 1; word < count; word++) {
        const to = ends[word]!
        let id = likely[word]!
        if (id < 0) {
          const hash = found[word]! | 0
          const slot = slotOf(hash, units, from, to)
          id = slots[slot + 1]! - 1
          if (id < 0) {
            id = size
            add(slot, hash, units, from, to)
          }
        }
        visit(id)
        from = to + 1
      }
    },
    find: word => slots[slotOf(hashOf(word) | 0, codeUnits(word), 0, word.length) + 1]! - 1,
    text: texts.text,
    texts: () => ({ ...texts.arrays(), hashes: hashes.slice(0, size) }),
    length: texts.length,
    get hashes(): Int32Array {
      return hashes.subarray(0, size)
    },
  }
}

/** Makes a larger table of the first `size` words. */
function rehashed(hashes: Int32Array, size: number, length: number): Int32Array<ArrayBuffer> {
  const slots = new Int32Array(length)
  const mask = length - 2
  for (let word = 0; word < size; word++) {
    const hash = hashes[word]!
    let slot = (hash << 1) & mask
    while (slots[slot + 1] !== 0) slot = (slot + 2) & mask
    slots[slot] = hash
    slots[slot + 1] = word + 1
  }
  return slots
}

/** The texts of words by id, all in one array of UTF-16 code units. */
function createWordTexts() {
  let units = new Uint16Array(1 << 15)
  let bytes = Buffer.from(units.buffer)
  let size = 0
  /** Word n ends before `ends[n]`. */
  let ends = new Uint32Array(1 << 12)
  /** The texts that were asked for. Each segment asks for most words several times. */
  const strings: string[] = []
  /** Used by `keepEqual` alone: by word, the first code unit of the text of its id. */
  let firsts = new Int32Array(1 << 12)
  /** Whether `source` has the word from `from` to before `to`. */
  const stands = (word: number, source: Uint16Array, from: number, to: number): boolean => {
    const start = startOf(ends, word)
    if (ends[word]! - start !== to - from) return false
    for (let at = from, unit = start; at < to; at++, unit++)
      if (units[unit] !== source[at]) return false
    return true
  }
  return {
    /** Adds the code units of `source` from `from` to before `to` as the next word. */
    add(source: Uint16Array, from: number, to: number): void {
      const start = startOf(ends, size)
      const end = start + to - from
      if (end > units.length) {
        units = grown(units, new Uint16Array(Math.max(units.length * 2, end)))
        bytes = Buffer.from(units.buffer)
      }
      units.set(source.subarray(from, to), start)
      if (size === ends.length) ends = grown(ends, new Uint32Array(size * 2))
      ends[size++] = end
    },
    stands,
    /**
     * Writes −1 over the ids whose texts are not the words of `source`. Word n stands there before
     * `wordEnds[n]`, as `hashWords` writes it.
     */
    keepEqual(ids: Int32Array, source: Uint16Array, wordEnds: Int32Array, count: number): void {
      const known = units
      const knownEnds = ends
      if (firsts.length < count) firsts = new Int32Array(count * 2)
      const firstUnits = firsts
      for (let word = 0; word < count; word++) {
        const id = ids[word]!
        firstUnits[word] = id < 1 ? 0 : knownEnds[id - 1]!
      }
      for (let word = 0; word < count; word++) firstUnits[word] = known[firstUnits[word]!]!
      for (let word = 0, from = 1; word < count; word++) {
        const id = ids[word]!
        const to = wordEnds[word]!
        if (id >= 0 && (firstUnits[word] !== source[from] || !stands(id, source, from, to)))
          ids[word] = -1
        from = to + 1
      }
    },
    text: (word: number): string => (strings[word] ??= textOf(bytes, ends, word)),
    length: (word: number): number => ends[word]! - startOf(ends, word),
    arrays: () => ({ units: units.slice(0, startOf(ends, size)), ends: ends.slice(0, size) }),
  }
}

/** The number of a stop word's stem. */
export const NO_STEM = -1

/**
 * The row of a word has `ROW` numbers: a mark, its term, and its stem's term in each language. A
 * text needs all of them, and the processor reads a row from memory at once. Terms stand there plus
 * `KNOWN`; 0: not computed yet.
 */
export const ROW = 8
export const TERM_COLUMN = 1
export const STEM_COLUMN: Record<Language, number> = { nl: 2, fr: 3, de: 4, lb: 5, en: 6 }
export const KNOWN = 2

/** Marks are 32-bit integers. */
const MOST_MARKS = 2 ** 31 - 1

/**
 * Words by id, and terms by number. Several segments may share a vocabulary. Then a word of the
 * first segment is already known to the next segment, and each term is made once.
 */
export interface Vocabulary {
  words: WordIds
  /** The terms in the order of their numbers. */
  names: readonly string[]
  /** `hashOf` the term. */
  hash(term: number): number
  /** The number of a filter's term. */
  numberOf(term: string): number
  /** The number of a word's term. */
  ofWord(word: number): number
  /** The number of the term of a word's stem; `NO_STEM` for stop words. */
  ofStem(language: Language, word: number): number
  /** The number of the term that stands for the same word or stem in titles. */
  titleOf(term: number): number
  /** The rows of all present words; valid until words are added. */
  rows(): Int32Array
  /** Numbers that stand in no row as marks. @returns the first of `count` */
  marks(count: number): number
}

export function createVocabulary(): Vocabulary {
  const words = createWordIds()
  const names: string[] = []
  const hashes = createNumbers()
  const numbers = new Map<string, number>()
  let rows = new Int32Array(ROW << 12)
  let lastMark = 0
  const add = (term: string): number => {
    hashes.push(hashOf(term) | 0)
    return names.push(term) - 1
  }
  const numberOf = (term: string): number => {
    const number = numbers.get(term) ?? add(term)
    numbers.set(term, number)
    return number
  }
  const present = () => {
    const length = words.size * ROW
    if (length > rows.length) rows = moved(rows, Math.max(length, rows.length * 2))
    return rows
  }
  const inRow = (word: number, column: number, make: (text: string) => number): number => {
    const at = word * ROW + column
    const known = present()[at]!
    if (known !== 0) return known - KNOWN
    const made = make(words.text(word))
    rows[at] = made + KNOWN
    return made
  }
  return {
    words,
    names,
    hash: hashes.at,
    numberOf,
    ofWord: word => inRow(word, TERM_COLUMN, text => add(TERMS.word(text))),
    ofStem: (language, word) =>
      inRow(word, STEM_COLUMN[language], text =>
        stopWordsOf(language).has(text)
          ? NO_STEM
          : numberOf(TERMS.stem(language, stem(language, text))),
      ),
    titleOf: memoised(term => add(inTitle(names[term]!))),
    rows: present,
    marks(count) {
      if (lastMark + count > MOST_MARKS) {
        for (let row = 0; row < rows.length; row += ROW) rows[row] = 0
        lastMark = 0
      }
      lastMark += count
      return lastMark - count + 1
    },
  }
}

/** Numbers of stems. Stems of two languages have different numbers. */
export interface Stems {
  /** The number of a stem, by its term; −1: no word that was asked for has the stem. */
  numberOf(term: string): number
  /** For a language, the number of a word's stem; `NO_STEM`: the word is a stop word. */
  of(language: Language): (word: number) => number
}

/** @param text a word by its id */
export function createStems(text: (word: number) => string): Stems {
  const numbers = new Map<string, number>()
  const languages = new Map<Language, (word: number) => number>()
  const numberIn = (language: Language) =>
    memoised(word => {
      const written = text(word)
      if (stopWordsOf(language).has(written)) return NO_STEM
      const term = TERMS.stem(language, stem(language, written))
      const number = numbers.get(term) ?? numbers.size
      numbers.set(term, number)
      return number
    })
  return {
    numberOf: term => numbers.get(term) ?? -1,
    of(language) {
      const known = languages.get(language) ?? numberIn(language)
      languages.set(language, known)
      return known
    },
  }
}

/** The value for an id that `memoised` has not computed yet. */
const UNKNOWN = -2

/**
 * Makes a function from ids to other ids. It computes each result once, at the first call for that
 * id.
 */
export function memoised(make: (id: number) => number): (id: number) => number {
  let known = new Int32Array(1 << 12).fill(UNKNOWN)
  return id => {
    if (id >= known.length) {
      const { length } = known
      known = moved(known, Math.max(length * 2, id + 1)).fill(UNKNOWN, length)
    }
    const found = known[id]!
    if (found !== UNKNOWN) return found
    const made = make(id)
    known[id] = made
    return made
  }
}
