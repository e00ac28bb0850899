import type { ArticleQuery, Position } from '../../query/article-query.ts'
import type { Columns } from '../../segment/columns.ts'
import { type DocSet, docsOf, walk } from '../../segment/doc-id-set.ts'
import type { Segment } from '../../store/segment-store.ts'
import { firstAtLeast } from '../filter.ts'
import type { Hit } from '../hit.ts'
import { smallest } from '../select.ts'

/**
 * The matches of a segment that can stand on the page: the first `wanted` in order after the page before, with
 * all that equal the last of them where closeness decides among equals (`ranked`), and all that equal the last article
 * of the page before, of which some were shown.
 */
export function collect(
  matches: DocSet,
  segment: Segment,
  columns: Columns,
  query: Pick<ArticleQuery, 'sort' | 'order'>,
  position: Position | null,
  wanted: number,
  ranked: boolean,
): Hit[] {
  const hit = (doc: number): Hit => {
    const value = (query.sort === 'published_at' ? columns.published : columns.ingested)[doc]!
    return {
      seq: segment.first + BigInt(columns.offsets[doc]!),
      id: null,
      value: Number.isNaN(value) ? null : value,
      rank: ranked ? null : 0,
      place: { kind: 'segment', segment, doc },
    }
  }
  const docs =
    query.sort === 'published_at'
      ? byPublished(matches, columns, query.order, position, wanted, ranked)
      : byIngested(matches, columns, query.order, position, wanted)
  return docs.map(hit)
}

/** Documents stand in this order already; those without a date come last in either direction. */
function byPublished(
  matches: DocSet,
  columns: Columns,
  order: 'asc' | 'desc',
  position: Position | null,
  wanted: number,
  ranked: boolean,
): number[] {
  const { dated, size, published } = columns
  const backwards = order === 'desc'
  const docs: number[] = []
  // The group of the page before's last article does not count towards those wanted.
  let counted = 0
  let last = Number.NaN
  const take = (isTie: boolean) => (doc: number) => {
    const value = doc < dated ? published[doc]! : Infinity
    if (!isTie && counted >= wanted && !(ranked && value === last)) return false
    docs.push(doc)
    if (!isTie) counted++
    last = value
    return true
  }
  const within = (from: number, to: number, isTie: boolean) => walkRange(matches, from, to, backwards, take(isTie))

  const after = position === null ? undefined : position.last.value
  if (after === null) {
    within(dated, size, true)
    return docs
  }
  if (after === undefined) within(0, dated, false)
  else {
    const [tieFrom, tieTo] = [firstAtLeast(columns, after), firstAtLeast(columns, after + 1)]
    within(tieFrom, tieTo, true)
    if (backwards) within(0, tieFrom, false)
    else within(tieTo, dated, false)
  }
  if (counted < wanted) within(dated, size, false)
  return docs
}

function walkRange(set: DocSet, from: number, to: number, backwards: boolean, visit: (doc: number) => boolean): void {
  if (from >= to) return
  walk(set, backwards, doc => {
    if (doc < from) return !backwards
    if (doc >= to) return backwards
    return visit(doc)
  })
}

/** Another order than the documents': the value of the last one wanted is found first, then all up to it are taken. */
function byIngested(
  matches: DocSet,
  { ingested }: Columns,
  order: 'asc' | 'desc',
  position: Position | null,
  wanted: number,
): number[] {
  const sign = order === 'asc' ? 1 : -1
  const after = position === null ? null : position.last.value
  const bound = after === null ? -Infinity : sign * after
  const found = docsOf(matches)
  const docs = new Uint16Array(found.length)
  const places = new Float64Array(found.length)
  const beyond = new Float64Array(found.length)
  // Loops instead of callbacks: a list of everything has all documents of a segment here.
  let [count, further] = [0, 0]
  for (let at = 0; at < found.length; at++) {
    const doc = found[at]!
    const place = sign * ingested[doc]!
    if (place < bound) continue
    docs[count] = doc
    places[count++] = place
    if (place > bound) beyond[further++] = place
  }
  const limit = further <= wanted ? Infinity : smallest(beyond.subarray(0, further), wanted)
  const kept: number[] = []
  for (let at = 0; at < count; at++) if (places[at]! <= limit) kept.push(docs[at]!)
  return kept
}
