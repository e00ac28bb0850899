import { grown } from '../segment/grown.ts'

/**
 * A growing set of numbers of outlets or authors: a list while they are few, because most parts of
 * names are rare, and a bitmap afterwards.
 */
export interface NumberSet {
  readonly count: number
  /** Bytes that it takes. */
  readonly bytes: number
  /** Adds a number. One that is added twice in a row counts once. */
  add(no: number): void
  /**
   * A bitmap up to a highest number, for use until the next wait.
   *
   * @param highest at least the highest number of the set
   */
  bitmap(highest: number): Uint32Array
}

/** A bitmap of half a million numbers takes as much as a list of 16,384. */
const MOST_IN_LIST = 1_024

export function createNumberSet(): NumberSet {
  let list: Int32Array | null = new Int32Array(4)
  let bits = new Uint32Array(0)
  let count = 0
  let last = -1

  const setBit = (no: number) => {
    if (no >>> 5 >= bits.length) bits = grown(bits, new Uint32Array(wordsUpTo(no * 2)))
    bits[no >>> 5]! |= 1 << (no & 31)
  }
  return {
    get count() {
      return count
    },
    get bytes() {
      return list === null ? bits.byteLength : list.byteLength
    },
    add(no) {
      if (no === last) return
      last = no
      if (list === null) {
        setBit(no)
        count++
        return
      }
      if (count === list.length) list = grown(list, new Int32Array(count * 2))
      list[count++] = no
      if (count < MOST_IN_LIST) return
      for (const one of list) setBit(one)
      list = null
    },
    bitmap(highest) {
      const words = wordsUpTo(highest)
      if (list === null) {
        if (bits.length < words) bits = grown(bits, new Uint32Array(words))
        return bits
      }
      const inflated = new Uint32Array(words)
      for (let at = 0; at < count; at++) inflated[list[at]! >>> 5]! |= 1 << (list[at]! & 31)
      return inflated
    },
  }
}

/** Words of 32 bits that hold the numbers from 0 to `highest`. */
const wordsUpTo = (highest: number) => (highest >>> 5) + 1
