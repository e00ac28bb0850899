import { bitsOf } from './bitmap.ts'
import { type DocIdSet, has, intersection } from './doc-id-set.ts'

/** How many documents two sets have in common. Makes no set of them. */
export function countCommon(a: DocIdSet, b: DocIdSet): number {
  if (a.count === a.size) return b.count
  if (b.count === b.size) return a.count
  if (a.kind === 'bitmap' && b.kind === 'bitmap') {
    let count = 0
    for (let at = 0; at < a.bits.length; at++) count += bitsOf((a.bits[at]! & b.bits[at]!) | 0)
    return count
  }
  if (a.kind === 'array' && b.kind === 'array') return intersection(a, b).count
  const [docs, bitmap] = a.kind === 'array' ? [a.docs, b] : b.kind === 'array' ? [b.docs, a] : [[], a]
  let count = 0
  for (const doc of docs) if (has(bitmap, doc)) count++
  return count
}

/** How many documents of a set are `from` or more and less than `to`. */
export function countBetween(set: DocIdSet, from: number, to: number): number {
  if (from >= to) return 0
  if (set.count === set.size) return to - from
  return set.kind === 'bitmap' ? bitsBetween(set.bits, from, to) : lowerBound(set.docs, to) - lowerBound(set.docs, from)
}

function bitsBetween(bits: Uint32Array, from: number, to: number): number {
  const [first, last] = [from >>> 5, (to - 1) >>> 5]
  const head = -1 << (from & 31)
  const tail = -1 >>> (31 - ((to - 1) & 31))
  if (first === last) return bitsOf(bits[first]! & head & tail)
  let count = bitsOf(bits[first]! & head) + bitsOf(bits[last]! & tail)
  for (let at = first + 1; at < last; at++) count += bitsOf(bits[at]! | 0)
  return count
}

function lowerBound(docs: Uint16Array, doc: number): number {
  let low = 0
  let high = docs.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (docs[middle]! < doc) low = middle + 1
    else high = middle
  }
  return low
}
