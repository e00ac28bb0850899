import type { DocumentWords } from './analysis/index.ts'
import type { CacheSizes, CacheStats } from './cache/cache.ts'
import type { KeptArticle } from './cache/stored-articles.ts'
import type { Breakdown, CountedTexts, Counts } from './execute/breakdown.ts'
import type { Collector, WordCount } from './execute/collector.ts'
import type { SearchSizes } from './execute/index-parts.ts'
import type { Matched } from './execute/plan.ts'
import type { Indexed, NewArticle } from './indexing/new-article.ts'
import type { ImportedArticles } from './indexing/segments.ts'
import type { PartsOptions } from './open-parts.ts'
import type { Pace } from './pace.ts'
import type { Client } from './postgres.ts'
import type { ArticleQuery, ArticleRow, Position, SearchPage } from './query/article-query.ts'
import type { ArticleFilter, Sort, TimeBounds } from './query/filters.ts'
import type { SegmentSource } from './segment/builder.ts'
import type { AheadSegment } from './store/postgres-segment-writer.ts'
import type { IndexState, SegmentRange } from './store/segment-store.ts'
import type { Covered } from './suggestions.ts'
import type { NameField, Stated } from './terms.ts'
import type { ArticleOutlet } from './vocabulary.ts'
import type { Repeat } from './warm-up.ts'

/*
 * All types that callers of the engine hand in or receive. The functions that use them are in its
 * entries: `index.ts` for searching, `indexer.ts` and `indexing/` for writing, `verify.ts` for
 * checking. This file defines the ports (`SearchIndex`, `ArticleWriter`, `Importer`, `Indexer`). It
 * exports the types of their parameters: an article is `NewArticle`, a question `ArticleQuery`, the
 * database `Pool`.
 */

export type { DocumentWords } from './analysis/index.ts'
export type { CacheSizes, CacheStats } from './cache/cache.ts'
export type { ArticleForm, KeptArticle } from './cache/stored-articles.ts'
export type { Breakdown, Count, CountedTexts, Counts, TextGroups } from './execute/breakdown.ts'
export type { Collector, SegmentReader, WordCount } from './execute/collector.ts'
export type { Elsewhere, SearchSizes } from './execute/index-parts.ts'
export type { Matched } from './execute/plan.ts'
export type { ArticleRights, Indexed, NewArticle } from './indexing/new-article.ts'
export type { SegmentSizes } from './indexing/policy.ts'
export type { SegmentEvents } from './indexing/segments.ts'
export type { Pace } from './pace.ts'
export type { Client, Pool, Queryable } from './postgres.ts'
export type { ArticleQuery, ArticleRow, Position, SearchPage } from './query/article-query.ts'
export type { TimeUnit, TimeZone } from './query/calendar.ts'
export type { ArticleFilter, Axis, Sort } from './query/filters.ts'
export type { Expression, Match, ParsedQuery } from './query/parse.ts'
export type { IndexKind, NumberedRow } from './store/postgres-checks.ts'
export type { IndexSize } from './store/postgres-segments.ts'
export type {
  IndexState,
  IsWhole,
  NeededState,
  SegmentRange,
  Standbys,
  Statement,
} from './store/segment-store.ts'
export type { Doomed, ListedRemoval, OutletAddress, Removal } from './store/tombstones.ts'
export type { Stated } from './terms.ts'
export type { Verified, VerifyWork } from './verify.ts'
export type { ArticleOutlet, Country, Language } from './vocabulary.ts'

/** Options of one search. Tests use small sizes. */
export interface SearchOptions extends Partial<SearchSizes> {
  state?: IndexState | undefined
  /** When the search rests, and whether it should end; absent: it rests every few ms. */
  pace?: Pace | undefined
}

