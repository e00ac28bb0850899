import type { Client } from '../../shared/postgres/pool.ts'
import type { SegmentMeta, SegmentRange } from './segment-store.ts'

/**
 * An index of the archive as a search knows it: the articles from `first` to `last` are searchable
 * in it.
 */
export interface ArchiveIndex extends Pick<SegmentMeta, 'first' | 'last' | 'published' | 'ingested' | 'undated'> {
  name: string
}

/** All indices that serve, at one version of the segments, ascending and without a gap. */
export interface ArchiveMeta {
  indices: ArchiveIndex[]
  /** Articles up to this `seq` are matched in the archive. */
  covered: bigint
}

export const NO_ARCHIVE: ArchiveMeta = { indices: [], covered: 0n }

/** An index of the archive as it is filled. */
export interface ArchiveIndexState {
  name: string
  range: SegmentRange
  filledTo: bigint
  /**
   * `building`: it will replace the serving index of its range. `retired`: it is to be deleted in
   * OpenSearch.
   */
  state: 'building' | 'serving' | 'retired'
  /** Version of its documents. */
  analysis: number
}

/** The times of the articles that an index has got. */
export interface Filled {
  published: { first: number; last: number } | null
  ingested: { first: number; last: number } | null
  undated: number
}

/** Where the state of the archive is stored. Every change that searches see raises the version. */
export interface ArchiveStore {
  /** @throws SegmentsChanged when the segments have another version */
  readMeta(version: bigint): Promise<ArchiveMeta>
  /** All indices, in ascending order of their ranges. */
  readIndices(): Promise<ArchiveIndexState[]>
  /** Adds an index before it is made in OpenSearch, so that an interrupted run leaves no orphan. */
  add(index: ArchiveIndexState): Promise<void>
  /** Articles up to `filledTo` are searchable; `filled` are the times of those that are new. */
  advance(name: string, filledTo: bigint, filled: Filled): Promise<void>
  /** The building index of a range serves from now on; the one that it replaces is retired. */
  replace(name: string): Promise<void>
  /** All serving indices are to be built anew. */
  markStale(names: readonly string[]): Promise<void>
  /** These indices are used no more; none of them serves. */
  retire(names: readonly string[]): Promise<void>
  /** No index serves any more. */
  retireAll(): Promise<void>
  /** Forgets a retired index. */
  forget(name: string): Promise<void>
  /**
   * Drops the oldest segments whose articles the archive has; the newest segment stays.
   *
   * @returns articles whose segments were dropped; 0: there are no more
   */
  releaseNext(): Promise<number>
  /** Up to which `seq` articles have no segment. */
  readReleasedTo(): Promise<bigint>
  /** For the transaction that stores a segment of released articles again. */
  restored(client: Client, releasedTo: bigint): Promise<void>
  /** Runs work while no other process fills the archive. @returns null: another one does */
  exclusively<T>(work: () => Promise<T>): Promise<T | null>
}
