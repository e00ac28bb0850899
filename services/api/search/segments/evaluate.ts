import { type DocSet, difference, emptySet, intersection, union } from '../../../../shared/segments/doc-set.ts'
import { isFrequent, NEIGHBOURS } from '../../../../shared/segments/neighbours.ts'
import { LEXEMES } from '../../../../shared/text/lexemes.ts'
import type { Expression } from '../expression.ts'

/** What the lists say of a segment's documents: `sure` match, those not in `maybe` do not, the rest has to be looked at. */
export interface Reading {
  sure: DocSet
  maybe: DocSet
}

/** The documents with a lexeme; null: not read yet, and noted to be. What is evaluated then is worth nothing. */
export type Lists = (lexeme: string) => DocSet | null

/**
 * Evaluates an expression on the lists of one segment.
 *
 * @param size documents of the segment
 */
export function evaluate(expression: Expression, list: Lists, size: number): Reading {
  const read = (one: Expression) => evaluate(one, list, size)
  switch (expression.kind) {
    case 'lexeme':
      return exactly(list(expression.lexeme) ?? emptySet(size))
    case 'any': {
      const parts = expression.of.map(read)
      const sure = union(
        parts.map(part => part.sure),
        size,
      )
      if (parts.every(isExact)) return exactly(sure)
      return {
        sure,
        maybe: union(
          parts.map(part => part.maybe),
          size,
        ),
      }
    }
    case 'all':
      return expression.of.map(read).reduce((a, b) => {
        const sure = intersection(a.sure, b.sure)
        return isExact(a) && isExact(b) ? exactly(sure) : { sure, maybe: intersection(a.maybe, b.maybe) }
      })
    case 'but':
      return expression.not.map(read).reduce((a, b) => {
        const sure = difference(a.sure, b.maybe)
        return isExact(a) && isExact(b) ? exactly(sure) : { sure, maybe: difference(a.maybe, b.sure) }
      }, read(expression.of))
    case 'phrase':
      return expression.scope === 'title'
        ? titlePhrase(expression.words, list, size)
        : phrase(expression.words, list, size)
  }
}

export const isExact = ({ sure, maybe }: Reading) => sure === maybe || sure.count === maybe.count

const exactly = (set: DocSet): Reading => ({ sure: set, maybe: set })

/** See `shared/segments/neighbours.ts`. A list of its own for two words, or for three frequent ones, is the answer. */
function phrase(words: string[], list: Lists, size: number): Reading {
  const nothing = emptySet(size)
  const pairs = neighbours(words).map(([first, second]) => list(NEIGHBOURS.pair(first, second)))
  // What else is to be read depends on which pairs have lists.
  if (!pairs.every(pair => pair !== null)) return exactly(nothing)
  if (pairs.length === 1 && pairs[0]!.count > 0) return exactly(pairs[0]!)
  const bounds: DocSet[] = []
  neighbours(words).forEach(([first, second], at) => {
    const pair = pairs[at]!
    if (pair.count > 0) bounds.push(pair)
    else bounds.push(...unlisted(first, second).map(lexeme => list(lexeme) ?? nothing))
  })
  for (let at = 1; at < pairs.length; at++) {
    if (!isFrequent(pairs[at - 1]!.count, size) || !isFrequent(pairs[at]!.count, size)) continue
    const three = [words[at - 1]!, words[at]!, words[at + 1]!] as const
    const triple = list(NEIGHBOURS.triple(...three))
    if (triple !== null && triple.count > 0) {
      if (pairs.length === 2) return exactly(triple)
      bounds.push(triple)
    } else if (triple !== null) bounds.push(list(NEIGHBOURS.sharedTriple(...three)) ?? nothing)
  }
  return { sure: nothing, maybe: bounds.reduce(intersection) }
}

function titlePhrase(words: string[], list: Lists, size: number): Reading {
  const nothing = emptySet(size)
  const [only, ...more] = neighbours(words)
  if (only !== undefined && more.length === 0) {
    const pair = list(NEIGHBOURS.titlePair(...only))
    if (pair === null) return exactly(nothing)
    if (pair.count > 0) return exactly(pair)
  }
  const inTitle = words.map(word => list(LEXEMES.titleWord(word)) ?? nothing).reduce(intersection)
  if (inTitle.count === 0) return exactly(inTitle)
  return { sure: nothing, maybe: intersection(inTitle, phrase(words, list, size).maybe) }
}

/** What a document must hold that has two words side by side which have no list of their own. */
function unlisted(first: string, second: string): string[] {
  return [NEIGHBOURS.sharedPair(first, second), LEXEMES.word(first), LEXEMES.word(second)]
}

function neighbours(words: string[]): [string, string][] {
  return words.slice(1).map((word, index) => [words[index]!, word])
}
