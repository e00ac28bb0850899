import { firstAtLeast } from '../../segment/columns.ts'
import { type DocIdSet, docsOf, walk } from '../../segment/doc-id-set.ts'
import type { Hit } from '../plan.ts'
import type { Collector, PageOrder, SegmentReader } from './collector.ts'

interface TopCollector extends Collector {
  /** In no order, and perhaps more than wanted. */
  hits(): Hit[]
}

/**
 * The matches that can stand on a page: the first `wanted` in order after the page before, with all
 * that equal the last of them where scores decide, and all that equal the last article of the page
 * before, of which some were shown.
 */
export function createTopCollector(page: PageOrder): TopCollector {
  const { order, position, wanted } = page
  const hits: Hit[] = []
  // Checked again only when there are twice as many hits: segments that overlap in time would cost
  // their square.
  let checkAt = wanted
  let complete = false

  const isComplete = (next: number): boolean => {
    let before = 0
    for (const { value } of hits) {
      if (value === null || value === position?.last.value) continue
      if (order === 'asc' ? value < next : value > next) before++
    }
    return before >= wanted
  }
  const isCompleteBefore = (startsAt: number): boolean => {
    if (!complete && hits.length >= checkAt) {
      complete = isComplete(startsAt)
      checkAt = hits.length * 2
    }
    return complete
  }
  return {
    hits: () => hits,
    aggregation: { kind: 'first', page, take: found => void hits.push(...found) },
    isComplete,
    collect(matches, segment) {
      if (segment.startsAt !== null && isCompleteBefore(segment.startsAt)) return
      addFirst(hits, matches, segment, page)
    },
  }
}

/** Adds the matches of a segment that can stand on the page. */
function addFirst(hits: Hit[], matches: DocIdSet, segment: SegmentReader, page: PageOrder): void {
  const { sort, scored } = page
  const { dated } = segment
  const values = sort === 'published_at' ? segment.published : segment.ingested
  const docs =
    dated !== null && sort === 'published_at'
      ? firstInOrder(matches, values, dated, page)
      : firstByValue(matches, values, page)
  for (const doc of docs) {
    const value = values[doc]!
    hits.push({
      seq: segment.seqOf(doc),
      id: segment.idOf(doc),
      value: Number.isNaN(value) ? null : value,
      score: scored ? null : 0,
      address: segment.addressOf(doc),
    })
  }
}

/** Documents stand in the order of the page, those without a value last in either direction. */
function firstInOrder(matches: DocIdSet, values: Float64Array, dated: number, page: PageOrder): number[] {
  const { order, position, wanted, scored } = page
  const { size } = matches
  const backwards = order === 'desc'
  const docs: number[] = []
  // Matches that equal the last article of the page before do not count towards those wanted.
  let counted = 0
  let last = Number.NaN
  const take = (isTie: boolean) => (doc: number) => {
    const value = doc < dated ? values[doc]! : Infinity
    if (!isTie && counted >= wanted && !(scored && value === last)) return false
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
    const [tieFrom, tieTo] = [firstAtLeast(values, dated, after), firstAtLeast(values, dated, after + 1)]
    within(tieFrom, tieTo, true)
    if (backwards) within(0, tieFrom, false)
    else within(tieTo, dated, false)
  }
  if (counted < wanted) within(dated, size, false)
  return docs
}

function walkRange(set: DocIdSet, from: number, to: number, backwards: boolean, visit: (doc: number) => boolean): void {
  if (from >= to) return
  walk(set, backwards, doc => {
    if (doc < from) return !backwards
    if (doc >= to) return backwards
    return visit(doc)
  })
}

/**
 * The sort values that a selection works on; the content does not matter between two selections.
 */
const work = new Float64Array(65_536)

/**
 * Documents stand in another order: the value of the last one wanted is found first, then all up to
 * it are taken.
 */
function firstByValue(matches: DocIdSet, values: Float64Array, { order, position, wanted }: PageOrder): number[] {
  const sign = order === 'asc' ? 1 : -1
  // Ascending keys are the order of the page; what has no value comes last in either direction.
  const keyOf = (value: number) => (Number.isNaN(value) ? Infinity : sign * value)
  const after = position === null ? -Infinity : keyOf(position.last.value ?? Number.NaN)
  const docs = docsOf(matches)
  // Loops without callbacks: a list of everything has all documents of a segment here.
  let beyond = 0
  for (let at = 0; at < docs.length; at++) {
    const key = keyOf(values[docs[at]!]!)
    if (key > after) work[beyond++] = key
  }
  const limit = beyond <= wanted ? Infinity : smallest(work.subarray(0, beyond), wanted)
  const kept: number[] = []
  for (let at = 0; at < docs.length; at++) {
    const key = keyOf(values[docs[at]!]!)
    if (key >= after && key <= limit) kept.push(docs[at]!)
  }
  return kept
}

/** The n-th smallest of some numbers (Hoare's quickselect). Reorders them. */
function smallest(values: Float64Array, n: number): number {
  let low = 0
  let high = values.length - 1
  const wanted = n - 1
  while (low < high) {
    const pivot = values[(low + high) >>> 1]!
    let i = low
    let j = high
    while (i <= j) {
      while (values[i]! < pivot) i++
      while (values[j]! > pivot) j--
      if (i > j) break
      const swapped = values[i]!
      values[i++] = values[j]!
      values[j--] = swapped
    }
    if (wanted <= j) high = j
    else if (wanted >= i) low = i
    else break
  }
  return values[wanted]!
}
