import { placeOf } from '../analysis/hashes.ts'
import type { SegmentCache } from '../cache/segment-cache.ts'
import { scoreInMemory } from '../memory/memory-segment.ts'
import type { ArticleQuery, Position } from '../query/article-query.ts'
import type { ScoringTerm } from '../query/match.ts'
import { eachBit } from '../segment/arrays.ts'
import { type DocIdSet, docsOf, has, walk } from '../segment/doc-id-set.ts'
import type { SegmentMeta } from '../store/segment-store.ts'
import { TERMS } from '../terms.ts'
import type { Collector, PageOrder, SegmentReader } from './collector.ts'
import type { IndexParts } from './index-parts.ts'
import { readTerms } from './match-stored.ts'
import type { Hit } from './plan.ts'

/*
 * A page needs few hits of many matches. Each segment compares the sort values in its columns, and
 * selects the hits that can stand on the page. Ids and scores are read only where sort values are
 * equal.
 */

/**
 * The first `wanted` hits after the page before. Hits stand in order of the sort value, and hits
 * without a sort value come last. Among equal values the higher score comes first, then the id
 * decides (decision 17). Scores and ids are read only for hits whose value equals that of another
 * hit, or of the last article of the page before.
 */
export async function firstInOrder(
  hits: Hit[],
  wanted: number,
  { order }: Pick<ArticleQuery, 'order'>,
  position: Position | null,
  ties: TieBreakers,
): Promise<Hit[]> {
  const ascending = order === 'asc'
  const last = position?.last
  const groups = firstGroups(groupsInOrder(hits, ascending), wanted, last?.value)
  const tied = groups.filter(group => group.length > 1 || group[0]!.value === last?.value).flat()
  await Promise.all([ties.readIds(tied), ties.readScores(tied)])

  const compare = (a: Pick<Hit, 'score' | 'id'>, b: Pick<Hit, 'score' | 'id'>) => {
    if (a.score !== b.score) return b.score! - a.score!
    if (a.id === b.id) return 0
    return a.id! < b.id! === ascending ? -1 : 1
  }
  const ordered = groups.flatMap(group => {
    const isTied = last !== undefined && group[0]!.value === last.value
    const ahead = isTied ? group.filter(hit => compare(hit, last) > 0) : group
    return ahead.length > 1 ? ahead.toSorted(compare) : ahead
  })
  return ordered.slice(0, wanted)
}

/** Groups of hits with equal sort values, in order. */
function groupsInOrder(hits: Hit[], ascending: boolean): Hit[][] {
  const sign = ascending ? 1 : -1
  const sorted = hits.toSorted((a, b) => {
    if (a.value === b.value) return 0
    if (a.value === null) return 1
    if (b.value === null) return -1
    return sign * (a.value - b.value)
  })
  const groups: Hit[][] = []
  for (const hit of sorted) {
    const group = groups.at(-1)
    if (group !== undefined && group[0]!.value === hit.value) group.push(hit)
    else groups.push([hit])
  }
  return groups
}

/**
 * The first groups that hold `wanted` hits. The group of the last article of the page before does
 * not count, because that page showed some of its hits.
 */
function firstGroups(groups: Hit[][], wanted: number, after: number | null | undefined): Hit[][] {
  let count = 0
  const end = groups.findIndex(group => {
    if (count >= wanted) return true
    if (group[0]!.value !== after) count += group.length
    return false
  })
  return end < 0 ? groups : groups.slice(0, end)
}

export interface TieBreakers {
  readIds(hits: Hit[]): Promise<void>
  readScores(hits: Hit[]): Promise<void>
}

