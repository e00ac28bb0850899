import type { EventLoopPace } from '../pace.ts'
import { type Reader, readVarint } from '../segment/bytes.ts'
import type { TermDictionary } from '../store/segment-store.ts'
import { parseWordTerm } from '../terms.ts'

/**
 * A posting list takes more bytes the more documents it has. Below this, a term is not frequent.
 */
const LEAST_BYTES = 128

/** The words and stems of a segment that most documents have, the most frequent first. */
export async function frequentTerms(
  { blocks, starts }: TermDictionary,
  most: number,
  pace: EventLoopPace,
): Promise<string[]> {
  const found: { term: string; bytes: number }[] = []
  const reader: Reader = { at: 0, bytes: blocks }
  for (let bucket = 0; bucket + 1 < starts.length; bucket++) {
    for (const end = starts[bucket + 1]!; reader.at < end; ) {
      const length = readVarint(reader)
      const from = reader.at
      reader.at += length
      const bytes = readVarint(reader)
      reader.at += bytes
      if (bytes < LEAST_BYTES) continue
      const term = blocks.toString('utf8', from, from + length)
      if (parseWordTerm(term) !== null) found.push({ term, bytes })
    }
    if (pace.isDue()) await pace.rest()
  }
  return found
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, most)
    .map(one => one.term)
}
