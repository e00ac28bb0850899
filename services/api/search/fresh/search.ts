import { docsOf, rangeSet } from '../../../../shared/segments/doc-set.ts'
import type { Expression } from '../expression.ts'
import type { Hit } from '../hits.ts'
import type { ArticleQuery, Position } from '../query.ts'
import type { Restriction } from '../segments/restriction.ts'
import { smallest } from '../selection.ts'
import type { Chunk, FreshDocument } from './chunk.ts'
import { evaluate } from './evaluate.ts'

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
export function searchFresh(
  chunks: readonly Chunk[],
  { sort, order }: Pick<ArticleQuery, 'sort' | 'order'>,
  position: Position | null,
  { expression, restriction, covered }: FreshQuestion,
  wanted: number,
): { hits: Hit[]; count: number } {
  const sortValue = (document: FreshDocument) => (sort === 'published_at' ? document.published : document.ingested)
  // Ascending places are the order of the set; what has no value comes last in either direction.
  const placeOf = (value: number | null) => (value === null ? Infinity : order === 'asc' ? value : -value)
  const after = position === null ? -Infinity : placeOf(position.last.value)
  const ahead: { document: FreshDocument; place: number; chunk: Chunk; doc: number }[] = []
  let count = 0
  for (const chunk of chunks) {
    const { documents } = chunk
    if (documents.at(-1)!.seq <= covered) continue
    const found = expression === null ? rangeSet(0, documents.length, documents.length) : evaluate(expression, chunk)
    for (const doc of docsOf(found)) {
      const document = documents[doc]!
      if (document.seq <= covered || !isAllowed(document, restriction)) continue
      count++
      const place = placeOf(sortValue(document))
      if (place >= after) ahead.push({ document, place, chunk, doc })
    }
  }
  const beyond = Float64Array.from(
    ahead.filter(one => position === null || one.place > after),
    one => one.place,
  )
  const limit = beyond.length <= wanted ? Infinity : smallest(beyond, wanted)
  const hits = ahead
    .filter(one => one.place <= limit)
    .map(({ document, chunk, doc }): Hit => {
      const { seq, id } = document
      return { seq, id, value: sortValue(document), rank: null, place: { kind: 'fresh', chunk, doc } }
    })
  return { hits, count }
}

/** The same that `segments/restriction.ts` asks, of a document by itself. */
function isAllowed(document: FreshDocument, { bounds, watermark, publisherNos, authorNos }: Restriction): boolean {
  const { seq, published, ingested } = document
  if (seq > watermark) return false
  const { undatedSince } = bounds
  if (published === null) {
    if (undatedSince === null || ingested === null || ingested < undatedSince) return false
  } else if (published < bounds.published.from || published >= bounds.published.to) return false
  if (bounds.ingested !== null) {
    if (ingested === null || ingested < bounds.ingested.from || ingested >= bounds.ingested.to) return false
  }
  if (publisherNos !== null && !publisherNos.has(document.publisherNo)) return false
  return authorNos === null || document.authorNos.some(no => authorNos.has(no))
}
