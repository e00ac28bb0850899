/** Lexemes with their positions in ascending order; empty: without. */
export type Lexemes = Map<string, number[]>

/** The text form of a `tsvector`. Positions must be within its limits, 16,383 and 255 a lexeme. */
export function writeTsvector(lexemes: Lexemes): string {
  const parts: string[] = []
  for (const [lexeme, positions] of lexemes) {
    parts.push(positions.length === 0 ? quote(lexeme) : `${quote(lexeme)}:${positions.join(',')}`)
  }
  return parts.join(' ')
}

/** A lexeme as `tsvector` and `tsquery` read it. */
export function quote(lexeme: string): string {
  return `'${lexeme.replace(/['\\]/g, '$&$&')}'`
}
