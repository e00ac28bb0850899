import type { Queryable } from '../postgres.ts'
import type { BuiltSegment, SegmentSource } from '../segment/builder.ts'
import type { Columns } from '../segment/columns.ts'

/** A range of articles by `seq`, both ends included. */
export interface SegmentRange {
  first: bigint
  last: bigint
}

/** Cuts a range into ranges of at most `size` articles, ascending. */
export function* partsOf({ first, last }: SegmentRange, size: bigint): Generator<SegmentRange> {
  for (let from = first; from <= last; from += size) {
    const to = from + size - 1n
    yield { first: from, last: to < last ? to : last }
  }
}

/** The facts about a stored segment that a search knows before it reads the segment. */
export interface SegmentMeta {
  no: number
  /** `seq` of its first and of its last article. */
  first: bigint
  last: bigint
  /** The term dictionary has 2^bucketBits buckets. */
  bucketBits: number
  /** Earliest and latest time, ms since 1970; null: no article has such a time. */
  published: { first: number; last: number } | null
  ingested: { first: number; last: number } | null
  /** Number of articles without a date of publication. */
  undated: number
  /**
   * The segment of an import, whose articles do not have their numbers and times yet. Its columns
   * are not final.
   */
  imported?: boolean
}

/** Number of articles in a segment. */
export const sizeOf = (segment: SegmentMeta): number => Number(segment.last - segment.first) + 1

/**
 * All segments at one version. Together they hold every article with a `seq` up to `covered`, each
 * once, except the oldest articles if the archive has them. Segments stand in ascending order of
 * `seq`.
 */
export interface IndexMeta {
  version: bigint
  segments: SegmentMeta[]
  covered: bigint
  /** The number of the last removal (`tombstones.ts`). */
  removals: bigint
}

/** The segments changed during a search, so the search restarts. */
export class SegmentsChanged extends Error {
  override name = 'SegmentsChanged'
}

/**
 * The state of the index, which a search reads first. All statements of the search must see this
 * state.
 */
export interface IndexState {
  /** `seq` of the newest visible article: the watermark of a first page (decision 22). */
  lastSeq: bigint
  /** Version of the segments (`IndexMeta`). */
  version: bigint
  /**
   * Version of the words of articles that have no segment yet, and of all snippets. `reindex`
   * raises it, and so does the withdrawal of snippets.
   */
  wordsVersion: bigint
}

/** Identifies the posting list of a term in a segment. */
export interface ListKey {
  segment: SegmentMeta
  term: string
}

/** All buckets of a segment: bucket n is `blocks` from `starts[n]` to before `starts[n + 1]`. */
export interface TermDictionary {
  blocks: Buffer
  starts: Uint32Array
}

/**
 * Reads stored segments for searches. `version` is the version with which the search began.
 * Articles may have moved to other segments since then. So every method that takes it, except
 * `readMeta`, throws `SegmentsChanged` when the stored segments have another version.
 *
 * Segments that are not used yet are read ahead. A segment never changes, and no other segment gets
 * its number, except after a failover. So the read data is complete if the segment is still stored
 * afterwards.
 */
export interface SegmentStore {
  readSnapshot(): Promise<IndexState>
  /** All present segments. Their version may be newer than `version`. */
  readMeta(version: bigint): Promise<IndexMeta>
  /** The numbers of the articles that were taken out after a removal. */
  readRemoved(after: bigint, version: bigint): Promise<number[]>
  /** Columns of segments, with the bytes that they take in memory. */
  readColumns(
    segmentNos: number[],
    version: bigint,
  ): Promise<{ no: number; columns: Columns; bytes: number }[]>
  /**
   * For each key, the bucket of its term, in the order of the keys. undefined: the segment does not
   * have the term.
   *
   * @param version null: the segments are not used yet
   */
  readBuckets(keys: ListKey[], version: bigint | null): Promise<(Buffer | undefined)[]>
  /** @param version null: the segment is not used yet */
  readDictionary(segment: SegmentMeta, version: bigint | null): Promise<TermDictionary>
  /** The words of a segment, each once, between line breaks (`segment/lexicon.ts`). */
  readLexicon(segment: SegmentMeta, version: bigint): Promise<Buffer>
  /** The segments that are stored and not used yet. */
  readAhead(): Promise<SegmentMeta[]>
  /**
   * Columns of a segment that is not used yet, with their bytes. Null: the segment was used or
   * removed.
   */
  readColumnsAhead(segmentNo: number): Promise<{ columns: Columns; bytes: number } | null>
  /** Whether a segment is stored. It may be in use, or stored ahead. */
  isStored(segmentNo: number): Promise<boolean>
}

