import type { QueryNode } from '../query/node.ts'
import { type DocIdSet, difference, intersection, union } from '../segment/doc-id-set.ts'
import type { MemorySegment } from './memory-segment.ts'

/** The parts of an in-memory segment that a query is evaluated on. */
export type Evaluated = Pick<MemorySegment, 'documents' | 'list' | 'phrase'>

/**
 * The documents of an in-memory segment that match a query, exactly.
 *
 * @param within the only documents of interest, so phrases are looked for in these alone; null: all
 */
export function evaluate(node: QueryNode, segment: Evaluated, within: DocIdSet | null = null): DocIdSet {
  switch (node.kind) {
    case 'term':
      return segment.list(node.term)
    case 'phrase':
      return segment.phrase(node.words, node.scope, within)
    case 'or':
      return union(
        node.of.map(clause => evaluate(clause, segment, within)),
        segment.documents.length,
      )
    case 'and':
      return conjunction(node.of, segment, within)
    case 'andNot':
      return node.not.reduce(
        (found, clause) => (found.count === 0 ? found : difference(found, evaluate(clause, segment, found))),
        evaluate(node.of, segment, within),
      )
  }
}

/**
 * Terms are evaluated first, because a phrase looks at its candidates one by one. Stops when
 * nothing is left.
 */
function conjunction(clauses: QueryNode[], segment: Evaluated, within: DocIdSet | null): DocIdSet {
  const terms = clauses.filter(clause => clause.kind === 'term')
  const others = clauses.filter(clause => clause.kind !== 'term')
  const [first, ...more] = [...terms, ...others]
  return more.reduce(
    (found, clause) => (found.count === 0 ? found : intersection(found, evaluate(clause, segment, found))),
    evaluate(first!, segment, within),
  )
}
