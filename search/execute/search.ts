import type { KeptArticle } from '../cache/stored-articles.ts'
import type { MemorySegment } from '../memory/memory-segment.ts'
import type { ArticleQuery, Position, SearchPage } from '../query/article-query.ts'
import type { TimeBounds } from '../query/filters.ts'
import { wildcardsOf } from '../query/holds.ts'
import { docsOf } from '../segment/doc-id-set.ts'
import { type IndexState, SegmentsChanged } from '../store/segment-store.ts'
import { TERMS } from '../terms.ts'
import { createTermCollector } from './breakdown.ts'
import type { Collector, WordCount } from './collector.ts'
import type { IndexPart, PacedParts, SearchSizes, StoredMeta } from './index-parts.ts'
import { matchMemory } from './match-memory.ts'
import { storedSegments } from './match-stored.ts'
import { createTopCollector, firstInOrder, tieBreakers } from './order.ts'
import {
  type Matched,
  type MatchOrder,
  MOST_PRICE,
  MOST_WORDS,
  planSearch,
  type SearchPlan,
  StatedElsewhere,
  TooFrequent,
  TooManyWords,
  WildcardsElsewhere,
} from './plan.ts'

/*
 * A search matches the parts of the index in turn: stored segments, the archive, in-memory
 * segments. All parts see one snapshot and hand their matches to the same collectors. If segments
 * change meanwhile, the search starts again.
 */

/** The count of matches stops at this number (decision 25). */
export const TOTAL_CAP = 10_000

const NOTHING: SearchPage<never> = { rows: [], total: 0, estimate: false, next: null }

/**
 * One page of a keyword or boolean search, or of a list, with its total. Page and total are as of
 * the watermark (decisions 22, 25).
 *
 * @param position `next` of the page before; null: the first page
 * @throws SegmentsChanged the caller reads the state anew and starts again
 */
export async function searchPage<A extends KeptArticle>(
  index: PacedParts<A>,
  query: ArticleQuery,
  position: Position | null,
  sizes: SearchSizes,
  range: SearchRange = {},
): Promise<SearchPage<A>> {
  const seen = { ...range, newest: position?.watermark ?? range.newest }
  const planned = await planOf(index, query, sizes, seen, position === null)
  if (planned === null) return NOTHING
  const { snapshot, meta, plan } = planned
  const { sort, order, perPage } = query
  // One hit more than the page holds tells whether another page follows.
  const wanted = perPage + 1
  const top = createTopCollector({ sort, order, position, wanted, scored: plan.scoring.length > 0 })
  const removals = Number(meta.removed.last)
  // The second page and later ones show the total of the first page, so they count nothing, unless
  // an article was taken out meanwhile.
  const counted = position !== null && (position.removals ?? 0) === removals ? position : null
  const count = createCountCollector(counted === null ? sizes.cap : 0)
  // Later pages have the articles of the first page, so they cost as much, and never too much.
  await pay(index, planned, sizes, position === null)
  const page = { sort, order, position }
  if (position === null || counted !== null)
    await collectMatches(index, planned, page, [top, count], count.limit, sizes)
  else {
    // The search of a later page leaves out segments before it, whose articles count, too.
    await collectMatches(index, planned, page, [top], 0, sizes)
    await collectMatches(index, planned, { ...page, position: null }, [count], count.limit, sizes)
  }
  const ties = tieBreakers(index, plan.scoring, meta.version)
  const hits = await firstInOrder(top.hits(), wanted, query, position, ties)
  const rows = await index.stored.read(
    hits.slice(0, perPage).map(hit => hit.seq),
    snapshot.wordsVersion,
  )
  // An article that was taken out after it had matched has no row. The page would be shorter, and
  // the next one would begin at a wrong place.
  if (rows.length < Math.min(hits.length, perPage)) {
    const { wordsVersion } = await index.segments.readSnapshot()
    if (wordsVersion !== snapshot.wordsVersion)
      throw new SegmentsChanged('articles were taken out during the search')
  }

  const total = counted?.total ?? Math.min(count.count(), sizes.cap)
  const estimate = counted?.estimate ?? count.count() >= sizes.cap
  const end = rows.at(-1)
  const last = hits[rows.length - 1]
  const isLastPage = hits.length <= rows.length || end === undefined || last === undefined
  return {
    rows,
    total,
    estimate,
    next: isLastPage
      ? null
      : // A score that was not read decides nothing, because no other match has the same value.
        {
          watermark: plan.filter.watermark,
          total,
          estimate,
          ...(removals > 0 && { removals }),
          last: { value: last.value, score: last.score ?? 0, id: end.id },
        },
  }
}

/** Which articles a search sees. */
interface SearchRange {
  /** Articles up to this `seq` are left out; absent: no article is left out. */
  above?: bigint | undefined
  /** Articles after this `seq` are left out; absent: the last `seq` of the state. */
  newest?: bigint | undefined
  /** The state of the index, when the caller has just read it; absent: the search reads it. */
  state?: IndexState | undefined
}