/** The number of a segment, and `seq` of its first article. */
export interface NumberedSegment {
  no: number
  first: bigint
  /** The digest of the ids of its articles; null: an earlier version stored the segment. */
  digest: Buffer | null
  /** Whether its bytes have no word of an article that was taken out. */
  isClear: boolean
}

/** A segment that is ready to be stored. */
export interface NewSegment {
  range: SegmentRange
  articles: SegmentSource[]
  built: BuiltSegment
  /** The number of the last removal before its words were read; absent: not known. */
  cleared?: bigint
}

/** Kinds of work that at most one process does at a time. */
export type SegmentWork = 'flush' | 'merge'

export interface Statement {
  /**
   * The statement is prepared under this name. The log of a slow request shows this name if it
   * waited for the statement.
   */
  name?: string
  text: string
  values?: unknown[]
}

/**
 * The state of the index that a server must have before it may run a statement. `lastSeq` is the
 * newest article that the statement reads, and the server may have newer ones. The server must have
 * exactly the given versions.
 */
export type NeededState = Partial<IndexState>

/** Tests whether rows are complete. A server that lags may lack some. */
export type IsWhole<Row> = (rows: Row[]) => boolean

/** Standby servers: they follow the primary, and have the same index a moment later. */
export interface Standbys {
  /**
   * The rows of a statement, from a standby that has the needed state. Never throws.
   *
   * @returns null: no standby has the state, or none answers. The caller then asks the primary.
   */
  rows<Row>(
    statement: Statement,
    needed: NeededState,
    isWhole?: IsWhole<Row>,
  ): Promise<Row[] | null>
}

/** Runs the statements of searches. Every statement names the state that it needs. */
export interface IndexReads {
  /** Runs a statement on the primary, because it must see the newest state. */
  newest<Row>(statement: Statement): Promise<Row[]>
  /** Runs a statement on any server that has the needed state. The primary always has it. */
  rows<Row>(statement: Statement, needed: NeededState, isWhole?: IsWhole<Row>): Promise<Row[]>
}

/** The name for waits of statements without a name. */
const UNNAMED = 'search'

/** Waits for work, and records under a name how long it took. */
export type WaitFor = <T>(name: string, work: Promise<T>) => Promise<T>
export const justWait: WaitFor = (_, work) => work

/** @param primary a pool whose connections have `SEARCH_SETTINGS` */
export function openReads(
  primary: Queryable,
  standbys?: Standbys,
  waitFor: WaitFor = justWait,
): IndexReads {
  const newest = async <Row>(statement: Statement): Promise<Row[]> => {
    const { rows } = await waitFor(statement.name ?? UNNAMED, primary.query(statement))
    return rows
  }
  if (standbys === undefined) return { newest, rows: newest }
  return {
    newest,
    rows: async <Row>(statement: Statement, needed: NeededState, isWhole?: IsWhole<Row>) => {
      const rows = await waitFor(
        `${statement.name ?? UNNAMED} of a standby`,
        standbys.rows(statement, needed, isWhole),
      )
      return rows ?? (await newest<Row>(statement))
    },
  }
}

/** The highest of some numbers of articles; 0: the list is empty. */
export const newestOf = (seqs: bigint[]): bigint => seqs.reduce((a, b) => (a > b ? a : b), 0n)
