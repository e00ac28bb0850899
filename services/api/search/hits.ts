import type { Segment } from './segments/catalogue.ts'

/** A match and its place in the order of the set. */
export interface Hit {
  seq: bigint
  /** null: not read yet; it decides only among equals. */
  id: string | null
  /** ms since 1970; null sorts last. */
  value: number | null
  /** How closely it matches; null: not known yet. */
  rank: number | null
  /** Where it stands if not among the fresh articles. */
  at: { segment: Segment; doc: number } | null
}