/** An opened index. `A` is the form in which it keeps and returns articles. */
export interface SearchIndex<A extends KeptArticle = ArticleRow> {
  /**
   * One page of a keyword or boolean search, or of a list.
   *
   * @param position `next` of the page before; absent or null: the first page
   * @param options.state the state of the index, read after the request came; absent: the search
   *   reads it
   * @throws TooFrequent
   * @throws the errors of the database and of the archive
   */
  search(
    query: ArticleQuery,
    position?: Position | null,
    options?: SearchOptions,
  ): Promise<SearchPage<A>>
  /** The exact number of matches. */
  count(query: Matched): Promise<number>
  /**
   * Hands all matches to a collector that `create` makes. If the segments change meanwhile, it
   * starts again with a new collector.
   *
   * @param create gets the bounds of the times of all matches; null: nothing matches
   * @param range.above articles up to this `seq` are left out
   * @param range.state the state of the index, as in `search`
   * @param range.pace as in `search`
   */
  collect<C extends Collector>(
    query: Matched,
    create: (bounds: TimeBounds | null) => C,
    range?: { above?: bigint; state?: IndexState; pace?: Pace },
  ): Promise<C>
  /**
   * The price of `collect`, which is not paid: articles that have both sides of NEAR, times the
   * words and phrases beside it.
   *
   * @throws TooFrequent
   */
  price(
    query: Matched,
    range?: { above?: bigint; state?: IndexState | undefined; pace?: Pace },
  ): Promise<number>
  /**
   * Counts matches by time, outlet, language or country. The counts are exact, as of one moment.
   *
   * @param newest articles after this `seq` are not counted
   * @param texts each text is counted once; absent: each article is counted
   * @param pace as in `search`
   * @throws TooManyBuckets, CountedElsewhere, TooFrequent
   */
  countBy(
    query: Matched,
    breakdown: Breakdown,
    newest?: bigint,
    texts?: CountedTexts,
    pace?: Pace,
  ): Promise<Counts>
  /**
   * The words for which the wildcards of an expression stand, and how many matches have each; the
   * most frequent first. Leaves out words that no match has.
   *
   * @param options as in `search`
   * @throws TooFrequent
   */
  words(query: Matched, options?: SearchOptions): Promise<WordCount[]>
  /**
   * The articles of `seqs` that pass all filters, in no order. Semantic search filters its
   * candidates with this function.
   *
   * @param state of the index, when the caller has just read it; absent: `filter` reads it
   */
  filter(
    seqs: bigint[],
    filter: ArticleFilter & { sort: Sort },
    state?: IndexState,
  ): Promise<SegmentSource[]>
  /**
   * Does the same as `countBy`, for the articles of `seqs` alone.
   *
   * @throws TooManyBuckets
   */
  countAmong(
    seqs: bigint[],
    filter: ArticleFilter & { sort: Sort },
    breakdown: Breakdown,
    texts?: CountedTexts,
    state?: IndexState,
  ): Promise<Counts>
  /**
   * Names of outlets or authors that contain a text, the most useful first. The ranking may be some
   * minutes old.
   *
   * @param covered only names with such articles are found
   */
  suggest(field: NameField, text: string, covered: Covered, limit: number): Promise<Suggestion[]>
  /**
   * Articles as they are shown, in the given order. Leaves out numbers that belong to no article.
   *
   * @param state of the index, when the caller has just read it
   */
  articles(seqs: bigint[], state?: IndexState): Promise<A[]>
  /**
   * Counts the bytes of kept articles again, after the application has made these articles larger.
   */
  recount(seqs: bigint[]): void
  /**
   * Reads ahead until the index is closed, so that searches need not wait. Resolves when the first
   * round of reading has ended.
   *
   * @param repeat runs work again and again
   * @param onFailure called with the error of a read, which is tried again
   * @param gently takes longer, and leaves processors to processes that answer requests
   */
  warm(repeat: Repeat, onFailure?: (error: unknown) => void, gently?: boolean): Promise<void>
  /**
   * Checks that every article can be searched.
   *
   * @throws when neither segments nor the archive have some articles
   */
  check(): Promise<void>
  stats(): IndexStats
  /** Stops reading ahead. The caller ends the pool. */
  close(): Promise<void>
}

/** The name of an outlet or an author, with the fields that the API shows. */
export type Suggestion =
  | { field: 'outlet'; outlet: ArticleOutlet }
  | { field: 'author'; name: string }

export interface IndexStats {
  /**
   * The number of stored segments at the last search. `covered`: articles up to this `seq` had one.
   */
  segments: number
  covered: bigint
  /**
   * The archive matches articles up to this `seq`, and segments match later articles; 0: segments
   * match all articles.
   */
  elsewhere: bigint
  caches: Record<'postings' | 'columns' | 'verified' | 'counts' | 'articles' | 'names', CacheStats>
  /** Bytes of the prefetched term dictionaries. */
  prefetched: number
  /** Bytes of the words that parts of words are looked for in. */
  lexicons: number
  /** How many names of outlets and authors are in memory, and their bytes. */
  names: { count: number; bytes: number }
}

export interface IndexOptions extends PartsOptions {
  /** The most bytes of each cache; absent: sizes that fit the machine's memory. */
  caches?: Partial<CacheSizes>
}

/** Makes articles visible to searches. */
export interface ArticleWriter {
  /**
   * Writes articles in batches of at most 50. Each batch is written whole or not at all, together
   * with the time at which each article is due for embedding. If an article is already stored under
   * any of its addresses, its result is `known` and the stored article stays as it is. Results have
   * the order of `articles`. Articles that are written later have later stamps (decision 23).
   *
   * @throws the database's error; earlier batches stay
   */
  write(articles: NewArticle[], options?: WriteOptions): Promise<Indexed[]>
}

