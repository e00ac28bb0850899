import { isFormOf } from '../analysis/index.ts'
import type { Language } from '../vocabulary.ts'
import type { Expression, Leaf } from './parse.ts'

/** The words of an article. */
interface Text {
  title: string[]
  body: string[]
}

/** Whether an article matches an expression. */
export function holds(node: Expression, text: Text, language: Language): boolean {
  switch (node.kind) {
    case 'and':
      return (
        node.of.every(one => holds(one, text, language)) &&
        !node.not.some(one => holds(one, text, language))
      )
    case 'or':
      return node.of.some(one => holds(one, text, language))
    default:
      return (node.inTitle ? [text.title] : [text.title, text.body]).some(words => {
        const lengths = (leaves: Leaf[]) => leaves.map(leaf => lengthAt(leaf, words, language))
        if (node.kind === 'near') return isNear(node.sides.map(lengths), node.most, 0, words.length)
        const [length] = lengths([node])
        return words.some((_, at) => length!(at) > 0)
      })
  }
}

/** How many words of a text match, beginning at a place; 0: no match there. */
export type LengthAt = (at: number) => number

export function lengthAt(leaf: Leaf, words: readonly string[], language: Language): LengthAt {
  if (leaf.kind === 'phrase')
    return at => (leaf.words.every((word, n) => words[at + n] === word) ? leaf.words.length : 0)
  const isForm = isFormOf([leaf.word], language)
  return at => (isForm(words[at]!) ? 1 : 0)
}

/**
 * Whether the words of two sides stand in a text, in either order, with at most `most` words
 * between them. The words of the two sides must not overlap.
 *
 * @param sides two sides, each with its alternatives. One matching alternative is enough.
 */
export function isNear(sides: LengthAt[][], most: number, from: number, to: number): boolean {
  const [left, right] = sides.map(lengths => placesOf(lengths, from, to))
  return follows(left!, right!, most) || follows(right!, left!, most)
}

interface Places {
  starts: number[]
  /** The places right after the found words. */
  ends: Set<number>
}

function placesOf(lengths: LengthAt[], from: number, to: number): Places {
  const places: Places = { starts: [], ends: new Set() }
  for (let at = from; at < to; at++) {
    for (const lengthOf of lengths) {
      const length = lengthOf(at)
      if (length === 0 || at + length > to) continue
      places.starts.push(at)
      places.ends.add(at + length)
    }
  }
  return places
}

const follows = (first: Places, then: Places, most: number): boolean =>
  then.starts.some(start => {
    for (let end = start; end >= start - most; end--) if (first.ends.has(end)) return true
    return false
  })
