import type { DocumentWords } from './analysis/index.ts'
import type { CacheSizes, CacheStats } from './cache/cache.ts'
import type { KeptArticle } from './cache/stored-articles.ts'
import type { Breakdown, CountedTexts, Counts } from './execute/breakdown.ts'
import type { Collector } from './execute/collector.ts'
import type { SearchSizes } from './execute/index-parts.ts'
import type { Matched } from './execute/plan.ts'
import type { Indexed, NewArticle } from './indexing/new-article.ts'
import type { ImportedArticles } from './indexing/scheduler.ts'
import type { PartsOptions } from './open-parts.ts'
import type { Client } from './postgres.ts'
import type { ArticleQuery, ArticleRow, Position, SearchPage } from './query/article-query.ts'
import type { ArticleFilter, Sort, TimeBounds } from './query/filters.ts'
import type { SegmentSource } from './segment/builder.ts'
import type { AheadSegment } from './store/postgres-segment-writer.ts'
import type { IndexState, SegmentRange } from './store/segment-store.ts'
import type { Covered } from './suggestions.ts'
import type { NameField } from './terms.ts'
import type { ArticleOutlet } from './vocabulary.ts'
import type { Repeat } from './warm-up.ts'

/*
 * All types that cross the border of the engine: what it is given, and what it gives. The functions
 * that take or return them stand in its entries: `index.ts` for those who search, `indexer.ts` and
 * `indexing/` for those who write, `verify.ts` for those who check. Here stand the ports in full
 * (`SearchIndex`, `ArticleWriter`, `Importer`, `Indexer`), and by name what they are given: an
 * article is `NewArticle`, a question `ArticleQuery`, the database `Pool`.
 */

export type { DocumentWords } from './analysis/index.ts'
export type { CacheSizes, CacheStats } from './cache/cache.ts'
export type { ArticleForm, KeptArticle } from './cache/stored-articles.ts'
export type { Breakdown, Count, CountedTexts, Counts, TextGroups } from './execute/breakdown.ts'
export type { Collector, SegmentReader } from './execute/collector.ts'
export type { Elsewhere, SearchSizes } from './execute/index-parts.ts'
export type { Matched } from './execute/plan.ts'
export type { ArticleRights, Indexed, NewArticle } from './indexing/new-article.ts'
export type { SegmentSizes } from './indexing/policy.ts'
export type { SegmentEvents } from './indexing/scheduler.ts'
export type { Pace } from './pace.ts'
export type { Client, Pool, Queryable } from './postgres.ts'
export type { ArticleQuery, ArticleRow, Position, SearchPage } from './query/article-query.ts'
export type { TimeUnit, TimeZone } from './query/calendar.ts'
export type { ArticleFilter, Axis, Sort } from './query/filters.ts'
export type { Match, ParsedQuery } from './query/parse.ts'
export type { IndexSize } from './store/postgres-segments.ts'
export type { IndexState, IsWhole, NeededState, SegmentRange, Standbys, Statement } from './store/segment-store.ts'
export type { IndexKind, Verified, VerifyWork } from './verify.ts'
export type { ArticleOutlet, Country, Language } from './vocabulary.ts'

/** Tests make the sizes small. */
export interface SearchOptions extends Partial<SearchSizes> {
  state?: IndexState | undefined
}

/** `A` is the form in which it keeps and returns articles. */
export interface SearchIndex<A extends KeptArticle = ArticleRow> {
  /**
   * One page of a keyword or boolean search, or of a list.
   *
   * @param position `next` of the page before; absent or null: the first page
   * @param options.state the state of the index, read after the question came; absent: the search
   * reads it
   * @throws what the database throws
   */
  search(query: ArticleQuery, position?: Position | null, options?: SearchOptions): Promise<SearchPage<A>>
  /** The exact number of matches. */
  count(query: Matched): Promise<number>
  /**
   * Hands all matches to a collector that `create` makes. If the segments change meanwhile, it
   * starts again with a new collector.
   *
   * @param create is told the bounds of the times of all matches; null: nothing matches
   * @param range.above articles up to this `seq` are left out
   * @param range.state of the index, as in `search`
   */
  collect<C extends Collector>(
    query: Matched,
    create: (bounds: TimeBounds | null) => C,
    range?: { above?: bigint; state?: IndexState },
  ): Promise<C>
  /**
   * How many matches there are by time, outlet, language or country; exact, as of one moment.
   *
   * @param newest no article after this `seq` is counted
   * @param texts each text is counted once; absent: each article
   * @throws TooManyBuckets
   * @throws TextsElsewhere
   */
  countBy(query: Matched, breakdown: Breakdown, newest?: bigint, texts?: CountedTexts): Promise<Counts>
  /**
   * The articles of `seqs` that pass all filters, in no order: the candidates of semantic search.
   */
  filter(seqs: bigint[], filter: ArticleFilter & { sort: Sort }): Promise<SegmentSource[]>
  /**
   * The same as `countBy`, among the articles of `seqs`.
   *
   * @throws TooManyBuckets
   */
  countAmong(
    seqs: bigint[],
    filter: ArticleFilter & { sort: Sort },
    breakdown: Breakdown,
    texts?: CountedTexts,
  ): Promise<Counts>
  /**
   * Names of outlets or authors that contain a text, the most useful first. They are as of some
   * minutes ago, because they are ranked beforehand.
   *
   * @param covered only names with articles that it covers
   */
  suggest(field: NameField, text: string, covered: Covered, limit: number): Promise<Suggestion[]>
  /** Articles as they are shown, in the given order. Numbers that are no article's are left out. */
  articles(seqs: bigint[]): Promise<A[]>
  /** Counts the bytes of kept articles again, after the application made them larger. */
  recount(seqs: bigint[]): void
  /**
   * Reads ahead until the index is closed, so that searches need not wait. Resolves when all that
   * is read ahead was read once.
   *
   * @param repeat runs work again and again
   * @param onFailure told of what could not be read; it is tried again
   * @param gently takes longer, and leaves processors to other processes that answer requests
   */
  warm(repeat: Repeat, onFailure?: (error: unknown) => void, gently?: boolean): Promise<void>
  /**
   * Looks whether every article can be searched.
   *
   * @throws when nothing has some of them
   */
  check(): Promise<void>
  stats(): IndexStats
  /** Stops reading ahead. The pool is the caller's to end. */
  close(): Promise<void>
}

