import { defaultCacheSizes, together } from './cache/cache.ts'
import { PREFETCHED_ARTICLES } from './cache/segment-cache.ts'
import { type ArticleForm, type KeptArticle, ROWS } from './cache/stored-articles.ts'
import {
  collectArticles,
  createBreakdown,
  eachTextOnce,
  firstOfTexts,
} from './execute/breakdown.ts'
import type { SearchSizes } from './execute/index-parts.ts'
import type { Matched } from './execute/plan.ts'
import {
  collectAll,
  countWords,
  createCountCollector,
  priceOfAll,
  searchPage,
  TOTAL_CAP,
} from './execute/search.ts'
import { MEMORY_SIZES } from './memory/memory-index.ts'
import { type OpenedParts, openParts } from './open-parts.ts'
import { createPace, type Pace } from './pace.ts'
import type { Queryable } from './postgres.ts'
import {
  articleTest,
  cutToDays,
  NO_FILTERS,
  type TimeBounds,
  timeBoundsOf,
} from './query/filters.ts'
import { type IndexState, newestOf, SegmentsChanged } from './store/segment-store.ts'
import { createNameCounter, createSuggestions } from './suggestions.ts'
import type { IndexOptions, IndexStats, SearchIndex } from './types.ts'
import { startWarmUp, type WarmUp } from './warm-up.ts'

/*
 * The entry for programs that search: the API, benchmarks and tests. Programs that write articles
 * use `indexer.ts`. Functions on text alone are in `analysis/index.ts`.
 */

export { defaultCacheSizes } from './cache/cache.ts'
export { MOST_OUTLETS } from './execute/breakdown.ts'
export { CountedElsewhere } from './execute/index-parts.ts'
export { StatedElsewhere, TooFrequent, WildcardsElsewhere } from './execute/plan.ts'
export { createCountCollector, createNumberCollector, TOTAL_CAP } from './execute/search.ts'
export { createPace, eachIn, SHORT_TURN } from './pace.ts'
export { MOST_BUCKETS, TIME_UNITS, TooManyBuckets, timeZoneNamed } from './query/calendar.ts'
export { inFull, leavesOf, operatorsMeant, parseExpression } from './query/expression.ts'
export { NO_FILTERS } from './query/filters.ts'
export { findingAny } from './query/holds.ts'
export { parseBoolean, parseKeyword } from './query/parse.ts'
export { INDEX_STATE, SEARCH_SETTINGS } from './store/postgres-segments.ts'
export type * from './types.ts'

const SIZES: SearchSizes = {
  cap: TOTAL_CAP,
  memory: MEMORY_SIZES,
  first: 32_768,
  prefetch: PREFETCHED_ARTICLES,
}

/**
 * How many times a search may run in all, when segments change while it runs. Segments change once
 * in some thousand articles, and a search takes milliseconds.
 */
const ATTEMPTS = 10

/**
 * Opens the index for searches. The returned object holds all state.
 *
 * @param db a pool whose connections have `SEARCH_SETTINGS`
 */
export const openIndex = (db: Queryable, options: IndexOptions = {}): SearchIndex =>
  openIndexOf(db, ROWS, options)

/**
 * Opens the index like `openIndex`, but keeps and returns articles in the application's own form.
 *
 * @param db a pool whose connections have `SEARCH_SETTINGS`
 */