/** Reads the ids and scores that order hits with equal sort values. */
export function tieBreakers(
  { source, stored, cache }: Pick<IndexParts, 'source' | 'stored' | 'cache'>,
  scoring: ScoringTerm[],
  version: bigint,
): TieBreakers {
  return {
    async readIds(hits) {
      for (const hit of hits) hit.id ??= stored.knownId(hit.seq)
      const unknown = hits.filter(hit => hit.id === null)
      if (unknown.length === 0) return
      const ids = await source.readIds(unknown.map(hit => hit.seq))
      for (const hit of unknown) hit.id = ids.get(hit.seq)!
    },
    async readScores(hits) {
      const unknown = hits.filter(hit => hit.score === null)
      const inMemory = unknown.flatMap(hit => (hit.address?.kind === 'memory' ? [hit.address] : []))
      const inStore = unknown.flatMap(hit => (hit.address?.kind === 'stored' ? [hit.address] : []))
      const scores = {
        memory: scoreInMemory(inMemory, scoring),
        stored: inStore.length === 0 ? [] : await scoreStored(cache, inStore, scoring, version),
      }
      const next = { memory: 0, stored: 0 }
      for (const hit of unknown) {
        if (hit.address === null) continue
        const { kind } = hit.address
        hit.score = scores[kind][next[kind]++]!
      }
    },
  }
}

/** The scores of some documents of stored segments, in their order. */
async function scoreStored(
  cache: SegmentCache,
  hits: { segment: SegmentMeta; doc: number }[],
  scoring: ScoringTerm[],
  version: bigint,
): Promise<number[]> {
  const terms = [...new Set(scoring.flatMap(one => [one.term, TERMS.language(one.language)]))]
  const segments = [...new Set(hits.map(hit => hit.segment))]
  const lists = await readTerms(cache, segments, terms, version)
  const scorers = new Map(
    segments.map((segment, at) => {
      const own = lists[at]!
      return [
        segment,
        scoring.map(({ language, term, weight }) => ({
          inLanguage: own.get(TERMS.language(language))!,
          withTerm: own.get(term)!,
          weight,
        })),
      ]
    }),
  )
  return hits.map(({ segment, doc }) => {
    let score = 0
    for (const { inLanguage, withTerm, weight } of scorers.get(segment)!) {
      if (has(inLanguage, doc) && has(withTerm, doc)) score += weight
    }
    return score
  })
}

/** Keeps the first hits in the order of a page. */
export interface TopCollector extends Collector {
  /** The hits, in no order. There may be more than `wanted`. */
  hits(): Hit[]
}

/**
 * Collects the matches that can stand on a page: the first `wanted` after the page before. Where
 * scores decide, it also keeps all matches with the same sort value as the last of the `wanted`
 * matches. It also keeps matches with the sort value of the last article of the page before,
 * because that page showed only some of them.
 */
