import { waitFor } from '../../shared/log/context.ts'
import type { KeptArticle } from '../cache/stored-articles.ts'
import type { ArticleQuery, Position, SearchPage } from '../query/article-query.ts'
import type { TimeBounds } from '../query/filters.ts'
import type { IndexState } from '../store/segment-store.ts'
import { type Collector, createCountCollector } from './collector.ts'
import type { IndexParts, SearchSizes, StoredMeta, StoredPart } from './index-parts.ts'
import { matchMemory } from './match-memory.ts'
import { storedSegments } from './match-stored.ts'
import { createTopCollector, firstInOrder, tieBreakers } from './order.ts'
import { type Matched, type MatchOrder, planSearch, type SearchPlan } from './plan.ts'

/** Matches are counted up to here (decision 25). */
export const TOTAL_CAP = 10_000

const NOTHING: SearchPage<never> = { rows: [], total: 0, estimate: false, next: null }

/**
 * One page of a keyword or boolean search, or of a list, with its total; both as of the watermark
 * (decisions 22, 25).
 *
 * @param position `next` of the page before; null: the first page
 * @param state the state of the index, when the caller has just read it; null: it is read
 * @throws SegmentsChanged the caller starts again, with a state that is read anew
 */
export async function searchPage<A extends KeptArticle>(
  index: IndexParts<A>,
  query: ArticleQuery,
  position: Position | null,
  sizes: SearchSizes,
  state: IndexState | null = null,
): Promise<SearchPage<A>> {
  const snapshot = state ?? (await index.segments.readSnapshot())
  const watermark = position?.watermark ?? snapshot.lastSeq
  const plan = planSearch(query, await index.daysUpTo(snapshot.lastSeq), watermark)
  if (plan === null) return NOTHING
  const { sort, order, perPage } = query
  // One more than a page holds tells whether another page follows.
  const wanted = perPage + 1
  const top = createTopCollector({ sort, order, position, wanted, scored: plan.scoring.length > 0 })
  // Later pages tell the total of the first one.
  const count = createCountCollector(position === null ? sizes.cap : 0)
  const meta = await index.metaOf(snapshot.version)
  await collectMatches(index, { snapshot, meta, plan }, { sort, order, position }, [top, count], count.limit, sizes)
  const ties = tieBreakers(index, plan.scoring, meta.version)
  const hits = await firstInOrder(top.hits(), wanted, query, position, ties)
  const rows = await index.stored.read(hits.slice(0, perPage).map(hit => hit.seq))

  const total = position?.total ?? Math.min(count.count(), sizes.cap)
  const estimate = position?.estimate ?? count.count() >= sizes.cap
  const end = rows.at(-1)
  const last = hits[rows.length - 1]
  const isLastPage = hits.length <= rows.length || end === undefined || last === undefined
  return {
    rows,
    total,
    estimate,
    next: isLastPage
      ? null
      : // A match without a score equals no other, so any score will do.
        { watermark, total, estimate, last: { value: last.value, score: last.score ?? 0, id: end.id } },
  }
}

/**
 * Hands all matches to a collector, as of now.
 *
 * @param create makes the collector. It is told the bounds of the times of all matches, cut to days
 *   that have articles; null: nothing matches
 * @throws SegmentsChanged the caller starts again
 */
export async function collectAll<C extends Collector>(
  index: IndexParts,
  query: Matched,
  create: (bounds: TimeBounds | null) => C,
  sizes: SearchSizes,
): Promise<C> {
  const snapshot = await index.segments.readSnapshot()
  const days = await index.daysUpTo(snapshot.lastSeq)
  const plan = planSearch(query, days, snapshot.lastSeq)
  const collector = create(plan?.filter.bounds ?? null)
  if (plan === null) return collector
  const meta = await index.metaOf(snapshot.version)
  const order = { sort: query.sort, order: 'desc', position: null } as const
  await collectMatches(index, { snapshot, meta, plan }, order, [collector], Infinity, sizes)
  return collector
}

interface Planned {
  snapshot: IndexState
  meta: StoredMeta
  plan: SearchPlan
}

/**
 * Matches stored parts and in-memory segments. New articles are read while stored parts are
 * matched.
 */
async function collectMatches(
  index: IndexParts,
  { snapshot, meta, plan }: Planned,
  order: { sort: ArticleQuery['sort']; order: ArticleQuery['order']; position: Position | null },
  collectors: readonly Collector[],
  limit: number,
  sizes: SearchSizes,
): Promise<void> {
  index.cache.prefetch.follow(meta, sizes.prefetch)
  const { covered } = meta
  const { watermark } = plan.filter
  // The cursor may be from before the database went back to an earlier moment. The memory must not
  // take numbers for read that new articles are yet to get.
  const last = watermark < snapshot.lastSeq ? watermark : snapshot.lastSeq
  const range = { covered, last, wordsVersion: snapshot.wordsVersion }
  const matchOrder = { ...order, limit, first: sizes.first }
  const above = meta.archive.covered
  const parts = [
    storedSegments({ ...index, meta }, { ...plan, filter: { ...plan.filter, above } }, matchOrder),
    index.archive.part(meta.archive, plan, matchOrder),
  ]
  const [inMemory] = await Promise.all([
    // Searches share this reading, so its statements may be those of another one.
    last <= covered ? [] : waitFor('new articles', index.memory.upTo(range, sizes.memory)),
    matchParts(parts, matchOrder, collectors),
  ])
  await matchMemory(index.names, inMemory, covered, plan, collectors)
}

/**
 * Matches parts one after the other, in the order of the search. Stops when every collector is
 * complete.
 */
async function matchParts(
  parts: StoredPart[],
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
