import type { Queryable } from '../../shared/postgres/pool.ts'
import { LATEST_ARTICLES } from '../cache/prefetch.ts'
import { shelfOf } from '../cache/segment-cache.ts'
import { FRESH_SIZES, type FreshSizes, readFresh } from '../memory/memory-index.ts'
import { searchFresh } from '../memory/search.ts'
import type { ArticleQuery, Position, SearchPage } from '../query/article-query.ts'
import { filteringOf, leavesNothing } from '../query/filters.ts'
import { matchingOf } from '../query/match.ts'
import { allOf } from '../query/node.ts'
import { boundsOf } from '../query/time-bounds.ts'
import { readCatalogue, SegmentsChanged } from '../store/segment-store.ts'
import { readPrelude } from '../store/snapshot.ts'
import { readArticles } from '../store/stored-articles.ts'
import { firstInOrder } from './order.ts'
import { searchSegments } from './segments.ts'

/** Matches are counted to here (decision 25). */
export const TOTAL_CAP = 10_000

/** Sizes that change how an answer is found and never the answer, but for `cap`. Tests make them small. */
export interface SearchSizes {
  cap: number
  fresh: FreshSizes
  /** Articles of the segments that a search looks at first. */
  first: number
  /** Articles of the latest segments whose lists are all kept in memory. */
  whole: number
  /** Outlets or authors that are looked up one by one. */
  fewPeople: number
}

const SIZES: SearchSizes = {
  cap: TOTAL_CAP,
  fresh: FRESH_SIZES,
  first: 32_768,
  whole: LATEST_ARTICLES,
  fewPeople: 64,
}

/**
 * For the connections of searches: every statement is a look-up by a key, and the planner is neither to think that a small
 * table might as well be read through, nor to think again about each search.
 */
export const SEARCH_SETTINGS = { enable_seqscan: 'off', plan_cache_mode: 'force_generic_plan', jit: 'off' }

/** Segments change once in some thousand articles; a search takes milliseconds. */
const ATTEMPTS = 10

/**
 * One page of a keyword or boolean search, or of a list, with its total; both as of the watermark (decisions 22, 25).
 * Fresh articles are found in memory, all others in segments; what each finds first is put in order together.
 *
 * @param position `next` of the page before; null: the first page
 */
export async function search(
  db: Queryable,
  query: ArticleQuery,
  position: Position | null,
  sizes: SearchSizes = SIZES,
): Promise<SearchPage> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await searchOnce(db, query, position, sizes)
    } catch (error) {
      if (!(error instanceof SegmentsChanged) || attempt === ATTEMPTS) throw error
    }
  }
}

const NOTHING: SearchPage = { rows: [], total: 0, estimate: false, next: null }

async function searchOnce(
  db: Queryable,
  query: ArticleQuery,
  position: Position | null,
  sizes: SearchSizes,
): Promise<SearchPage> {
  const prelude = await readPrelude(db, query.outlet, query.author)
  const bounds = boundsOf(query, prelude)
  if (bounds === null || leavesNothing(prelude)) return NOTHING
  const catalogue = await readCatalogue(db, prelude.version)
  shelfOf(db).whole.follow(db, catalogue, sizes.whole)
  const { version, covered } = catalogue

  const { expression: match, recheck, probes } = matchingOf(query.match, query.searchIn, query.languages)
  const { narrow, wide, publisherNos, authorNos } = filteringOf(query, prelude, sizes.fewPeople)
  // Whatever leaves few comes first: the rest is looked for among these.
  const expressions = [...narrow, ...(match === null ? [] : [match]), ...wide]
  const watermark = position?.watermark ?? prelude.lastSeq
  // One more than a page holds tells whether another page follows.
  const wanted = query.perPage + 1
  const question = {
    expression: expressions.length === 0 ? null : allOf(expressions),
    restriction: { bounds, watermark, publisherNos: setOf(publisherNos), authorNos: setOf(authorNos) },
    recheck,
    ranked: probes.length > 0,
    covered,
  }
  const [chunks, older] = await Promise.all([
    watermark <= covered
      ? []
      : readFresh(db, { covered, last: watermark, wordsVersion: prelude.wordsVersion }, sizes.fresh),
    searchSegments(db, catalogue, query, position, question, {
      wanted,
      cap: position === null ? sizes.cap : 0,
      first: sizes.first,
    }),
  ])
  const fresh = await searchFresh(chunks, query, position, question, wanted)
  const hits = await firstInOrder(db, [...fresh.hits, ...older.hits], wanted, query, position, probes, version)
  const rows = await readArticles(
    db,
    hits.slice(0, query.perPage).map(hit => hit.seq),
  )

  const count = fresh.count + older.count
  const total = position?.total ?? Math.min(count, sizes.cap)
  const estimate = position?.estimate ?? count >= sizes.cap
  const end = rows.at(-1)
  const last = hits[rows.length - 1]
  const more = hits.length > rows.length && end !== undefined && last !== undefined
  return {
    rows,
    total,
    estimate,
    // A match without a rank equals no other: any rank will do.
    next: more ? { watermark, total, estimate, last: { value: last.value, rank: last.rank ?? 0, id: end.id } } : null,
  }
}

function setOf(numbers: number[] | null): Set<number> | null {
  return numbers === null ? null : new Set(numbers)
}
