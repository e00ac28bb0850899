import type { Expression } from '../query/node.ts'
import { type DocSet, difference, intersection, union } from '../segment/doc-id-set.ts'
import type { Chunk } from './memory-segment.ts'

/**
 * The documents of a chunk that match an expression: exactly those.
 *
 * @param among where phrases are looked for, because the others do not matter; null: everywhere
 */
export function evaluate(expression: Expression, chunk: Chunk, among: DocSet | null = null): DocSet {
  switch (expression.kind) {
    case 'lexeme':
      return chunk.list(expression.lexeme)
    case 'phrase':
      return chunk.phrase(expression.words, expression.scope, among)
    case 'any':
      return union(
        expression.of.map(one => evaluate(one, chunk, among)),
        chunk.documents.length,
      )
    case 'all':
      return intersectionOf(expression.of, chunk, among)
    case 'but':
      return expression.not.reduce(
        (found, one) => (found.count === 0 ? found : difference(found, evaluate(one, chunk, found))),
        evaluate(expression.of, chunk, among),
      )
  }
}

/** What is looked up by itself first, for phrases look at their candidates one by one; nothing more once nothing is left. */
function intersectionOf(parts: Expression[], chunk: Chunk, among: DocSet | null): DocSet {
  const lists = parts.filter(one => one.kind === 'lexeme')
  const others = parts.filter(one => one.kind !== 'lexeme')
  const [first, ...more] = [...lists, ...others]
  return more.reduce(
    (found, one) => (found.count === 0 ? found : intersection(found, evaluate(one, chunk, found))),
    evaluate(first!, chunk, among),
  )
}
