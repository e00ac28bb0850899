import { type DocSet, difference, intersection, union } from '../../../../shared/segments/doc-set.ts'
import type { Expression } from '../expression.ts'
import type { Chunk } from './chunk.ts'

/** The documents of a chunk that match an expression: exactly those. */
export function evaluate(expression: Expression, chunk: Chunk): DocSet {
  switch (expression.kind) {
    case 'lexeme':
      return chunk.list(expression.lexeme)
    case 'phrase':
      return chunk.phrase(expression.words, expression.scope)
    case 'any':
      return union(
        expression.of.map(one => evaluate(one, chunk)),
        chunk.documents.length,
      )
    case 'all':
      return intersectionOf(expression.of, chunk)
    case 'but':
      return expression.not.reduce(
        (found, one) => (found.count === 0 ? found : difference(found, evaluate(one, chunk))),
        evaluate(expression.of, chunk),
      )
  }
}

/** What is looked up first, phrases last, whose candidates are looked at one by one; nothing more once nothing is left. */
function intersectionOf(parts: Expression[], chunk: Chunk): DocSet {
  const lists = parts.filter(one => one.kind !== 'phrase')
  const phrases = parts.filter(one => one.kind === 'phrase')
  const [first, ...others] = [...lists, ...phrases]
  return others.reduce(
    (found, one) => (found.count === 0 ? found : intersection(found, evaluate(one, chunk))),
    evaluate(first!, chunk),
  )
}
