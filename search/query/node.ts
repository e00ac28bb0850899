/**
 * What is asked of the index of words: evaluated on the lists of fresh articles in memory, and on those of segments.
 */
export type Expression =
  | { kind: 'lexeme'; lexeme: string }
  /** Two words or more, in order and side by side, within the title or within the body. */
  | { kind: 'phrase'; words: string[]; scope: 'title' | 'title_body' }
  /** At least one part each. */
  | { kind: 'all'; of: Expression[] }
  | { kind: 'any'; of: Expression[] }
  | { kind: 'but'; of: Expression; not: Expression[] }

export const lexeme = (text: string): Expression => ({ kind: 'lexeme', lexeme: text })

/** @param of at least one */
export function allOf(of: Expression[]): Expression {
  const parts = of.flatMap(one => (one.kind === 'all' ? one.of : [one]))
  return parts.length === 1 ? parts[0]! : { kind: 'all', of: parts }
}

/** @param of at least one */
export const anyOf = (of: Expression[]): Expression => (of.length === 1 ? of[0]! : { kind: 'any', of })

export const but = (of: Expression, not: Expression[]): Expression => (not.length === 0 ? of : { kind: 'but', of, not })
