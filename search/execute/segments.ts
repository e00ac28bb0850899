import type { Queryable } from '../../shared/postgres/pool.ts'
import { type Shelf, shelfOf, type WantedList } from '../cache/segment-cache.ts'
import type { ArticleQuery, Position } from '../query/article-query.ts'
import type { Recheck } from '../query/match.ts'
import type { Expression } from '../query/node.ts'
import { type DocSet, rangeSet } from '../segment/doc-id-set.ts'
import { articlesOf, type Catalogue, type Segment } from '../store/segment-store.ts'
import { collect } from './collectors/top.ts'
import { evaluation, type Reading } from './evaluate.ts'
import { mayHold, type Restriction, restrict } from './filter.ts'
import type { Hit } from './hit.ts'
import { type Read, settle } from './verify.ts'

/** What is asked of every segment. */
export interface SegmentQuestion {
  /** Of words and filters; null: everything. */
  expression: Expression | null
  restriction: Restriction
  recheck: Recheck | null
  /** Whether closeness decides among equals. */
  ranked: boolean
}

/**
 * The first matches in order among the articles that are in segments, and how many there are. Goes through the segments
 * from the end of time where the page begins, and stops when no other can have a place on the page and the count is at
 * its cap. Hits stand in no order, and may be more than wanted.
 *
 * @param cap counted to here; 0: no count is needed
 * @param first articles of the segments that are looked at first: were they counted in segments, the small ones of the latest
 *   articles would cost as many rounds as large ones
 */
export async function searchSegments(
  db: Queryable,
  catalogue: Catalogue,
  query: ArticleQuery,
  position: Position | null,
  question: SegmentQuestion,
  { wanted, cap, first }: { wanted: number; cap: number; first: number },
): Promise<{ hits: Hit[]; count: number }> {
  const { restriction, ranked } = question
  const ahead = inOrder(catalogue, query, position, restriction)
  const shelf = shelfOf(db)
  const hits: Hit[] = []
  let count = 0
  let seenArticles = 0
  for (let seen = 0, articles = first; seen < ahead.length; ) {
    const part = withArticles(ahead, seen, articles)
    const segments = part.map(one => one.segment)
    const reads = await readSegments(db, shelf, segments, question, catalogue.version)
    const matches = await settle(db, shelf, reads, question.recheck)
    let full = false
    // Looked at again only when there are twice as many, or segments that overlap in time would cost their square.
    let enough = wanted
    reads.forEach(({ segment, columns }, index) => {
      const own = matches[index]!
      if (own.count === 0) return
      count += own.count
      if (!full && hits.length >= enough) {
        full = isFull(hits, wanted, part[index]!.first, query, position)
        enough = hits.length * 2
      }
      if (!full) hits.push(...collect(own, segment, columns, query, position, wanted, ranked))
    })
    seen += part.length
    for (const segment of segments) seenArticles += articlesOf(segment)
    const next = ahead[seen]
    if (next !== undefined && count >= cap && isFull(hits, wanted, next.first, query, position)) break
    // As many as are likely to be needed, but never so many that a wrong guess costs much.
    const needed = count > 0 && cap > count ? ((cap - count) * seenArticles) / count : seenArticles
    articles = Math.min(needed, seenArticles * 4)
  }
  return { hits, count }
}

/** The next segments that hold so many articles together, or some more; at least one. */
function withArticles(ahead: Ahead[], from: number, articles: number): Ahead[] {
  let to = from
  for (let sum = 0; to < ahead.length && sum < articles; to++) sum += articlesOf(ahead[to]!.segment)
  return ahead.slice(from, to)
}

/** A segment that is still ahead, and the sort value that its matches begin with: ±Infinity if only undated ones are left. */
interface Ahead {
  segment: Segment
  first: number
}

/** The segments that can hold matches for this page and those after it, in the order in which their matches begin. */
function inOrder(
  catalogue: Catalogue,
  { sort, order }: ArticleQuery,
  position: Position | null,
  restriction: Restriction,
): Ahead[] {
  const ascending = order === 'asc'
  const end = ascending ? Infinity : -Infinity
  const after = position === null ? -end : (position.last.value ?? end)
  return catalogue.segments
    .filter(segment => mayHold(segment, restriction))
    .flatMap(segment => {
      const span = sort === 'published_at' ? segment.published : segment.ingested
      const follows = span !== null && (ascending ? span.last >= after : span.first <= after)
      if (follows) return [{ segment, first: ascending ? span.first : span.last }]
      const undated = sort === 'published_at' && restriction.bounds.undatedSince !== null && segment.undated > 0
      return undated ? [{ segment, first: end }] : []
    })
    .sort((a, b) => (a.first === b.first ? 0 : ascending === a.first < b.first ? -1 : 1))
}

/** Whether enough hits follow the page before and come before everything that begins with a value. */
function isFull(hits: Hit[], wanted: number, first: number, query: ArticleQuery, position: Position | null): boolean {
  let before = 0
  for (const { value } of hits) {
    if (value === null || value === position?.last.value) continue
    if (query.order === 'asc' ? value < first : value > first) before++
  }
  return before >= wanted
}

/** Reads what is needed of some segments, and what their lists say. */
async function readSegments(
  db: Queryable,
  shelf: Shelf,
  segments: Segment[],
  { expression, restriction }: SegmentQuestion,
  version: bigint,
): Promise<Read[]> {
  const [columns, readings] = await Promise.all([
    shelf.columns(db, segments, version),
    expression === null ? null : readExpression(db, shelf, segments, expression, version),
  ])
  return segments.map((segment, index) => {
    const own = columns[index]!
    const { sure, maybe } = readings?.[index] ?? everything(own.size)
    const allowed = restrict(maybe, segment, own, restriction)
    const exact = sure.count === maybe.count
    return {
      segment,
      columns: own,
      reading: { sure: exact ? allowed : restrict(sure, segment, own, restriction), maybe: allowed },
    }
  })
}

function everything(size: number): Reading {
  const all = rangeSet(0, size, size)
  return { sure: all, maybe: all }
}

/**
 * Which lists are needed shows while evaluating; those that are not in memory are read together, and it begins again. What was
 * read is held meanwhile, as memory may forget it; what is there already is not, because that would cost more than the lists.
 */
async function readExpression(
  db: Queryable,
  shelf: Shelf,
  segments: Segment[],
  expression: Expression,
  version: bigint,
): Promise<Reading[]> {
  const held = new Map<Segment, Map<string, DocSet>>()
  const evaluate = evaluation(expression)
  for (;;) {
    const wanted: WantedList[] = []
    const asked = new Set<string>()
    const readings = segments.map(segment => {
      const own = held.get(segment)
      const list = (lexeme: string) => {
        const known = own?.get(lexeme) ?? shelf.list(segment, lexeme)
        if (known !== undefined) return known
        const key = `${segment.no} ${lexeme}`
        if (!asked.has(key)) wanted.push({ segment, lexeme })
        asked.add(key)
        return null
      }
      return evaluate(list, articlesOf(segment), null)
    })
    if (wanted.length === 0) return readings
    const lists = await shelf.readLists(db, wanted, version)
    wanted.forEach(({ segment, lexeme }, place) => {
      const own = held.get(segment)
      if (own === undefined) held.set(segment, new Map([[lexeme, lists[place]!]]))
      else own.set(lexeme, lists[place]!)
    })
  }
}