/** A name as it is published. */
export type Suggestion = { field: 'outlet'; outlet: ArticleOutlet } | { field: 'author'; name: string }

export interface IndexStats {
  /** Stored segments, and the articles in them, at the last search. */
  segments: number
  covered: bigint
  /** Another index matches the articles up to this `seq`, segments the others; 0: none. */
  elsewhere: bigint
  /** In-memory segments: articles that have no stored segment yet. */
  memory: { articles: number; segments: number; words: number }
  caches: Record<'postings' | 'columns' | 'verified' | 'counts' | 'articles' | 'names', CacheStats>
  /** Bytes of the prefetched term dictionaries. */
  prefetched: number
  /** Names of outlets and authors in which parts are looked up, and the bytes that they take. */
  names: { count: number; bytes: number }
}

export interface IndexOptions extends PartsOptions {
  /** Most bytes of each cache; defaults fit the machine's memory. */
  caches?: Partial<CacheSizes>
}

/** Makes articles visible to searches. */
export interface ArticleWriter {
  /**
   * Writes articles in batches of at most 50. Each batch is written whole or not at all, with the
   * time at which each article is to be embedded. An article that is stored already, under any of
   * its addresses, is `known` and stays as it is. Results stand in the order of `articles`.
   * Articles that are written later have later stamps (decision 23).
   *
   * @throws the database's error; earlier batches stay
   */
  write(articles: NewArticle[], options?: WriteOptions): Promise<Indexed[]>
}

export interface WriteOptions {
  /**
   * More work for the same transaction, once for each batch, before its articles are numbered. The
   * normaliser marks pages as done. Results stand in the order of the batch's articles.
   */
  within?: (client: Client, results: WrittenOutcome[], articles: NewArticle[]) => Promise<void>
  /** Told of the rows of each batch, before they are committed. */
  numbered?: (rows: WrittenRow[]) => void
}

/**
 * The values by which a transaction knows its own row again: another one would give other values.
 */
export interface WrittenRow {
  seq: bigint
  id: string
  ingestedAt: Date | null
}

export type WrittenOutcome = Pick<Indexed, 'outcome' | 'id'>

/**
 * Imports articles. A segment of some thousand articles is built first, with numbers from 1 on, and
 * stored ahead. One transaction then draws their numbers and stamps, copies their rows and uses the
 * segment. So no search has to take the articles in one by one.
 */
export interface Importer {
  /** Takes articles, and writes those that make a segment. Resolves when there is room for more. */
  add(articles: NewArticle[]): Promise<void>
  /**
   * Writes all that were taken. The last ones are written as crawled articles are, unless they are
   * many.
   */
  flush(): Promise<void>
  /** Writes articles as crawled ones are. @returns how many were new */
  writeSingly(articles: NewArticle[]): Promise<number>
  /** Articles that were taken and make no segment yet. */
  waiting(): number
  /** Stops writing. Resolves when the writes under way are done and told, or have failed. */
  stop(): Promise<void>
}

/** Makes segments of the articles that are written. */
export interface Indexer {
  /**
   * Called after every batch of articles; cheap. Starts the flushes and merges that are due, in
   * threads and on connections of their own. Resolves when it is decided what to start.
   *
   * @param last `seq` of the newest article
   */
  notify(last: bigint): Promise<void>
  /**
   * Makes segments of what was written. Resolves when that is done, or failed.
   *
   * @param how `due`: full segments alone; `all`: also one of the last articles, unless they are
   *   few. Absent: `due`
   */
  finish(how?: 'due' | 'all'): Promise<void>
  /** For an import: makes its segments before its articles are visible. */
  imported: {
    /** Builds a segment and stores it ahead. */
    build(articles: ImportedArticles): Promise<AheadSegment>
    /**
     * Makes segments of articles that others have written, unless they are fewer than a quarter of
     * a flush.
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
    /** @returns false: it was interrupted, and nothing changed */
    segment(range: SegmentRange, work: RebuildWork): Promise<boolean>
    /** Makes the words of articles that have no segment yet. */
    words(seqs: bigint[], tokeniser: Tokeniser): Promise<void>
    /** Folds the names of all outlets and authors. */
    names(signal: AbortSignal): Promise<void>
  }
  stats(): { backlog: number }
  /** Ends the threads. The pool is the caller's to end. */
  close(): Promise<void>
}

export interface RebuildWork {
  tokeniser: Tokeniser
  /** The articles to be tokenised anew; the words of the others are kept. */
  chosen: ReadonlySet<bigint>
  /** Told after each part how many of the chosen articles it had. */
  worked(articles: number): Promise<void>
  /** More work for the transaction that replaces the segment. */
  within(client: Client): Promise<void>
  signal: AbortSignal
}

/** Cuts texts into words, perhaps in threads of the caller's. */
export interface Tokeniser {
  /** How many calls may run at a time. */
  atOnce: number
  tokenise(texts: { title: string; body: string | null }[]): Promise<DocumentWords[]>
}