export function openIndexOf<A extends KeptArticle>(
  db: Queryable,
  form: ArticleForm<A>,
  { caches, ...handed }: IndexOptions = {},
): SearchIndex<A> {
  const parts = openParts(db, form, { ...defaultCacheSizes(), ...caches }, handed)
  let warmUp: WarmUp | null = null
  let warm: Promise<void> | null = null
  let closed = false

  /** The parts for one search. A search that starts again has paid already. */
  const pacedBy = (pace: Pace = createPace()) => {
    let paid = false
    const pay = async (price: number) => {
      if (!paid) await pace.pay?.(price)
      paid = true
    }
    return { ...parts, pace: { ...pace, pay } }
  }
  const suggestions = createSuggestions(
    parts.names.names,
    () => restarting(() => collectAll(pacedBy(), EVERY_ARTICLE, createNameCounter, SIZES)),
    () => parts.knownMeta()?.removed.last,
  )
  return {
    search(query, position = null, { state, pace, ...sizes } = {}) {
      // No attempt shows articles that came after the given state, even if the attempt reads a
      // newer state.
      const own = { ...SIZES, ...sizes }
      const paced = pacedBy(pace)
      return restarting(
        given => searchPage(paced, query, position, own, { state: given, newest: state?.lastSeq }),
        state,
      )
    },

    async articles(seqs, state) {
      const { wordsVersion } = state ?? (await parts.segments.readSnapshot())
      return parts.stored.read(seqs, wordsVersion)
    },
    recount: seqs => parts.stored.recount(seqs),

    async count(query) {
      const collector = await restarting(() =>
        collectAll(pacedBy(), query, () => createCountCollector(Infinity), SIZES),
      )
      return collector.count()
    },

    collect(query, create, { state, above, pace } = {}) {
      const paced = pacedBy(pace)
      const range = { newest: state?.lastSeq, above }
      return restarting(
        given => collectAll(paced, query, create, SIZES, { ...range, state: given }),
        state,
      )
    },

    price(query, { state, above, pace } = {}) {
      const paced = pacedBy(pace)
      const range = { newest: state?.lastSeq, above }
      return restarting(given => priceOfAll(paced, query, SIZES, { ...range, state: given }), state)
    },

    async countBy(query, breakdown, newest, texts, pace) {
      const paced = pacedBy(pace)
      const create = (bounds: TimeBounds | null) => {
        const counter = createBreakdown(breakdown, query.sort, bounds)
        return texts === undefined ? counter : eachTextOnce(counter, texts, paced.pace)
      }
      const collector = await restarting(() => collectAll(paced, query, create, SIZES, { newest }))
      return collector.counts(parts.stored.names)
    },

    words(query, { state, pace, ...sizes } = {}) {
      const paced = pacedBy(pace)
      return restarting(given => countWords(paced, query, { ...SIZES, ...sizes }, given), state)
    },

    ...amongArticles(parts),

    async suggest(field, text, covered, limit) {
      const nos = await suggestions.find(field, text, covered, limit)
      const names = await parts.stored.names(
        field === 'outlet' ? nos : [],
        field === 'author' ? nos : [],
      )
      // The name of an author whose articles were taken out may be gone by now.
      const named = field === 'outlet' ? nos : nos.filter(no => names.author(no) !== undefined)
      return named.map(no =>
        field === 'outlet'
          ? { field, outlet: names.outlet(no) }
          : { field, name: names.author(no).name },
      )
    },

    warm(repeat, onFailure = () => {}, gently = false) {
      warmUp ??= startWarmUp(parts, SIZES, { repeat, onFailure, gently })
      // Ranking looks at all articles. So the index ranks names before the first requests come, and
      // no request has to wait beside it.
      warm ??= warmUp.warm.then(() => (closed ? undefined : suggestions.ready().catch(onFailure)))
      return warm
    },

    async check() {
      const { version } = await parts.segments.readSnapshot()
      await parts.metaOf(version)
    },

    stats: () => statsOf(parts),

    async close() {
      closed = true
      await warmUp?.stop()
      await parts.cache.prefetch.close()
      await suggestions.close()
      await parts.closeElsewhere()
    },
  }
}

/** Answers questions about given articles only. The caller names them by their `seq`. */
function amongArticles(parts: OpenedParts): Pick<SearchIndex, 'filter' | 'countAmong'> {
  // Between the caller's reading of the state and this, segments may have changed.
  const filter: SearchIndex['filter'] = (seqs, asked, state) =>
    restarting(async given => {
      const { version } = given ?? (await parts.segments.readSnapshot())
      const { removed } = await parts.metaOf(version)
      const articles = (await parts.source.readSources(seqs)).filter(({ seq }) => !removed.has(seq))
      const names = await parts.namesOf(articles, asked)
      const { outlets } = asked
      const publishers =
        outlets === null
          ? []
          : await parts.source.readPublishers(outlets, { lastSeq: newestOf(seqs), version })
      const passes = articleTest(asked, publishers)
      return articles.filter(article => passes(article, names))
    }, state)
  return {
    filter,
    async countAmong(seqs, asked, breakdown, texts, state) {
      const bounds = cutToDays(timeBoundsOf(asked), await parts.daysUpTo(newestOf(seqs)))
      const collector = createBreakdown(breakdown, asked.sort, bounds)
      if (bounds !== null) {
        const found = (await filter(seqs, asked, state)).sort((a, b) => Number(a.seq - b.seq))
        collectArticles(texts === undefined ? found : firstOfTexts(found, texts), collector)
      }
      return collector.counts(parts.stored.names)
    },
  }
}

function statsOf({ cache, knownMeta, lexicons, names, stored }: OpenedParts): IndexStats {
  const { prefetched, ...segments } = cache.stats()
  const { articles, names: shown } = stored.stats()
  const { names: count, bytes, parts } = names.stats()
  const meta = knownMeta()
  return {
    segments: meta?.segments.length ?? 0,
    covered: meta?.covered ?? 0n,
    elsewhere: meta?.elsewhere.covered ?? 0n,
    caches: { ...segments, articles, names: together([shown, parts, cache.namedStats()]) },
    prefetched,
    names: { count, bytes },
    lexicons: lexicons.bytes(),
  }
}

/**
 * Runs a search, and starts it again if the segments change meanwhile.
 *
 * @param state of the index. Only the first attempt uses it: a restart means that the state has
 *   changed.
 */
async function restarting<T>(
  search: (state?: IndexState) => Promise<T>,
  state?: IndexState,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await search(attempt === 1 ? state : undefined)
    } catch (error) {
      if (!(error instanceof SegmentsChanged) || attempt === ATTEMPTS) throw error
    }
  }
}

const EVERY_ARTICLE: Matched = {
  match: { kind: 'all' },
  searchIn: 'title',
  ...NO_FILTERS,
  reach: {
    historyStart: new Date(-8_640_000_000_000_000),
    publishedAfter: null,
    publishedBefore: null,
  },
  sort: 'published_at',
}
