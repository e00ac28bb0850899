import type { Expression } from '../query/node.ts'
import { type DocSet, difference, emptySet, intersection, intersectionOf, union } from '../segment/doc-id-set.ts'
import { isFrequent, NEIGHBOURS } from '../segment/shingles.ts'
import { LEXEMES } from '../terms.ts'

/** What the lists say of a segment's documents: `sure` match, those not in `maybe` do not, the rest has to be looked at. */
export interface Reading {
  sure: DocSet
  maybe: DocSet
}

/** The documents with a lexeme; null: not read yet, and noted to be. What is evaluated then is worth nothing. */
export type Lists = (lexeme: string) => DocSet | null

/**
 * @param size documents of the segment
 * @param among the only documents that matter: what is said of others is worth nothing. Given where looking at these alone
 *   takes less than a step on all; null: all
 */
export type Evaluate = (list: Lists, size: number, among: DocSet | null) => Reading

/** Documents that are so few are handed on to what is evaluated next: looking at them takes less than a step on all. */
const isFew = (set: DocSet) => set.kind === 'list' && set.count * 64 <= set.size

const within = (set: DocSet, among: DocSet | null) => (among === null ? set : intersection(among, set))

const byCount = (a: Reading, b: Reading) => a.maybe.count - b.maybe.count

/** How an expression is evaluated on the lists of a segment; what is the same in every segment is done here, once. */
export function evaluation(expression: Expression): Evaluate {
  switch (expression.kind) {
    case 'lexeme':
      return (list, size, among) => exactly(within(list(expression.lexeme) ?? emptySet(size), among))
    case 'any': {
      const parts = expression.of.map(evaluation)
      return (list, size, among) => {
        const read = parts.map(part => part(list, size, among))
        const sure = union(
          read.map(part => part.sure),
          size,
        )
        if (read.every(isExact)) return exactly(sure)
        return {
          sure,
          maybe: union(
            read.map(part => part.maybe),
            size,
          ),
        }
      }
    }
    case 'all': {
      const lexemes = expression.of.flatMap(one => (one.kind === 'lexeme' ? [one.lexeme] : []))
      const others = expression.of.filter(one => one.kind !== 'lexeme').map(evaluation)
      return (list, size, among) => {
        const lists = lexemes.map(list)
        const known = lists.filter(set => set !== null)
        let few = among
        let read = known.map(exactly)
        if (known.length < lists.length) {
          // It is evaluated again: now the others need only say which lists they want.
          few = emptySet(size)
        } else if (known.some(set => set.kind === 'list')) {
          const found = intersectionOf(known)
          if (found.count === 0) return exactly(found)
          if (isFew(found)) few = found
          read = [exactly(found)]
        }
        for (const other of others) {
          const reading = other(list, size, few)
          if (isFew(reading.maybe)) few = reading.maybe
          read.push(reading)
        }
        if (read.length === 0) return exactly(emptySet(size))
        if (read.every(isExact)) return exactly(intersectionOf(read.map(one => one.sure)))
        // The fewest first: what is left of them is looked for in the others.
        return read.sort(byCount).reduce((a, b) => {
          const sure = intersection(a.sure, b.sure)
          return isExact(a) && isExact(b) ? exactly(sure) : { sure, maybe: intersection(a.maybe, b.maybe) }
        })
      }
    }
    case 'but': {
      const of = evaluation(expression.of)
      const not = expression.not.map(evaluation)
      return (list, size, among) =>
        not.reduce(
          (a, part) => {
            const b = part(list, size, isFew(a.maybe) ? a.maybe : among)
            const sure = difference(a.sure, b.maybe)
            return isExact(a) && isExact(b) ? exactly(sure) : { sure, maybe: difference(a.maybe, b.sure) }
          },
          of(list, size, among),
        )
    }
    case 'phrase':
      return expression.scope === 'title' ? titlePhrase(expression.words) : phrase(expression.words)
  }
}

export const isExact = ({ sure, maybe }: Reading) => sure === maybe || sure.count === maybe.count

const exactly = (set: DocSet): Reading => ({ sure: set, maybe: set })

/** See `search/segment/shingles.ts`. A list of its own for two words, or for three frequent ones, is the answer. */
function phrase(words: string[]): Evaluate {
  const two = neighbours(words).map(([first, second]) => ({
    own: NEIGHBOURS.pair(first, second),
    // What a document must hold that has two words side by side which have no list of their own.
    unlisted: [NEIGHBOURS.sharedPair(first, second), LEXEMES.word(first), LEXEMES.word(second)],
  }))
  const three = words.slice(2).map((third, at) => ({
    own: NEIGHBOURS.triple(words[at]!, words[at + 1]!, third),
    shared: NEIGHBOURS.sharedTriple(words[at]!, words[at + 1]!, third),
  }))
  return (list, size, among) => {
    const nothing = emptySet(size)
    const pairs = two.map(pair => list(pair.own))
    // What else is to be read depends on which pairs have lists.
    if (!pairs.every(pair => pair !== null)) return exactly(nothing)
    if (pairs.length === 1 && pairs[0]!.count > 0) return exactly(within(pairs[0]!, among))
    const bounds: DocSet[] = among === null ? [] : [among]
    pairs.forEach((pair, at) => {
      if (pair.count > 0) bounds.push(pair)
      else for (const lexeme of two[at]!.unlisted) bounds.push(list(lexeme) ?? nothing)
    })
    for (const [at, { own, shared }] of three.entries()) {
      if (!isFrequent(pairs[at]!.count, size) || !isFrequent(pairs[at + 1]!.count, size)) continue
      const triple = list(own)
      if (triple !== null && triple.count > 0) {
        if (pairs.length === 2) return exactly(within(triple, among))
        bounds.push(triple)
      } else if (triple !== null) bounds.push(list(shared) ?? nothing)
    }
    return { sure: nothing, maybe: intersectionOf(bounds) }
  }
}

function titlePhrase(words: string[]): Evaluate {
  const [only, ...more] = neighbours(words)
  const pairLexeme = only !== undefined && more.length === 0 ? NEIGHBOURS.titlePair(...only) : null
  const titleWords = words.map(word => LEXEMES.titleWord(word))
  const anywhere = phrase(words)
  return (list, size, among) => {
    const nothing = emptySet(size)
    if (pairLexeme !== null) {
      const pair = list(pairLexeme)
      if (pair === null) return exactly(nothing)
      if (pair.count > 0) return exactly(within(pair, among))
    }
    const inTitle = titleWords.map(word => list(word) ?? nothing)
    const found = intersectionOf(among === null ? inTitle : [among, ...inTitle])
    return found.count === 0 ? exactly(found) : { sure: nothing, maybe: anywhere(list, size, found).maybe }
  }
}

function neighbours(words: string[]): [string, string][] {
  return words.slice(1).map((word, index) => [words[index]!, word])
}
