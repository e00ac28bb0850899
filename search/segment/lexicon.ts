import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { wordList } from '../analysis/index.ts'
import { lettersOf } from '../analysis/wildcard.ts'
import { type Reader, readVarint } from './arrays.ts'

/*
 * The lexicon of a segment has each of its words once. Wildcards need it, because a term dictionary
 * finds whole terms alone. It stands in buckets of its own, after those of the dictionary. An
 * earlier version stored none. It is then read from the terms of the dictionary. This takes longer.
 */

/** Buckets from this number on hold the lexicon. A dictionary has at most 65,536 buckets. */
export const LEXICON_BUCKET = 1 << 16

/** Bytes of a bucket of the lexicon. */
const BLOCK = 1 << 16

const LINE = 10

/** Whether a term is a word of a whole text. A digest that stands for a long word is none. */
export function isWord(term: string): boolean {
  const first = term.charCodeAt(0)
  return (first < 65 || first > 90) && first !== 35
}

/** Writes words, in their order, as buckets. */
export function encodeLexicon(words: string[]): { bucket: number; block: Buffer }[] {
  if (words.length === 0) return []
  const bytes = deflateRawSync(linesOf(words), { level: 1 })
  return Array.from({ length: Math.ceil(bytes.length / BLOCK) }, (_, at) => ({
    bucket: LEXICON_BUCKET + at,
    block: bytes.subarray(at * BLOCK, (at + 1) * BLOCK),
  }))
}

/**
 * The words of a lexicon in UTF-8, each between two line breaks.
 *
 * @param blocks its buckets, joined in order
 * @throws when the bytes are damaged
 */
export const decodeLexicon = (blocks: Buffer): Buffer => inflateRawSync(blocks)

/**
 * The same, from a term dictionary.
 *
 * @param blocks the buckets of the dictionary, joined
 */
export function lexiconOfTerms(blocks: Buffer): Buffer {
  const words: string[] = []
  const reader: Reader = { at: 0, bytes: blocks }
  while (reader.at < blocks.length) {
    const bytes = readVarint(reader)
    const term = blocks.toString('utf8', reader.at, reader.at + bytes)
    if (isWord(term)) words.push(term)
    reader.at += bytes
    const list = readVarint(reader)
    reader.at += list
  }
  return linesOf(words)
}

const linesOf = (words: string[]) => Buffer.from(wordList(words))

/** Words that were added, each once, as one text. */
export interface WordSet {
  /** Bytes of memory. */
  bytes(): number
  /** The place after the last word. */
  end(): number
  /**
   * Adds words of a lexicon.
   *
   * @param lines as `decodeLexicon` returns them
   * @param from the place of a line break
   * @returns the place of the line break after the last word that was added; the words after it are
   *   left to the next call
   */
  add(lines: Buffer, from: number): number
  /**
   * Finds the words that have some bytes.
   *
   * @param needle as `needleOf` makes it
   * @param from where to begin: 1, or what the last call returned
   * @param visit called with each word
   * @returns the place after the last word that was looked at; the words after it are left to the
   *   next call
   */
  find(needle: Buffer, from: number, visit: (word: string) => void): number
}

/** The first place of a set. */
export const FIRST_WORD = 1

/** Bytes in which every word has some that a wildcard stands for. Words stand between `\n`. */
export function needleOf(wildcard: string): Buffer {
  const before = wildcard[0] === '*' ? '' : '\n'
  const after = wildcard.at(-1) === '*' ? '' : '\n'
  return Buffer.from(`${before}${lettersOf(wildcard)}${after}`)
}

/** Bytes that one call of `add` or `find` looks at. They take a millisecond or less. */
const ADDED = 1 << 15
const LOOKED_AT = 1 << 19

/**
 * Keeps words as one text, and a table of their places by hash (open addressing). A word takes its
 * bytes and some ten more. To search a text of a million words takes milliseconds, so no list of
 * their parts is kept.
 */
export function createWordSet(): WordSet {
  let text = Buffer.alloc(1 << 16)
  let used = FIRST_WORD
  text[0] = LINE
  /** The place of a word; 0: the slot is free. */
  let slots = new Uint32Array(1 << 12)
  let count = 0

  /** The slot of the word between two places of `lines`, or the free slot for it. */
  function slotOf(lines: Buffer, from: number, to: number): number {
    let hash = 0x811c9dc5
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ lines[at]!, 0x01000193)
    const mask = slots.length - 1
    let slot = (hash ^ (hash >>> 15)) & mask
    for (let place = slots[slot]!; place !== 0; place = slots[slot]!) {
      if (stands(place, lines, from, to)) return slot
      slot = (slot + 1) & mask
    }
    return slot
  }

  function stands(place: number, lines: Buffer, from: number, to: number): boolean {
    let at = place
    for (let own = from; own < to; own++, at++) if (text[at] !== lines[own]) return false
    return text[at] === LINE
  }

  function grow(): void {
    slots = new Uint32Array(slots.length * 2)
    for (let from = FIRST_WORD; from < used; ) {
      const to = text.indexOf(LINE, from)
      slots[slotOf(text, from, to)] = from
      from = to + 1
    }
  }

  function addWord(lines: Buffer, from: number, to: number): void {
    const slot = slotOf(lines, from, to)
    if (slots[slot] !== 0) return
    const end = used + to - from + 1
    if (end > text.length) {
      const longer = Buffer.alloc(Math.ceil(end * 1.25))
      text.copy(longer)
      text = longer
    }
    lines.copy(text, used, from, to + 1)
    slots[slot] = used
    used = end
    if (++count * 4 > slots.length * 3) grow()
  }

  return {
    bytes: () => text.length + slots.byteLength,
    end: () => used,
    add(lines, from) {
      let at = from
      while (at < lines.length - 1 && at - from < ADDED) {
        const to = lines.indexOf(LINE, at + 1)
        if (to < 0) throw new RangeError('a lexicon does not end with a line break')
        addWord(lines, at + 1, to)
        at = to
      }
      return at
    },
    find(needle, from, visit) {
      const limit = from + LOOKED_AT
      const to = limit < used ? text.indexOf(LINE, limit) + 1 : used
      const seen = text.subarray(0, to)
      // The line break before a word may belong to the needle, and so may the one after it.
      for (let at = from - 1; ; ) {
        const found = seen.indexOf(needle, at)
        if (found < 0) return to
        const start = needle[0] === LINE ? found + 1 : seen.lastIndexOf(LINE, found) + 1
        at = seen.indexOf(LINE, found + 1)
        visit(seen.toString('utf8', start, at))
      }
    },
  }
}
