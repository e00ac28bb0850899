import type { MemorySegment } from '../memory/memory-segment.ts'
import type { SegmentMeta } from '../store/segment-store.ts'

/** A match that may stand on the page, with what its place in the order depends on. */
export interface Hit {
  seq: bigint
  /** null: not read yet; it decides only among equals. */
  id: string | null
  /** The sort value, ms since 1970; null sorts last. */
  value: number | null
  /** null: not known yet; it decides only among equals. */
  score: number | null
  address: DocAddress
}

/** Where a document is (tantivy: DocAddress). */
export type DocAddress =
  | { kind: 'memory'; segment: MemorySegment; doc: number }
  | { kind: 'stored'; segment: SegmentMeta; doc: number }
  /** Its id and its score are known. */
  | { kind: 'archive' }
