import { finishHash } from './hashing.ts'
import { createNumbers } from './postings-builder.ts'

/*
 * Which terms a segment may have: a Bloom filter over all terms but shingles, with one false
 * answer in eighty. Most words of a query are in few segments, and their stems in one language of
 * five. The filter tells so from memory; without it each would take a look into a bucket.
 */
export type TermFilter = Uint8Array

const BITS_PER_TERM = 10
const PROBES = 4

/** Shingles would make the filter five times as large. */
const SHINGLES = new Set(['Q', 'R', 'V', 'W'])

/** Whether filters know terms of this kind. */
export const isFiltered = (term: string) => !SHINGLES.has(term[0] ?? '')

export function createTermFilterBuilder() {
  const hashes = createNumbers()
  return {
    /** @param hash `hashOf` the term */
    add(term: string, hash: number): void {
      if (isFiltered(term)) hashes.push(hash | 0)
    },
    build(): TermFilter {
      const filter = new Uint8Array(Math.ceil((hashes.length * BITS_PER_TERM) / 8))
      for (let at = 0; at < hashes.length; at++) {
        eachBit(filter, hashes.at(at) >>> 0, bit => {
          filter[bit >>> 3]! |= 1 << (bit & 7)
          return true
        })
      }
      return filter
    },
  }
}

/**
 * Whether a segment certainly lacks a term.
 *
 * @param hash `hashOf` the term, which must be filtered
 */
export function lacks(filter: TermFilter, hash: number): boolean {
  return filter.length > 0 && !eachBit(filter, hash, bit => ((filter[bit >>> 3]! >>> (bit & 7)) & 1) === 1)
}

/** Visits the bits of a term until the visitor returns false, and returns whether none did. */
function eachBit(filter: TermFilter, hash: number, visit: (bit: number) => boolean): boolean {
  const bits = filter.length * 8
  // Double hashing (Kirsch and Mitzenmacher): two hashes serve for all probes.
  const step = finishHash(hash ^ 0x9e3779b1)
  for (let probe = 0, at = hash; probe < PROBES; probe++, at = (at + step) >>> 0) if (!visit(at % bits)) return false
  return true
}