export function createTopCollector(page: PageOrder): TopCollector {
  const { order, position, wanted } = page
  const hits: Hit[] = []
  // A check looks at all hits. It is repeated only when there are twice as many hits. Otherwise its
  // cost would grow with the square of the number of segments that overlap in time.
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
    question: { kind: 'first', page, take: found => void hits.push(...found) },
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
      ? docsInOrder(matches, values, dated, page)
      : docsByValue(matches, values, page, dated !== null)
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

/**
 * The documents that can stand on the page, from a segment in order of publication. Documents
 * without a date come last in both orders.
 */
function docsInOrder(
  matches: DocIdSet,
  values: Float64Array,
  dated: number,
  page: PageOrder,
): number[] {
  const { order, position, wanted, scored } = page
  const { size } = matches
  const backwards = order === 'desc'
  const docs: number[] = []
  // Matches with the value of the last article of the page before do not count towards `wanted`.
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
  const within = (from: number, to: number, isTie: boolean) =>
    walkRange(matches, from, to, backwards, take(isTie))

  const after = position === null ? undefined : position.last.value
  if (after === null) {
    within(dated, size, true)
    return docs
  }
  if (after === undefined) within(0, dated, false)
  else {
    const tieFrom = placeOf(values, after, dated)
    const tieTo = placeOf(values, after + 1, dated)
    within(tieFrom, tieTo, true)
    if (backwards) within(0, tieFrom, false)
    else within(tieTo, dated, false)
  }
  if (counted < wanted) within(dated, size, false)
  return docs
}

function walkRange(
  set: DocIdSet,
  from: number,
  to: number,
  backwards: boolean,
  visit: (doc: number) => boolean,
): void {
  if (from >= to) return
  walk(set, backwards, doc => {
    if (doc < from) return !backwards
    if (doc >= to) return backwards
    return visit(doc)
  })
}

/** Working memory of `docsByValue` for keys. Each call overwrites it. */
const work = new Float64Array(65_536)

/**
 * The documents that can stand on the page, from a segment in another order. The loop takes the
 * blocks of a stored segment by their first keys. It stops when no later block can hold a document
 * of the page.
 */
function docsByValue(
  matches: DocIdSet,
  values: Float64Array,
  page: PageOrder,
  isStored: boolean,
): number[] {
  const { order, position, wanted } = page
  const sign = order === 'asc' ? 1 : -1
  const after = position === null ? -Infinity : keyOf(position.last.value ?? Number.NaN, sign)
  const kept: number[] = []
  let beyond = 0
  /** The highest key that can still stand on the page, as far as is known. */
  let limit = Infinity
  const take = (docs: Uint16Array) => {
    for (let at = 0; at < docs.length; at++) {
      const key = keyOf(values[docs[at]!]!, sign)
      if (key < after || key > limit) continue
      kept.push(docs[at]!)
      if (key > after) work[beyond++] = key
    }
    if (beyond <= wanted) return
    limit = smallest(work.subarray(0, beyond), wanted)
    beyond = wanted
  }
  if (isStored && matches.kind === 'bitmap') {
    const { first, last, blocks } = zonesOf(values, sign)
    for (const block of blocks) {
      if (first[block]! > limit) break
      if (last[block]! >= after) take(docsOfBlock(matches.bits, block))
    }
  } else {
    const docs = docsOf(matches)
    for (let to = docs.length; to > 0; to -= BLOCK) take(docs.subarray(Math.max(0, to - BLOCK), to))
  }
  return kept.filter(doc => keyOf(values[doc]!, sign) <= limit)
}

/** Ascending keys are the order of the page. A missing value (NaN) comes last in both orders. */
const keyOf = (value: number, sign: number) => (Number.isNaN(value) ? Infinity : sign * value)

/** How many documents a block has. A block has eight words of a bitmap. */
const BLOCK = 256

/** The documents of a block. The result is valid until the next call. */
function docsOfBlock(bits: Uint32Array, block: number): Uint16Array {
  const words = bits.subarray((block * BLOCK) >>> 5, ((block + 1) * BLOCK) >>> 5)
  let end = 0
  eachBit(words, bit => {
    blockDocs[end++] = block * BLOCK + bit
  })
  return blockDocs.subarray(0, end)
}

const blockDocs = new Uint16Array(BLOCK)

/** The range of keys of each block of a segment (Lucene: DocValuesSkipper). */
interface Zones {
  /** By block: its lowest and its highest key. */
  first: Float64Array
  last: Float64Array
  /** The numbers of the blocks, in order of their first keys. */
  blocks: number[]
}

/** The zones of a column, by direction. A column never changes, so its zones stay valid. */
const knownZones = new WeakMap<Float64Array, Map<number, Zones>>()

function zonesOf(values: Float64Array, sign: number): Zones {
  const known = knownZones.get(values) ?? new Map<number, Zones>()
  knownZones.set(values, known)
  let zones = known.get(sign)
  if (zones === undefined) {
    const count = Math.ceil(values.length / BLOCK)
    const first = new Float64Array(count).fill(Infinity)
    const last = new Float64Array(count).fill(-Infinity)
    for (let doc = 0; doc < values.length; doc++) {
      const block = Math.floor(doc / BLOCK)
      const key = keyOf(values[doc]!, sign)
      if (key < first[block]!) first[block] = key
      if (key > last[block]!) last[block] = key
    }
    const blocks = Array.from(first.keys()).sort((a, b) =>
      first[a] === first[b] ? 0 : first[a]! - first[b]!,
    )
    zones = { first, last, blocks }
    known.set(sign, zones)
  }
  return zones
}

/** The n-th lowest of some numbers (Hoare's quickselect). Reorders the array. */
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
