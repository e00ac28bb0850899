/** A query as a syntax tree. It is evaluated on in-memory segments and on stored ones. */
export type QueryNode =
  | { kind: 'term'; term: string }
  /** Two words or more, in order and side by side, within the title or within the body. */
  | { kind: 'phrase'; words: string[]; scope: 'title' | 'title_body' }
  /** At least one clause each. */
  | { kind: 'and'; of: QueryNode[] }
  | { kind: 'or'; of: QueryNode[] }
  | { kind: 'andNot'; of: QueryNode; not: QueryNode[] }

export const term = (text: string): QueryNode => ({ kind: 'term', term: text })

/** @param of at least one clause; nested conjunctions become one */
export function and(of: QueryNode[]): QueryNode {
  const clauses = of.flatMap(node => (node.kind === 'and' ? node.of : [node]))
  return clauses.length === 1 ? clauses[0]! : { kind: 'and', of: clauses }
}

/** @param of at least one clause */
export const or = (of: QueryNode[]): QueryNode => (of.length === 1 ? of[0]! : { kind: 'or', of })

export const andNot = (of: QueryNode, not: QueryNode[]): QueryNode =>
  not.length === 0 ? of : { kind: 'andNot', of, not }
