import type { DocumentWords } from '../analysis/index.ts'
import { isWildcard, wildcardTest } from '../analysis/wildcard.ts'
import { grown } from '../segment/arrays.ts'
import { memoised } from '../segment/word-ids.ts'
import type { Language } from '../vocabulary.ts'
import { type Expression, type Leaf, type Near, partsIn } from './parse.ts'
import { createReadWords, type ReadWords, type WordNumbers } from './word-numbers.ts'

/*
 * Expressions on the words of an article. One pass over the words finds all operands: a table tells
 * for each word which operands may begin there. So an expression with 60 operands takes hardly
 * longer than one with two.
 */

/** Finds operands in texts. A text is a range of numbers of words. */
export interface OperandFinder {
  /** The number of an operand among those that the finder looks for. */
  numberOf(leaf: Leaf): number
  /**
   * Finds all operands in the words from `from` to before `to`.
   *
   * @returns for each operand the places where it begins, ascending. The next call may overwrite
   *   them when it gets the same `into`
   */
  find(ids: Int32Array, from: number, to: number, language: Language, into: Places): Places
  /** How many words the operand has. */
  lengthOf(operand: number): number
}

/** For each operand the places where it begins. */
type Places = number[][]

/** What `table` below says of a word; higher numbers are classes, counted from `FIRST`. */
const UNKNOWN = 0
const NOTHING = 1
const FIRST = 2

/** What a finder knows of a language. */
interface Table {
  /** For each word: whether it is known, or the class of the operands that may begin with it. */
  table: Int32Array
  classes: number[][]
  byWord: Map<number, number[]>
  byStem: Map<number, number[]>
  byWildcard: Map<number, number[]>
  stemOf: (word: number) => number
}

export function createFinder(leaves: readonly Leaf[], numbers: WordNumbers): OperandFinder {
  const operands = new Map<string, { leaf: Leaf; words: number[]; no: number }>()
  const wildcards = createWildcards(numbers.text)
  for (const leaf of leaves) {
    if (operands.has(nameOf(leaf))) continue
    const words =
      leaf.kind === 'phrase'
        ? leaf.words.map(word => (isWildcard(word) ? wildcards.numberOf(word) : numbers.word(word)))
        : []
    operands.set(nameOf(leaf), { leaf, words, no: operands.size })
  }
  const all = [...operands.values()]
  const tables = new Map<Language, Table>()

  function tableOf(language: Language): Table {
    const known = tables.get(language)
    if (known !== undefined) return known
    const byWord = new Map<number, number[]>()
    const byStem = new Map<number, number[]>()
    const byWildcard = new Map<number, number[]>()
    const add = (to: Map<number, number[]>, key: number, no: number) =>
      to.set(key, [...(to.get(key) ?? []), no])
    for (const { leaf, words, no } of all) {
      if (leaf.kind === 'phrase') {
        add(words[0]! <= WILDCARD ? byWildcard : byWord, words[0]!, no)
        continue
      }
      // A stop word of the language has no other forms there (decision 17).
      const stem = numbers.stem(language, leaf.word)
      if (stem === null) add(byWord, numbers.word(leaf.word), no)
      else if (stem >= 0) add(byStem, stem, no)
    }
    const stemOf = byStem.size === 0 ? () => -1 : numbers.stemsOf(language)
    const made = {
      table: new Int32Array(1 << 12),
      classes: [],
      byWord,
      byStem,
      byWildcard,
      stemOf,
    }
    tables.set(language, made)
    return made
  }

  return {
    numberOf: leaf => operands.get(nameOf(leaf))!.no,
    lengthOf: operand => all[operand]!.words.length || 1,
    find(ids, from, to, language, into) {
      const of = tableOf(language)
      for (const no of all.keys()) {
        if (into[no] === undefined) into[no] = []
        else into[no].length = 0
      }
      for (let at = from; at < to; at++) {
        const own = classOf(of, ids[at]!, wildcards)
        if (own === NOTHING) continue
        for (const no of of.classes[own - FIRST]!)
          if (stands(all[no]!.words, ids, at, to, wildcards)) into[no]!.push(at)
      }
      return into
    },
  }
}

function classOf(of: Table, word: number, wildcards: Wildcards): number {
  if (word >= of.table.length) of.table = grown(of.table, new Int32Array(word * 2))
  const known = of.table[word]!
  if (known !== UNKNOWN) return known
  const found = [
    ...(of.byWord.get(word) ?? []),
    ...(of.byStem.get(of.stemOf(word)) ?? []),
    ...[...of.byWildcard].flatMap(([wildcard, nos]) =>
      wildcards.standsFor(wildcard, word) ? nos : [],
    ),
  ]
  const own = found.length === 0 ? NOTHING : FIRST + of.classes.push(found) - 1
  of.table[word] = own
  return own
}

/** Whether words stand at a place, when the first of them is known to. */
function stands(
  words: readonly number[],
  ids: Int32Array,
  at: number,
  to: number,
  { standsFor }: Wildcards,
): boolean {
  const isAt = (word: number, id: number) => (word <= WILDCARD ? standsFor(word, id) : word === id)
  let same = 1
  while (same < words.length && at + same < to && isAt(words[same]!, ids[at + same]!)) same++
  return same >= words.length
}

