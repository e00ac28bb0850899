import { STOP_WORDS } from '../analysis/index.ts'
import { stem } from '../analysis/stems.ts'
import { TERMS } from '../terms.ts'
import { LANGUAGES, type Language } from '../vocabulary.ts'
import type { ArticleQuery } from './article-query.ts'
import {
  and,
  andNot,
  type Expression,
  type Leaf,
  type Match,
  type Near,
  or,
  type QueryNode,
  term,
} from './parse.ts'

type Scope = ArticleQuery['searchIn']

/** How the index finds the words of a query. */
interface MatchPlan {
  /** null: every article matches. */
  node: QueryNode | null
  /**
   * The same condition on the words of an article (`article_words`). It decides about documents
   * that posting lists leave undecided.
   */
  verification: Expression | null
  /**
   * The terms that raise the score of a match (decision 17); empty: all matches have the same
   * score.
   */
  scoring: ScoringTerm[]
  /** For each NEAR, which articles have its words. */
  nears: NearWords[]
}

/**
 * The articles whose words NEAR has to read, or more: those that match the query if each phrase is
 * only its words, and each NEAR only its two sides. Lists of single words and stems decide this, so
 * every part of the index finds the same articles.
 */
export interface NearWords {
  node: QueryNode
  /** The number of words and phrases beside NEAR. */
  operands: number
}

/** Adds `weight` to the score of an article that is in the language and has the term. */
export interface ScoringTerm {
  language: Language
  term: string
  weight: number
}

/**
 * @param languages the languages that the filters allow; stems of other languages are not looked
 *   up. null: all
 */
export function planMatch(
  match: Match,
  scope: Scope,
  languages: readonly Language[] | null,
): MatchPlan {
  switch (match.kind) {
    case 'all':
      return { node: null, verification: null, scoring: [], nears: [] }
    case 'boolean': {
      const [of, not] = [match.required, match.excluded].map(phrases => phrases.map(phraseLeaf))
      return planTree({ kind: 'and', of: of!, not: not! }, scope, languages)
    }
    case 'expression':
      return planTree(match.tree, scope, languages)
    case 'keyword': {
      const analysed = (languages ?? LANGUAGES).map(language => analyse(language, match.words))
      return {
        node: or(analysed.flatMap(one => clausesOf(one, scope))),
        // Posting lists of single words are exact, so no document is left undecided.
        verification: null,
        scoring: analysed.flatMap(one => scoringTerms(one, match.words, scope)),
        nears: [],
      }
    }
  }
}

/**
 * The words of a keyword search in one language: their stems. If all words are stop words, it has
 * the words as written.
 */
interface AnalysedWords {
  language: Language
  stems: string[]
  written: string[]
}

function analyse(language: Language, words: string[]): AnalysedWords {
  const content = words.filter(word => !STOP_WORDS[language].has(word))
  if (content.length === 0) return { language, stems: [], written: words }
  return { language, stems: [...new Set(content.map(word => stem(language, word)))], written: [] }
}

function clausesOf({ language, stems, written }: AnalysedWords, scope: Scope): QueryNode[] {
  if (written.length === 0) return stems.map(one => term(stemTerm(scope)(language, one)))
  return [
    and([term(TERMS.language(language)), or(written.map(word => term(wordTerm(scope)(word))))]),
  ]
}

/**
 * Weights of the score. The number of different words that were found counts most. The number of
 * these words in the title comes second. The number of words in the query's own form comes third.
 */
const WEIGHTS = { found: 10_000, inTitle: 100, asWritten: 1 } as const

function scoringTerms(
  { language, stems, written }: AnalysedWords,
  words: string[],
  scope: Scope,
): ScoringTerm[] {
  const wholeText = scope === 'title_body'
  const scoring: ScoringTerm[] = []
  const add = (text: string, weight: number) => scoring.push({ language, term: text, weight })
  for (const one of stems) {
    add(stemTerm(scope)(language, one), WEIGHTS.found)
    if (wholeText) add(TERMS.titleStem(language, one), WEIGHTS.inTitle)
  }
  for (const one of written) {
    add(wordTerm(scope)(one), WEIGHTS.found)
    if (wholeText) add(TERMS.titleWord(one), WEIGHTS.inTitle)
  }
  for (const word of words)
    if (!STOP_WORDS[language].has(word)) add(wordTerm(scope)(word), WEIGHTS.asWritten)
  return scoring
}

const phraseLeaf = (words: string[]): Leaf => ({ kind: 'phrase', words, inTitle: false })

function planTree(
  tree: Expression,
  scope: Scope,
  languages: readonly Language[] | null,
): MatchPlan {
  const verification: Expression = JSON.parse(JSON.stringify(tree), (name, value) =>
    name === 'inTitle' ? value || scope === 'title' : value,
  )
  const own = languages ?? LANGUAGES
  const whole = looseNode(verification, own)
  const nears = nearsOf(verification).map(near => ({
    node: and([whole, looseNode(near, own)]),
    operands: near.sides.flat().length,
  }))
  return { node: nodeOf(verification, own), verification, scoring: [], nears }
}

/** All NEAR of an expression, excluded ones too. */
function nearsOf(tree: Expression): Near[] {
  if (tree.kind === 'near') return [tree]
  if (tree.kind === 'and') return [...tree.of, ...tree.not].flatMap(nearsOf)
  return tree.kind === 'or' ? tree.of.flatMap(nearsOf) : []
}

/**
 * The condition that lists of single words and stems can decide. It holds for every article that
 * matches.
 */
function looseNode(tree: Expression, languages: readonly Language[]): QueryNode {
  const loose = (one: Expression) => looseNode(one, languages)
  switch (tree.kind) {
    case 'phrase':
      return and(tree.words.map(word => term(wordTerm(scopeOf(tree))(word))))
    case 'near':
      return and(tree.sides.map(side => or(side.map(loose))))
    case 'and':
      return andNot(and(tree.of.map(loose)), tree.not.filter(isOfSingleWords).map(loose))
    case 'or':
      return or(tree.of.map(loose))
    default:
      return nodeOf(tree, languages)
  }
}

/** Whether lists of single words and stems decide all of an expression. */
function isOfSingleWords(tree: Expression): boolean {
  if (tree.kind === 'phrase') return tree.words.length === 1
  if (tree.kind === 'and') return [...tree.of, ...tree.not].every(isOfSingleWords)
  return tree.kind === 'or' ? tree.of.every(isOfSingleWords) : tree.kind === 'forms'
}

function nodeOf(tree: Expression, languages: readonly Language[]): QueryNode {
  const nodes = (trees: Expression[]) => trees.map(one => nodeOf(one, languages))
  switch (tree.kind) {
    case 'phrase': {
      const { words } = tree
      return words.length === 1
        ? term(wordTerm(scopeOf(tree))(words[0]!))
        : { kind: 'phrase', words, scope: scopeOf(tree) }
    }
    case 'forms':
      return or(
        languages.flatMap(language => clausesOf(analyse(language, [tree.word]), scopeOf(tree))),
      )
    case 'near':
      return { kind: 'near', of: and(tree.sides.map(side => or(nodes(side)))), near: tree }
    case 'and':
      return andNot(and(nodes(tree.of)), nodes(tree.not))
    case 'or':
      return or(nodes(tree.of))
  }
}

const scopeOf = ({ inTitle }: { inTitle: boolean }): Scope => (inTitle ? 'title' : 'title_body')
const wordTerm = (scope: Scope) => (scope === 'title' ? TERMS.titleWord : TERMS.word)
const stemTerm = (scope: Scope) => (scope === 'title' ? TERMS.titleStem : TERMS.stem)
