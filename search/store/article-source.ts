import type { Axis, TimeSpan } from '../query/filters.ts'
import type { Expression } from '../query/parse.ts'
import type { SegmentSource } from '../segment/builder.ts'
import type { NameField } from '../terms.ts'
import type { ArticleOutlet, Country, Language } from '../vocabulary.ts'
import type { SegmentRange } from './segment-store.ts'

/** The stored fields of an article. */
export interface StoredArticle {
  seq: bigint
  id: string
  title: string
  url: string
  snippet: string | null
  published_at: Date | null
  ingested_at: Date | null
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

/** Names of outlets or authors. An outlet has two: its name and its domain. */
export interface NameBatch {
  /** The number of each name. Names of one outlet or author stand side by side. */
  nos: Int32Array
  /** The folded names in UTF-8, with a line break after each. */
  names: Uint8Array
}

/** Outlets or authors by their numbers, or the next ones after a number, ascending. */
export type NamesWanted = number[] | { after: number; limit: number }

/**
 * For each axis: from the first day that has articles to the end of the last one; null: no article
 * has the time.
 */
export type KnownDays = Record<Axis, TimeSpan | null>

/** Where the search engine reads articles and their words. */
export interface ArticleSource {
  /**
   * Articles after one `seq` up to another, ascending, with words of this version or a newer one.
   */
  readNew(after: bigint, to: bigint, wordsVersion: bigint): Promise<UnflushedArticle[]>
  /** Numbers that are no article's are left out. Snippets are of this version, or newer. */
  readStored(seqs: bigint[], wordsVersion: bigint): Promise<StoredArticle[]>
  readIds(seqs: bigint[]): Promise<Map<bigint, string>>
  readOutlets(publisherNos: number[]): Promise<Map<number, ArticleOutlet>>
  /**
   * Numbers of the outlets with one of these domains, among the outlets of articles up to
   * `lastSeq`.
   */
  readPublishers(domains: string[], lastSeq: bigint): Promise<number[]>
  readAuthors(authorNos: number[]): Promise<Map<number, Author>>
  readNames(field: NameField, wanted: NamesWanted): Promise<NameBatch>
  /** The days of all articles up to `lastSeq`, and perhaps of newer ones. */
  readDays(lastSeq: bigint): Promise<{ lastSeq: bigint; days: KnownDays }>
  /**
   * The articles of `seqs` whose words pass the verification.
   *
   * @param version of the segments that the articles are in
   */
  verify(seqs: bigint[], verification: Expression, version: bigint): Promise<bigint[]>
  /** The fields that a segment and filters need, of a range of articles or of single ones. */
  readSources(of: SegmentRange | bigint[]): Promise<SegmentSource[]>
  /** Words of the articles of a range, a limited number at a time. */
  readWords(range: SegmentRange): AsyncIterable<ArticleWords>
}
