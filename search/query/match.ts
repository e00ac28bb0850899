import { stopWordsOf } from '../analysis/index.ts'
import { stem } from '../analysis/stems.ts'
import { isWildcard } from '../analysis/wildcard.ts'
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
  type PhraseLeaf,
  partsIn,
  type QueryNode,
  term,
} from './parse.ts'

type Scope = ArticleQuery['searchIn']

/** For wildcards the words for which they stand. */
type FoundWords = ReadonlyMap<string, readonly string[]>
const NO_WILDCARDS: FoundWords = new Map()

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
 * @param wildcards for each wildcard of the match, the words for which it stands
 */
export function planMatch(
  match: Match,
  scope: Scope,
  languages: readonly Language[] | null,
  wildcards: FoundWords = NO_WILDCARDS,
): MatchPlan {
  switch (match.kind) {
    case 'all':
      return { node: null, verification: null, scoring: [], nears: [] }
    case 'boolean': {
      const [of, not] = [match.required, match.excluded].map(phrases => phrases.map(phraseLeaf))
      return planTree({ kind: 'and', of: of!, not: not! }, scope, languages)
    }
    case 'expression':
      return planTree(match.tree, scope, languages, wildcards)
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
  const content = words.filter(word => !stopWordsOf(language).has(word))
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
    if (!stopWordsOf(language).has(word)) add(wordTerm(scope)(word), WEIGHTS.asWritten)
  return scoring
}

const phraseLeaf = (words: string[]): Leaf => ({ kind: 'phrase', words, inTitle: false })

function planTree(
  tree: Expression,
  scope: Scope,
  languages: readonly Language[] | null,
  wildcards: FoundWords = NO_WILDCARDS,
): MatchPlan {
  const verification = scope === 'title' ? allInTitle(tree) : tree
  const own: Own = { languages: languages ?? LANGUAGES, wildcards, isLoose: false }
  const loose: Own = { ...own, isLoose: true }
  const whole = nodeOf(verification, loose)
  const nears = nearsOf(verification).map(near => ({
    node: and([whole, nodeOf(near, loose)]),
    operands: near.kind === 'near' ? near.sides.flat().length : near.words.length,
  }))
  return { node: nodeOf(verification, own), verification, scoring: [], nears }
}

/** The same expression, with every leaf in the title. */
function allInTitle(tree: Expression): Expression {
  switch (tree.kind) {
    case 'and':
      return { ...tree, of: tree.of.map(allInTitle), not: tree.not.map(allInTitle) }
    case 'or':
      return { ...tree, of: tree.of.map(allInTitle) }
    case 'near': {
      const [left, right] = tree.sides.map(side => side.map(leaf => ({ ...leaf, inTitle: true })))
      return { ...tree, sides: [left!, right!], inTitle: true }
    }
    default:
      return { ...tree, inTitle: true }
  }
}

/** What decides the node of an expression. */
interface Own {
  languages: readonly Language[]
  wildcards: FoundWords
  /**
   * Whether only lists of single words and stems decide. The condition then holds for every article
   * that matches, and maybe for others.
   */
  isLoose: boolean
}

/** All NEAR of an expression, and all phrases with wildcards, excluded ones too. */
const nearsOf = (tree: Expression): (Near | PhraseLeaf)[] =>
  partsIn(tree).filter(part => part.kind === 'near' || isOpenPhrase(part))

/** Whether a leaf is a phrase with wildcards. No list of neighbouring words can decide it. */
const isOpenPhrase = (tree: Expression): tree is PhraseLeaf =>
  tree.kind === 'phrase' && tree.words.length > 1 && tree.words.some(isWildcard)

/** A word, or any of the words for which a wildcard stands. */
function wordNode(word: string, scope: Scope, { wildcards }: Own): QueryNode {
  const words = isWildcard(word) ? (wildcards.get(word) ?? []) : []
  // A wildcard that stands for no word is a term that no article has.
  return or((words.length === 0 ? [word] : words).map(one => term(wordTerm(scope)(one))))
}

/** Whether lists of single words and stems decide all of an expression. */
const isOfSingleWords = (tree: Expression): boolean =>
  partsIn(tree).every(
    part => part.kind !== 'near' && (part.kind !== 'phrase' || part.words.length === 1),
  )

function nodeOf(tree: Expression, own: Own): QueryNode {
  const nodes = (trees: Expression[]) => trees.map(one => nodeOf(one, own))
  switch (tree.kind) {
    case 'phrase': {
      const { words } = tree
      const scope = scopeOf(tree)
      const anywhere = and(words.map(word => wordNode(word, scope, own)))
      if (own.isLoose || words.length === 1) return anywhere
      return isOpenPhrase(tree)
        ? { kind: 'near', of: anywhere, near: tree }
        : { kind: 'phrase', words, scope }
    }
    case 'forms':
      return or(
        own.languages.flatMap(language => clausesOf(analyse(language, [tree.word]), scopeOf(tree))),
      )
    case 'near': {
      const both = and(tree.sides.map(side => or(nodes(side))))
      return own.isLoose ? both : { kind: 'near', of: both, near: tree }
    }
    case 'and': {
      const not = own.isLoose ? tree.not.filter(isOfSingleWords) : tree.not
      return andNot(and(nodes(tree.of)), nodes(not))
    }
    case 'or':
      return or(nodes(tree.of))
  }
}

const scopeOf = ({ inTitle }: { inTitle: boolean }): Scope => (inTitle ? 'title' : 'title_body')
const wordTerm = (scope: Scope) => (scope === 'title' ? TERMS.titleWord : TERMS.word)
const stemTerm = (scope: Scope) => (scope === 'title' ? TERMS.titleStem : TERMS.stem)
