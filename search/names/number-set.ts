import { grown } from '../segment/arrays.ts'
import { countBits, hasBit, lowestBit } from '../segment/bitmap.ts'

/**
 * A growing set of numbers of outlets or authors: a list while they are few, because most parts of
 * names are rare, and a bitmap afterwards.
 */
export interface NumberSet {
  /** Numbers. While they are few, one that was added again, not in a row, counts again. */
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
  /**
   * Adds numbers that are set in a bitmap, up to a highest one. The set is not used meanwhile.
   *
   * @param highest at least the highest number of the set
   */
  fill(highest: number, set: (bits: Uint32Array) => Promise<void>): Promise<void>
  /** Visits the numbers in no order; while they are few, as often as they count. */
  each(visit: (no: number) => void): void
}

/** A bitmap of half a million numbers takes as much as a list of 16,384. */
const MOST_IN_LIST = 1_024

export function createNumberSet(): NumberSet {
  let list: Int32Array | null = new Int32Array(4)
  let bits = new Uint32Array(0)
  let count = 0
  let last = -1

  const becomeBitmap = () => {
    if (list === null) return
    const added = list.subarray(0, count)
    list = null
    count = 0
    for (const one of added) setBit(one)
  }
  const setBit = (no: number) => {
    if (no >>> 5 >= bits.length) bits = grown(bits, new Uint32Array(wordsUpTo(no * 2)))
    else if (hasBit(bits, no)) return
    bits[no >>> 5]! |= 1 << (no & 31)
    count++
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
      if (list === null) return setBit(no)
      if (count === list.length) list = grown(list, new Int32Array(count * 2))
      list[count++] = no
      if (count === MOST_IN_LIST) becomeBitmap()
    },
    async fill(highest, set) {
      becomeBitmap()
      if (bits.length < wordsUpTo(highest)) bits = grown(bits, new Uint32Array(wordsUpTo(highest)))
      await set(bits)
      count = countBits(bits, bits.length)
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
    each(visit) {
      if (list !== null) return list.subarray(0, count).forEach(visit)
      for (let at = 0; at < bits.length; at++) {
        for (let left = bits[at]!; left !== 0; left &= left - 1) visit((at << 5) + lowestBit(left))
      }
    },
  }
}

/** Words of 32 bits that hold the numbers from 0 to `highest`. */
const wordsUpTo = (highest: number) => (highest >>> 5) + 1