/**
 * Hands all matches of the present index to a collector.
 *
 * @param create makes the collector. It gets the bounds of the times of all matches, cut to days
 *   that have articles; null: nothing matches. It also gets the words for which wildcards stand
 * @throws SegmentsChanged the caller starts again
 */
export async function collectAll<C extends Collector>(
  index: PacedParts,
  query: Matched,
  create: (bounds: TimeBounds | null, words: readonly string[]) => C,
  sizes: SearchSizes,
  range: SearchRange = {},
): Promise<C> {
  const planned = await planOf(index, query, sizes, range)
  const collector = create(planned?.plan.filter.bounds ?? null, planned?.plan.words ?? [])
  if (planned === null) return collector
  const order = { sort: query.sort, order: 'desc', position: null } as const
  await pay(index, planned, sizes, true)
  await collectMatches(index, planned, order, [collector], Infinity, sizes)
  return collector
}

/**
 * Counts the matches that have each of the words for which the wildcards of a query stand; the most
 * frequent word first.
 *
 * @throws SegmentsChanged, TooFrequent
 */
export async function countWords(
  index: PacedParts,
  query: Matched,
  sizes: SearchSizes,
  state?: IndexState,
): Promise<WordCount[]> {
  let words: string[] = []
  const create = (_: TimeBounds | null, found: readonly string[]) => {
    words = [...new Set(found)]
    return createTermCollector(words.map(query.searchIn === 'title' ? TERMS.titleWord : TERMS.word))
  }
  const { counts } = await collectAll(index, query, create, sizes, { state })
  return words
    .map((word, at) => ({ word, count: counts[at]! }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1))
}

/**
 * The price of `collectAll`, which is counted and not paid.
 *
 * @throws SegmentsChanged the caller starts again
 * @throws TooFrequent when the price is too high
 */
export async function priceOfAll(
  index: PacedParts,
  query: Matched,
  sizes: SearchSizes,
  range: SearchRange,
): Promise<number> {
  const planned = await planOf(index, query, sizes, range)
  return planned === null ? 0 : priceOf(index, planned, sizes, true)
}

/** Counts the price of a search before its work begins, and lets its caller pay. */
async function pay(
  index: PacedParts,
  planned: Planned,
  sizes: SearchSizes,
  isBounded: boolean,
): Promise<void> {
  const price = await priceOf(index, planned, sizes, isBounded)
  if (price > 0) await index.pace.pay?.(price)
}

/**
 * @param isBounded whether a search is refused when its price is too high, or when the archive
 *   cannot answer it
 * @throws TooFrequent
 */
async function priceOf(
  index: PacedParts,
  { plan, ...planned }: Planned,
  sizes: SearchSizes,
  isBounded: boolean,
): Promise<number> {
  const order = { sort: 'published_at', order: 'desc', position: null } as const
  if (isBounded) heldPart(index, { ...planned, plan }, { ...order, limit: 0, first: sizes.first })
  let price = plan.words?.length ?? 0
  for (const { node, operands } of plan.nears) {
    const most = Math.floor((MOST_PRICE - price) / operands) + 1
    const articles = createCountCollector(most)
    const counted = { ...plan, node, verification: null, nears: [], scoring: [] }
    await collectMatches(index, { ...planned, plan: counted }, order, [articles], most, sizes)
    price += Math.min(articles.count(), most) * operands
    if (price <= MOST_PRICE) continue
    if (isBounded) throw new TooFrequent()
    break
  }
  return Math.min(price, MOST_PRICE)
}

/**
 * Plans a search; null: nothing matches.
 *
 * @param isBounded whether a search is refused when its wildcards stand for too many words
 */
async function planOf(
  index: PacedParts,
  query: Matched,
  sizes: SearchSizes,
  { above, newest, state }: SearchRange,
  isBounded = true,
): Promise<Planned | null> {
  const snapshot = state ?? (await index.segments.readSnapshot())
  const meta = await index.metaOf(snapshot.version)
  const watermark = newest ?? snapshot.lastSeq
  const { outlets } = query
  const publishers = outlets === null ? [] : await index.source.readPublishers(outlets, snapshot)
  const wildcards = await wordsOf(index, query, { snapshot, meta, watermark }, sizes, isBounded)
  const days = await index.daysUpTo(snapshot.lastSeq)
  const plan = planSearch(query, days, publishers, watermark, above, wildcards)
  return plan && { snapshot, meta, plan }
}

/** The words for which the wildcards of a query stand. */
async function wordsOf(
  index: PacedParts,
  { match }: Matched,
  { snapshot, meta, watermark }: { snapshot: IndexState; meta: StoredMeta; watermark: bigint },
  sizes: SearchSizes,
  isBounded: boolean,
): Promise<ReadonlyMap<string, string[]> | undefined> {
  const wildcards = match.kind === 'expression' ? wildcardsOf(match.tree) : []
  if (wildcards.length === 0) return undefined
  const memory = await readMemory(index, { snapshot, meta }, watermark, sizes)
  const found = await index.lexicons.wordsOf(wildcards, { meta, memory, watermark }, index.pace)
  const count = [...found.values()].flat().length
  if (isBounded && count > MOST_WORDS) throw new TooManyWords(count)
  return found
}

