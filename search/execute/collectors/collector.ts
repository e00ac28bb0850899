import type { DocValues } from '../../query/filters.ts'
import type { OutletCounts } from '../../segment/columns.ts'
import type { DocIdSet } from '../../segment/doc-id-set.ts'
import type { DocAddress } from '../hit.ts'
import type { Aggregation } from './aggregation.ts'

/** Values of some documents. */
export interface DocReader {
  /** By document, ms since 1970; NaN: none. */
  published: Float64Array
  ingested: Float64Array
  values: DocValues
  /** null: not known but one by one. */
  outlets: OutletCounts | null
  /**
   * Documents before this one stand in order of publication, and the rest has no date; null: the
   * documents stand in order of ingestion.
   */
  dated: number | null
  /** The documents with a term; only of the terms that a collector names. */
  list(term: string): DocIdSet
}

/** A segment, in memory or stored, as collectors see it. */
export interface SegmentReader extends DocReader {
  /**
   * The sort value with which its matches begin, in the order of the search; segments come in this
   * order. ±Infinity: it only has matches without a value. null: its matches may stand anywhere.
   */
  startsAt: number | null
  seqOf(doc: number): bigint
  /** null: not known without a read. */
  idOf(doc: number): string | null
  addressOf(doc: number): DocAddress
}

/**
 * Takes in the matches of each segment (Lucene, tantivy: Collector). Only collectors decide
 * what happens to matches, so a new count or a new order is a new collector.
 */
export interface Collector {
  /** Terms whose posting lists it reads in each segment; absent: none. */
  readonly terms?: readonly string[]
  /** The same, for a part of the index that counts by itself. */
  readonly aggregation: Aggregation
  /** @param matches at least one */
  collect(matches: DocIdSet, segment: SegmentReader): void
  /**
   * Whether the remaining segments cannot change the result, so that the search may stop early.
   *
   * @param next `startsAt` of the next segment
   */
  isComplete(next: number): boolean
}