/** The number of the first wildcard. Others have lower numbers, and words higher ones. */
const WILDCARD = -2

/** The wildcards of a finder, by number. */
interface Wildcards {
  numberOf(wildcard: string): number
  standsFor(wildcard: number, word: number): boolean
}

/** @param text a word by its number */
function createWildcards(text: (word: number) => string): Wildcards {
  const tests: ((word: number) => number)[] = []
  return {
    numberOf(wildcard) {
      const test = wildcardTest(wildcard)
      tests.push(memoised(word => (test(text(word)) ? 1 : 0)))
      return WILDCARD - tests.length + 1
    },
    standsFor: (wildcard, word) => tests[WILDCARD - wildcard]!(word) === 1,
  }
}

/** Operands that differ only in `inTitle` are found together. No word contains a space. */
const nameOf = (leaf: Leaf) => (leaf.kind === 'forms' ? `~${leaf.word}` : leaf.words.join(' '))

/**
 * Whether the words of two sides stand in a text, in either order, with at most `most` words
 * between them. The words of the two sides must not overlap. One operand of a side is enough.
 */
function isNear({ sides, most }: Near, finder: OperandFinder, places: Places): boolean {
  const spans = sides.map(side => {
    const starts: number[] = []
    const ends: number[] = []
    for (const leaf of side) {
      const no = finder.numberOf(leaf)
      const length = finder.lengthOf(no)
      for (const at of places[no]!) {
        starts.push(at)
        ends.push(at + length)
      }
    }
    if (side.length === 1) return { starts, ends }
    return { starts: starts.sort((a, b) => a - b), ends: ends.sort((a, b) => a - b) }
  })
  const [left, right] = spans
  return follows(left!.ends, right!.starts, most) || follows(right!.ends, left!.starts, most)
}

/** Whether a start comes at most `most` words after an end. Both are ascending. */
function follows(ends: number[], starts: number[], most: number): boolean {
  let next = 0
  for (const start of starts) {
    while (next < ends.length && ends[next]! <= start) next++
    if (next > 0 && start - ends[next - 1]! <= most) return true
  }
  return false
}

/** Whether a leaf or NEAR stands in a text. */
export const isIn = (node: Leaf | Near, finder: OperandFinder, places: Places): boolean =>
  node.kind === 'near' ? isNear(node, finder, places) : places[finder.numberOf(node)]!.length > 0

/** The most words whose numbers and stems a process keeps for expressions: some 30 MB. */
const MOST_WORDS = 1 << 18

let known = createReadWords()

/** Makes finders for the same operands. A finder ends when `known` begins anew. */
function finderOf(leaves: readonly Leaf[]): () => OperandFinder {
  let of: ReadWords | null = null
  let finder: OperandFinder | null = null
  return () => {
    if (known.size() > MOST_WORDS) known = createReadWords()
    if (finder === null || of !== known) {
      of = known
      finder = createFinder(leaves, known.numbers)
    }
    return finder
  }
}

/** Makes the test whether an article matches an expression. */
export function holding(tree: Expression): (words: DocumentWords, language: Language) => boolean {
  const current = finderOf(allLeaves(tree))
  const isOfTitle = partsIn(tree).every(part => !('inTitle' in part) || part.inTitle)
  const kept = { title: [] as Places, body: [] as Places }
  return ({ title, body }, language) => {
    const finder = current()
    const titleEnd = known.read(title)
    const end = isOfTitle ? titleEnd : known.read(body, titleEnd)
    const inTitle = finder.find(known.ids(), 0, titleEnd, language, kept.title)
    const inBody = finder.find(known.ids(), titleEnd, end, language, kept.body)
    const holds = (node: Expression): boolean => {
      switch (node.kind) {
        case 'and':
          return node.of.every(holds) && !node.not.some(holds)
        case 'or':
          return node.of.some(holds)
        default:
          return isIn(node, finder, inTitle) || (!node.inTitle && isIn(node, finder, inBody))
      }
    }
    return holds(tree)
  }
}

/** All leaves of an expression, excluded ones too. */
export const allLeaves = (node: Expression): Leaf[] =>
  partsIn(node).flatMap(part =>
    part.kind === 'near' ? part.sides.flat() : 'inTitle' in part ? [part] : [],
  )

/** The wildcards of an expression. */
export const wildcardsOf = (node: Expression): string[] =>
  allLeaves(node).flatMap(leaf => (leaf.kind === 'phrase' ? leaf.words.filter(isWildcard) : []))

/**
 * Makes the function that finds the places where one of the leaves begins in a word list. It
 * returns the places, ascending, and the number of words.
 */
export function findingAny(
  leaves: readonly Leaf[],
): (list: string, language: Language) => { places: number[]; words: number } {
  const current = finderOf(leaves)
  return (list, language) => {
    const finder = current()
    const words = known.read(list)
    const places = finder.find(known.ids(), 0, words, language, []).flat()
    return { places: [...new Set(places)].sort((a, b) => a - b), words }
  }
}
