import { finishHash, HASH_SEED, hashStep } from './hashing.ts'

/**
 * The words of many texts as numbers, from 0 up in the order in which they are first met. Words are read where they stand in a
 * list as `wordList` writes it, without a string for each: tens of millions of them make a segment.
 */
export interface Vocabulary {
  readonly size: number
  /** Calls back with the number of every word of a list, in order; a number that is new is the vocabulary's last. */
  read(list: string, visit: (word: number) => void): void
  /** The number of a word; −1: it was never met. */
  find(word: string): number
  text(word: number): string
  /** Of the word, in UTF-16 code units. */
  length(word: number): number
  /** `hashOf` the word. */
  hash(word: number): number
}

const BREAK = 10 // \n

export function createVocabulary(): Vocabulary {
  let size = 0
  // Open addressing, two to a slot: the hash, and the number + 1; 0 is a free slot.
  let slots = new Int32Array(1 << 14)
  let hashes = new Int32Array(1 << 12)
  // All words one after the other, in UTF-16 code units; word n ends before `ends[n]`.
  let units = new Uint16Array(1 << 15)
  let bytes = Buffer.from(units.buffer)
  let ends = new Uint32Array(1 << 12)

  const startOf = (word: number) => (word === 0 ? 0 : ends[word - 1]!)
  const stands = (word: number, list: string, from: number, to: number): boolean => {
    const start = startOf(word)
    if (ends[word]! - start !== to - from) return false
    for (let at = from, unit = start; at < to; at++, unit++) if (units[unit] !== list.charCodeAt(at)) return false
    return true
  }
  /** Where the word stands in the slots, or the free place where it would. */
  const placeOf = (hash: number, list: string, from: number, to: number): number => {
    const mask = slots.length - 2
    let place = (hash << 1) & mask
    for (let held = slots[place + 1]!; held !== 0; held = slots[place + 1]!) {
      if (slots[place] === hash && stands(held - 1, list, from, to)) return place
      place = (place + 2) & mask
    }
    return place
  }
  const add = (hash: number, list: string, from: number, to: number): void => {
    const start = startOf(size)
    const end = start + to - from
    if (end > units.length) {
      units = grown(units, new Uint16Array(Math.max(units.length * 2, end)))
      bytes = Buffer.from(units.buffer)
    }
    for (let at = from, unit = start; at < to; at++, unit++) units[unit] = list.charCodeAt(at)
    if (size === hashes.length) {
      hashes = grown(hashes, new Int32Array(size * 2))
      ends = grown(ends, new Uint32Array(size * 2))
    }
    hashes[size] = hash
    ends[size++] = end
    if (size * 4 > slots.length) rehash()
  }
  const rehash = () => {
    slots = new Int32Array(slots.length * 2)
    const mask = slots.length - 2
    for (let word = 0; word < size; word++) {
      const hash = hashes[word]!
      let place = (hash << 1) & mask
      while (slots[place + 1] !== 0) place = (place + 2) & mask
      slots[place] = hash
      slots[place + 1] = word + 1
    }
  }
  return {
    get size() {
      return size
    },
    read(list, visit) {
      let from = 1
      let hash = HASH_SEED
      for (let at = 1; at < list.length; at++) {
        const unit = list.charCodeAt(at)
        if (unit !== BREAK) {
          hash = hashStep(hash, unit)
          continue
        }
        const finished = finishHash(hash) | 0
        const place = placeOf(finished, list, from, at)
        const held = slots[place + 1]!
        if (held === 0) {
          slots[place] = finished
          slots[place + 1] = size + 1
          add(finished, list, from, at)
          visit(size - 1)
        } else visit(held - 1)
        from = at + 1
        hash = HASH_SEED
      }
    },
    find(word) {
      let hash = HASH_SEED
      for (let at = 0; at < word.length; at++) hash = hashStep(hash, word.charCodeAt(at))
      return slots[placeOf(finishHash(hash) | 0, word, 0, word.length) + 1]! - 1
    },
    // Not a part of the list, which would keep all of that in memory. Little-endian, as every machine that runs Node is.
    text: word => bytes.toString('utf16le', startOf(word) * 2, ends[word]! * 2),
    length: word => ends[word]! - startOf(word),
    hash: word => hashes[word]! >>> 0,
  }
}

function grown<T extends Int32Array | Uint32Array | Uint16Array>(from: T, to: T): T {
  to.set(from)
  return to
}
