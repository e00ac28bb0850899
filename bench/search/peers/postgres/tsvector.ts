/** Limits of one `tsvector` (its manual, "Text Search Limitations"). */
export const TSVECTOR_LIMITS = {
  /** The highest position; Postgres lowers higher ones to it. */
  position: 16_383,
  /** Positions of one lexeme. */
  positions: 255,
  /**
   * Bytes of all lexemes and positions; our limit leaves room for those that the indexing
   * transaction adds.
   */
  bytes: 1_048_575 - 1_024,
} as const

/** Lexemes with their positions in ascending order; empty: without. */
export type Lexemes = Map<string, number[]>

/** The text form of a `tsvector`. Positions must be within the limits. */
export function writeTsvector(lexemes: Lexemes): string {
  const parts: string[] = []
  for (const [lexeme, positions] of lexemes) {
    parts.push(positions.length === 0 ? quote(lexeme) : `${quote(lexeme)}:${positions.join(',')}`)
  }
  return parts.join(' ')
}

/**
 * Bytes that Postgres will count towards its limit; each list of positions is aligned and has a
 * counter.
 */
export function tsvectorBytes(lexemes: Lexemes): number {
  let bytes = 0
  for (const [lexeme, positions] of lexemes) {
    bytes += Buffer.byteLength(lexeme) + (positions.length === 0 ? 0 : 3 + 2 * positions.length)
  }
  return bytes
}

/** A lexeme as `tsvector` and `tsquery` read it. */
export function quote(lexeme: string): string {
  return `'${lexeme.replace(/['\\]/g, '$&$&')}'`
}
