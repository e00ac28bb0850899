import type { Chunk } from '../memory/memory-segment.ts'
import type { Segment } from '../store/segment-store.ts'

/** A match and its place in the order of the set. */
export interface Hit {
  seq: bigint
  /** null: not read yet; it decides only among equals. */
  id: string | null
  /** ms since 1970; null sorts last. */
  value: number | null
  /** How closely it matches; null: not known yet. */
  rank: number | null
  place: FreshPlace | SegmentPlace
}

export interface FreshPlace {
  kind: 'fresh'
  chunk: Chunk
  doc: number
}

export interface SegmentPlace {
  kind: 'segment'
  segment: Segment
  doc: number
}
