import { pairHash } from './hashing.ts'

/**
 * Ids of pairs of numbers, from 0 up in order of first appearance. Open addressing without objects,
 * for millions.
 */
export interface PairTable {
  /** The number of a pair, made if it is new. */
  number(first: number, second: number): number
  /** The number of a pair, or −1. */
  find(first: number, second: number): number
  readonly length: number
}

export function createPairTable(): PairTable {
  let capacity = 1 << 12
  // Three to a slot: first, second, number + 1; 0 is a free slot.
  let slots = new Int32Array(capacity * 3)
  let length = 0
  const slotOf = (first: number, second: number) => {
    let slot = pairHash(first, second) & (capacity - 1)
    while (slots[slot * 3 + 2] !== 0 && (slots[slot * 3] !== first || slots[slot * 3 + 1] !== second)) {
      slot = (slot + 1) & (capacity - 1)
    }
    return slot * 3
  }
  const grow = () => {
    const old = slots
    capacity *= 2
    slots = new Int32Array(capacity * 3)
    for (let at = 0; at < old.length; at += 3) {
      if (old[at + 2] === 0) continue
      const slot = slotOf(old[at]!, old[at + 1]!)
      slots[slot] = old[at]!
      slots[slot + 1] = old[at + 1]!
      slots[slot + 2] = old[at + 2]!
    }
  }
  return {
    number(first, second) {
      const slot = slotOf(first, second)
      const known = slots[slot + 2]!
      if (known !== 0) return known - 1
      slots[slot] = first
      slots[slot + 1] = second
      slots[slot + 2] = ++length
      if (length * 2 > capacity) grow()
      return length - 1
    },
    find: (first, second) => slots[slotOf(first, second) + 2]! - 1,
    get length() {
      return length
    },
  }
}
