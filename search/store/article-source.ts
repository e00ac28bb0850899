import type { Pace } from '../pace.ts'
import type { Axis, TimeSpan } from '../query/filters.ts'
import type { Expression } from '../query/parse.ts'
import type { SegmentSource } from '../segment/builder.ts'
import type { NameField, Stated } from '../terms.ts'
import type { ArticleOutlet, Country, Language } from '../vocabulary.ts'
import type { IndexState, SegmentRange } from './segment-store.ts'

/** The stored fields of an article. */
export interface StoredArticle extends Stated {
  seq: bigint
  id: string
  title: string
  url: string
  snippet: string | null
  publishedAt: Date | null
  ingestedAt: Date | null
  publisherNo: number
  authorNos: number[]
  language: Language
  country: Country
}

/** The words of an article: two lists as `wordList` writes them. */
export interface ArticleWords {
  seq: bigint
  title: string
  body: string
}

/** An article that has no segment yet. */
export interface UnflushedArticle {
  source: SegmentSource
  words: ArticleWords
  stored: StoredArticle
}

export interface Author {
  id: string
  name: string
}

/** Names of outlets or authors. An outlet has two entries: its name and its domain. */
export interface NameBatch {
  /** The number of each name. Names of the same outlet or author follow each other. */
  nos: Int32Array
  /** The folded names in UTF-8, with a line break after each. */
  names: Uint8Array
}

/**
 * The outlets or authors to read: those with these numbers, or the next `limit` after a number,
 * ascending.
 */
export type NamesWanted = number[] | { after: number; limit: number }

/**
 * For each axis: the time from the first day that has articles to the end of the last one; null: no
 * article has this time.
 */
export type KnownDays = Record<Axis, TimeSpan | null>

/** Reads articles and their words for the search engine. */
export interface ArticleSource {
  /**
   * Articles after `after` up to `to`, ascending. Their words have the version `wordsVersion` or a
   * newer one.
   */
  readNew(after: bigint, to: bigint, wordsVersion: bigint): Promise<UnflushedArticle[]>
  /**
   * Leaves out numbers that belong to no article. Snippets have the version `wordsVersion` or a
   * newer one.
   */
  readStored(seqs: bigint[], wordsVersion: bigint): Promise<StoredArticle[]>
  readIds(seqs: bigint[]): Promise<Map<bigint, string>>
  readOutlets(publisherNos: number[]): Promise<Map<number, ArticleOutlet>>
  /**
   * Numbers of the outlets that have one of these domains, among the outlets of articles up to
   * `lastSeq`. A move of an outlet raises the version.
   */
  readPublishers(
    domains: string[],
    state: Pick<IndexState, 'lastSeq' | 'version'>,
  ): Promise<number[]>
  readAuthors(authorNos: number[]): Promise<Map<number, Author>>
  readNames(field: NameField, wanted: NamesWanted): Promise<NameBatch>
  /** The days of all articles up to `lastSeq`, and perhaps of newer ones. */
  readDays(lastSeq: bigint): Promise<{ lastSeq: bigint; days: KnownDays }>
  /**
   * The articles of `seqs` whose words satisfy the expression.
   *
   * @param version of the segments that hold the articles
   * @param pace of the search
   */
  verify(seqs: bigint[], verification: Expression, version: bigint, pace: Pace): Promise<bigint[]>
  /** The fields that segments and filters need, for a range of articles or for single articles. */
  readSources(of: SegmentRange | bigint[]): Promise<SegmentSource[]>
  /** The words of the articles in a range. Reads a limited number at a time. */
  readWords(range: SegmentRange): AsyncIterable<ArticleWords>
}
