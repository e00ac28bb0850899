import { setImmediate } from 'node:timers/promises'
import type { Restriction } from '../execute/filter.ts'
import type { Hit } from '../execute/hit.ts'
import { smallest } from '../execute/select.ts'
import type { ArticleQuery, Position } from '../query/article-query.ts'
import type { Expression } from '../query/node.ts'
import { docsOf, rangeSet } from '../segment/doc-id-set.ts'
import { evaluate } from './evaluate.ts'
import type { Chunk } from './memory-segment.ts'

/** ms after which the event loop is given back. */
const SLICE = 5

/** What is asked of the fresh articles. */
export interface FreshQuestion {
  /** Of words and filters; null: everything. */
  expression: Expression | null
  restriction: Restriction
  /** Articles up to here are in segments. */
  covered: bigint
}

/**
 * The first matches in order among the fresh articles, and how many there are: `wanted` of them after the page before, with all
 * that equal the last, and all that equal the last article of the page before. Hits stand in no order.
 */
export async function searchFresh(
  chunks: readonly Chunk[],
  { sort, order }: Pick<ArticleQuery, 'sort' | 'order'>,
  position: Position | null,
  { expression, restriction, covered }: FreshQuestion,
  wanted: number,
): Promise<{ hits: Hit[]; count: number }> {
  const ascending = order === 'asc'
  // Ascending places are the order of the set; what has no value comes last in either direction.
  const placeOf = (value: number) => (Number.isNaN(value) ? Infinity : ascending ? value : -value)
  const after = position === null ? -Infinity : placeOf(position.last.value ?? Number.NaN)
  const parts: Part[] = []
  let [count, beyond] = [0, 0]
  let start = performance.now()
  for (const chunk of chunks) {
    // Others may go on between two chunks; one that grows meanwhile is read up to the watermark.
    if (performance.now() - start > SLICE) {
      await setImmediate()
      start = performance.now()
    }
    const [from, to] = [placeAfter(chunk, covered), placeAfter(chunk, restriction.watermark)]
    if (from >= to) continue
    const { length } = chunk.documents
    const found = docsOf(expression === null ? rangeSet(from, to, length) : evaluate(expression, chunk))
    const allows = testOf(chunk, restriction)
    const values = sort === 'published_at' ? chunk.times.published : chunk.times.ingested
    const part: Part = { chunk, docs: new Uint16Array(found.length), places: new Float64Array(found.length), size: 0 }
    for (let at = 0; at < found.length; at++) {
      const doc = found[at]!
      if (doc < from || doc >= to || !allows(doc)) continue
      count++
      const place = placeOf(values[doc]!)
      if (place < after) continue
      if (place > after) beyond++
      part.docs[part.size] = doc
      part.places[part.size++] = place
    }
    parts.push(part)
  }
  const limit = beyond <= wanted ? Infinity : nthPlace(parts, after, beyond, wanted)
  const hits: Hit[] = []
  for (const { chunk, docs, places, size } of parts) {
    for (let at = 0; at < size; at++) {
      if (places[at]! > limit) continue
      const doc = docs[at]!
      const { seq, id } = chunk.documents[doc]!
      const value = places[at] === Infinity ? null : ascending ? places[at]! : -places[at]!
      hits.push({ seq, id, value, rank: null, place: { kind: 'fresh', chunk, doc } })
    }
  }
  return { hits, count }
}

/** The matches of a chunk that do not come before the page. */
interface Part {
  chunk: Chunk
  docs: Uint16Array
  places: Float64Array
  size: number
}

/** The place of the n-th match beyond the page before. */
function nthPlace(parts: Part[], after: number, beyond: number, n: number): number {
  const places = new Float64Array(beyond)
  let next = 0
  for (const part of parts) {
    for (let at = 0; at < part.size; at++) if (part.places[at]! > after) places[next++] = part.places[at]!
  }
  return smallest(places, n)
}

/** How many documents of a chunk are numbered up to `seq`: they stand in this order. */
function placeAfter({ documents }: Chunk, seq: bigint): number {
  let low = 0
  let high = documents.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (documents[middle]!.seq <= seq) low = middle + 1
    else high = middle
  }
  return low
}

/** The same that `execute/restriction.ts` asks, of a document by itself. Comparisons with NaN, the missing date, are false. */
function testOf(chunk: Chunk, { bounds, publisherNos, authorNos }: Restriction): (doc: number) => boolean {
  const { published, ingested } = chunk.times
  const { undatedSince, ingested: span } = bounds
  const { from, to } = bounds.published
  return doc => {
    const at = published[doc]!
    if (Number.isNaN(at)) {
      if (undatedSince === null || !(ingested[doc]! >= undatedSince)) return false
    } else if (at < from || at >= to) return false
    if (span !== null && !(ingested[doc]! >= span.from && ingested[doc]! < span.to)) return false
    if (publisherNos === null && authorNos === null) return true
    const document = chunk.documents[doc]!
    if (publisherNos !== null && !publisherNos.has(document.publisherNo)) return false
    return authorNos === null || document.authorNos.some(no => authorNos.has(no))
  }
}
