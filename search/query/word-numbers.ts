import { randomInt } from 'node:crypto'
import { BREAK, codeUnits, finishHash } from '../analysis/hashes.ts'
import { grown } from '../segment/arrays.ts'
import { createStems, NO_STEM } from '../segment/word-ids.ts'
import type { Language } from '../vocabulary.ts'

/*
 * Numbers of words and stems for expressions, which read millions of words. A word is known by a
 * hash of 64 bits alone: to compare its letters would take most of the time. The hash begins with a
 * secret of the process, so nobody can write two words with one hash. In a million words, two have
 * the same hash with a probability of 1 in 30 million.
 */

/** Words and stems as numbers. −1: no text has the word or the stem. */
export interface WordNumbers {
  word(word: string): number
  /** A word by its number. */
  text(word: number): string
  /** The number of the stem of a word; null: the word is a stop word of the language. */
  stem(language: Language, word: string): number | null
  /** For a language, the number of a word's stem; −1: the word is a stop word. */
  stemsOf(language: Language): (word: number) => number
}

/** Numbers of the words that were read, and of their stems. */
export interface ReadWords {
  /**
   * Reads the words of a word list, as `wordList` writes it, into `ids`.
   *
   * @param from words of `ids` that stay; absent: 0
   * @returns how many words `ids` then has
   */
  read(list: string, from?: number): number
  /** The numbers of the words that were read last. The array has more places than words. */
  ids(): Int32Array
  /** The number of different words. */
  size(): number
  numbers: WordNumbers
}

/** A slice of a string would keep the whole string in memory. */
const ownCopy = (slice: string) => Buffer.from(slice, 'utf16le').toString('utf16le')

/** Numbers of a slot: two halves of the hash, the number of the word + 1, and one unused. */
const WIDTH = 4

const FIRST_SEED = randomInt(2 ** 32)
const SECOND_SEED = randomInt(2 ** 32)

export function createReadWords(): ReadWords {
  let slots = new Int32Array(WIDTH << 16)
  /** The words by number. */
  const texts: string[] = []
  const stems = createStems(word => texts[word]!)
  /** The numbers of the words that were read last. */
  let ids = new Int32Array(1 << 12)

  /** The slot of a word, or the free slot for it. */
  function slotOf(first: number, second: number): number {
    const mask = slots.length - WIDTH
    let slot = (first * WIDTH) & mask
    while (slots[slot + 2] !== 0 && (slots[slot] !== first || slots[slot + 1] !== second))
      slot = (slot + WIDTH) & mask
    return slot
  }

  function add(slot: number, first: number, second: number, text: string): number {
    slots[slot] = first
    slots[slot + 1] = second
    slots[slot + 2] = texts.push(text)
    if (texts.length * 2 * WIDTH > slots.length) grow()
    return texts.length - 1
  }

  function grow(): void {
    const before = slots
    slots = new Int32Array(before.length * 2)
    for (let at = 0; at < before.length; at += WIDTH) {
      if (before[at + 2] === 0) continue
      slots.set(before.subarray(at, at + WIDTH), slotOf(before[at]!, before[at + 1]!))
    }
  }

  function read(list: string, from = 0): number {
    const units = codeUnits(list)
    let used = from
    let start = 1
    let first = FIRST_SEED
    let second = SECOND_SEED
    for (let at = 1; at < list.length; at++) {
      const unit = units[at]!
      if (unit !== BREAK) {
        first = Math.imul(first ^ unit, 0x01000193)
        second = Math.imul((second << 5) ^ (second >>> 27) ^ unit, 0x9e3779b1)
        continue
      }
      const one = finishHash(first) | 0
      const other = finishHash(second) | 0
      const slot = slotOf(one, other)
      const held = slots[slot + 2]!
      if (used === ids.length) ids = grown(ids, new Int32Array(used * 2))
      ids[used++] = held === 0 ? add(slot, one, other, ownCopy(list.slice(start, at))) : held - 1
      first = FIRST_SEED
      second = SECOND_SEED
      start = at + 1
    }
    return used
  }

  /** Leaves `ids` as they are. */
  function numberOf(word: string): number {
    const first = ids[0]!
    read(`\n${word}\n`)
    const number = ids[0]!
    ids[0] = first
    return number
  }

  const numbers: WordNumbers = {
    word: numberOf,
    text: word => texts[word]!,
    stem(language, word) {
      const found = stems.of(language)(numberOf(word))
      return found === NO_STEM ? null : found
    },
    stemsOf: stems.of,
  }
  return { read, numbers, ids: () => ids, size: () => texts.length }
}