export interface WriteOptions {
  /**
   * More work in the transaction of each batch, before its articles get numbers. The normaliser
   * uses it to mark pages as done. Results have the order of the batch's articles.
   */
  within?: (client: Client, results: WrittenOutcome[], articles: NewArticle[]) => Promise<void>
  /** Called with the rows of each batch before they are committed. */
  numbered?: (rows: WrittenRow[]) => void
}

/**
 * The values by which a writer recognises its own row after a lost answer. The row of another
 * transaction would have other values.
 */
export interface WrittenRow {
  seq: bigint
  id: string
  ingestedAt: Date | null
}

export type WrittenOutcome = Pick<Indexed, 'outcome' | 'id'>

/**
 * Imports articles. It first builds a segment of some thousand articles, numbered from 1, and
 * stores it ahead. One transaction then draws their numbers and stamps, copies their rows and uses
 * the segment. So searching processes need not index the articles one by one in memory.
 */
export interface Importer {
  /**
   * Takes articles, and starts writing when they fill a segment. Resolves when there is room for
   * more articles.
   */
  add(articles: NewArticle[]): Promise<void>
  /**
   * Writes all taken articles. The last ones get a segment only if there are enough of them.
   * Otherwise they are written in the same way as crawled articles.
   */
  flush(): Promise<void>
  /** Writes articles in the same way as crawled articles. @returns how many were new */
  writeSingly(articles: NewArticle[]): Promise<number>
  /** The number of taken articles that do not fill a segment yet. */
  waiting(): number
  /** Stops writing. Resolves when running writes have ended and were reported, or have failed. */
  stop(): Promise<void>
}

/** Makes segments of written articles. */
export interface Indexer {
  /**
   * Starts due flushes and merges, in threads and on connections of their own. The writer calls
   * this after every batch of articles, so it is cheap. Resolves when it has decided which to
   * start.
   *
   * @param last `seq` of the newest article
   */
  notify(last: bigint): Promise<void>
  /**
   * Makes segments of the written articles. Resolves when this is done or has failed.
   *
   * @param how `due`: makes full segments alone. `all`: also makes a segment of the last articles,
   *   unless they are few. Absent: `due`
   */
  finish(how?: 'due' | 'all'): Promise<void>
  /** For an import, which makes its segments before its articles are visible. */
  imported: {
    /** Builds a segment and stores it ahead: searches do not use it yet. */
    build(articles: ImportedArticles): Promise<AheadSegment>
    /**
     * Makes segments of articles that other processes have written, unless these are fewer than a
     * quarter of a flush.
     */
    cover(): Promise<void>
    /** Makes the merges that are due. */
    merge(): Promise<void>
  }
  /** For `reindex`: makes segments, words and names anew. */
  rebuild: {
    /** Ranges of the stored segments, ascending. */
    ranges(): Promise<SegmentRange[]>
    /** Removes segments with wrong ranges, and makes missing segments from the stored words. */
    mend(): Promise<void>
    /** Runs work while no process stores segments. */
    exclusively<T>(work: () => Promise<T>): Promise<T>
    /**
     * Builds one segment anew. @returns false: `work.signal` interrupted it, and nothing changed
     */
    segment(range: SegmentRange, work: RebuildWork): Promise<boolean>
    /** Makes the words of articles anew that have no segment yet. */
    words(seqs: bigint[], tokeniser: Tokeniser): Promise<void>
    /** Writes what outlets say of articles that have no segment yet. */
    stated(said: ReadonlyMap<bigint, Stated>): Promise<void>
    /** Folds the names of all outlets and authors anew. */
    names(signal: AbortSignal): Promise<void>
  }
  /** Ends the threads. The caller ends the pool. */
  close(): Promise<void>
}

export interface RebuildWork {
  tokeniser: Tokeniser
  /** The articles to tokenise anew. The words of other articles are kept. */
  chosen: ReadonlySet<bigint>
  /** What outlets say of articles of which nothing is stored yet; absent: that stays. */
  stated?: ReadonlyMap<bigint, Stated>
  /** Called after each part with the number of its chosen articles. */
  worked(articles: number): Promise<void>
  /** More work in the transaction that replaces the segment. */
  within(client: Client): Promise<void>
  signal: AbortSignal
}

/** Cuts texts into words. The caller may do this in threads. */
export interface Tokeniser {
  /** How many calls may run at a time. */
  atOnce: number
  tokenise(texts: { title: string; body: string | null }[]): Promise<DocumentWords[]>
}