/** The in-memory segments with the articles after the stored ones, up to the watermark. */
async function readMemory(
  index: PacedParts,
  { snapshot, meta: { covered } }: Pick<Planned, 'snapshot' | 'meta'>,
  watermark: bigint,
  sizes: SearchSizes,
): Promise<readonly MemorySegment[]> {
  // A cursor may have a higher `seq` than the database, which may have gone back to an earlier
  // moment. New articles will get these numbers, so memory must not count the numbers as read.
  const last = watermark < snapshot.lastSeq ? watermark : snapshot.lastSeq
  if (last <= covered) return []
  const range = { covered, last, wordsVersion: snapshot.wordsVersion }
  // Several searches share this reading, so its statements may be noted for another search. So this
  // search notes the wait under another name.
  return index.waitFor('new articles', index.memory.upTo(range, sizes.memory))
}

interface Planned {
  snapshot: IndexState
  meta: StoredMeta
  plan: SearchPlan
}

/**
 * Matches stored parts and in-memory segments. Reads new articles into memory while it matches the
 * stored parts.
 */
async function collectMatches(
  index: PacedParts,
  { snapshot, meta, plan }: Planned,
  order: { sort: ArticleQuery['sort']; order: ArticleQuery['order']; position: Position | null },
  collectors: readonly Collector[],
  limit: number,
  sizes: SearchSizes,
): Promise<void> {
  index.cache.prefetch.follow(meta, sizes.prefetch)
  const { covered } = meta
  const matchOrder = { ...order, limit, first: sizes.first }
  const held = heldPart(index, { meta, plan }, matchOrder)
  const above = later(plan.filter.above, meta.elsewhere.covered)
  const parts = [
    storedSegments({ ...index, meta }, { ...plan, filter: { ...plan.filter, above } }, matchOrder),
    held,
  ]
  const [inMemory] = await Promise.all([
    readMemory(index, { snapshot, meta }, plan.filter.watermark, sizes),
    matchParts(parts, matchOrder, collectors),
  ])
  await matchMemory(index, inMemory, later(plan.filter.above, covered), plan, collectors)
}

/**
 * The part of a search that the archive matches.
 *
 * @throws WildcardsElsewhere, StatedElsewhere when it may have matches that it cannot find
 */
function heldPart(
  index: PacedParts,
  { meta, plan }: Pick<Planned, 'meta' | 'plan'>,
  matchOrder: MatchOrder,
): IndexPart {
  const held = meta.elsewhere.part(plan, matchOrder, async seqs =>
    plan.verification === null
      ? seqs
      : index.source.verify(seqs, plan.verification, meta.version, index.pace),
  )
  if (held.startsAt === null || plan.filter.above >= meta.elsewhere.covered) return held
  if (plan.words !== null) throw new WildcardsElsewhere()
  if (plan.isStated) throw new StatedElsewhere()
  return held
}

const later = (a: bigint, b: bigint) => (a > b ? a : b)

/**
 * Matches parts one after the other, in the order of the search. Stops when every collector is
 * complete.
 */
async function matchParts(
  parts: IndexPart[],
  { order }: Pick<MatchOrder, 'order'>,
  collectors: readonly Collector[],
): Promise<void> {
  const sign = order === 'asc' ? 1 : -1
  const ahead = parts
    .flatMap(({ startsAt, match }) => (startsAt === null ? [] : [{ startsAt, match }]))
    .sort((a, b) => (a.startsAt === b.startsAt ? 0 : sign * (a.startsAt - b.startsAt)))
  for (const [at, { startsAt, match }] of ahead.entries()) {
    if (at > 0 && collectors.every(collector => collector.isComplete(startsAt))) return
    await match(collectors)
  }
}

/** Counts matches up to a limit. */
export interface CountCollector extends Collector {
  limit: number
  /** Number of matches so far. */
  count(): number
}

/**
 * Counts matches; the search may stop when the limit is reached.
 * @param limit 0: no count is needed
 */
export function createCountCollector(limit: number): CountCollector {
  let count = 0
  return {
    limit,
    count: () => count,
    collect(matches) {
      count += matches.count
    },
    question: {
      kind: 'count',
      limit,
      take(found) {
        count += found
      },
    },
    isComplete: () => count >= limit,
  }
}

/** Collects the numbers of all matches. */
export interface NumberCollector extends Collector {
  /** In ascending order. */
  seqs(): bigint[]
}

/**
 * Collects the `seq` of all matches.
 *
 * @param limit how many matches the archive returns at most
 */
export function createNumberCollector(limit: number): NumberCollector {
  const seqs: bigint[] = []
  const page = {
    sort: 'ingested_at',
    order: 'asc',
    position: null,
    wanted: limit,
    scored: false,
  } as const
  return {
    seqs: () => seqs.sort((a, b) => (a < b ? -1 : 1)),
    collect(matches, { seqOf }) {
      for (const doc of docsOf(matches)) seqs.push(seqOf(doc))
    },
    question: { kind: 'first', page, take: hits => void seqs.push(...hits.map(({ seq }) => seq)) },
    isComplete: () => false,
  }
}
