import { hasLetterOrDigit, words } from '../analysis/tokens.ts'

/**
 * The meaning of `q`, as `parseKeyword`, `parseBoolean` or `parseExpression` parses it. Words are
 * folded (`analysis/tokens.ts`).
 */
export type Match =
  | { kind: 'all' }
  /**
   * Any of the words, by stem. The list is never empty, and it has each word once, in the query's
   * order.
   */
  | { kind: 'keyword'; words: string[] }
  /**
   * An article must have all required phrases and no excluded phrase, in the written form. A phrase
   * of one word is that word. `required` is never empty.
   */
  | { kind: 'boolean'; required: string[][]; excluded: string[][] }
  | { kind: 'expression'; tree: Expression }

/**
 * One word, or words side by side; each may be a wildcard (`wildcard.ts`). They must stand in the
 * title, or anywhere in the searched text.
 */
export interface PhraseLeaf {
  kind: 'phrase'
  words: string[]
  inTitle: boolean
  /** Used only during parsing: the words were written without blanks and quotation marks. */
  loose?: boolean
}

/** A word in any of its forms: all words that keyword search finds for it in each language. */
export interface FormsLeaf {
  kind: 'forms'
  word: string
  inTitle: boolean
}

export type Leaf = PhraseLeaf | FormsLeaf

export interface Near {
  kind: 'near'
  /** The leaves of each side. One leaf of the left side must be near one leaf of the right side. */
  sides: [Leaf[], Leaf[]]
  /** The most words between the two sides. */
  most: number
  inTitle: boolean
}

export type Expression =
  | Leaf
  | Near
  /** An article must match every part of `of`, which is never empty, and no part of `not`. */
  | { kind: 'and'; of: Expression[]; not: Expression[] }
  | { kind: 'or'; of: Expression[] }

/** An expression and all its parts, in order. The leaves beside NEAR are not among them. */
export function partsIn(tree: Expression): Expression[] {
  const parts = tree.kind === 'and' ? [...tree.of, ...tree.not] : tree.kind === 'or' ? tree.of : []
  return [tree, ...parts.flatMap(partsIn)]
}

/** The meaning of `q`; or the reasons why it cannot be read, as sentences for `errors.q`. */
export type Parsed<M> = { ok: true; match: M } | { ok: false; errors: string[] }
export type ParsedQuery = Parsed<Match>

/** Why a `q` cannot be read. Web pages use these names to show a text in the reader's language. */
export const QUERY_PROBLEMS = {
  nothing: 'Write at least one letter or digit.',
  openQuote: 'A quotation mark is not closed; write another " after the phrase.',
  onlyExclusions:
    'A query of exclusions alone finds nothing; name at least one word that must appear.',
} as const

/** Parses `q` of a keyword search: its words, each once (decisions 16, 17, 19). */
export function parseKeyword(q: string): ParsedQuery {
  const found = [...new Set(words(q))]
  if (!hasLetterOrDigit(q) || found.length === 0)
    return { ok: false, errors: [QUERY_PROBLEMS.nothing] }
  return { ok: true, match: { kind: 'keyword', words: found } }
}

/**
 * Parses `q` of a boolean search (contract, "Boolean grammar"; decisions 16, 18, 19). Words and
 * "quoted phrases" must appear, `-word` and `-"phrase"` must not.
 */
export function parseBoolean(q: string): ParsedQuery {
  if (!hasLetterOrDigit(q)) return { ok: false, errors: [QUERY_PROBLEMS.nothing] }
  // U+02BC counts as an apostrophe, and not as a letter (decision 44).
  const text = q
    .normalize('NFC')
    .replace(/\p{Cf}+/gu, '')
    .replaceAll('ʼ', "'")
  const required = new Map<string, string[]>()
  const excluded = new Map<string, string[]>()
  const note = (phrases: Map<string, string[]>, phrase: string[]) => {
    if (phrase.length > 0) phrases.set(phrase.join('\n'), phrase)
  }

  for (const { groups = {} } of text.matchAll(PART_OF_BOOLEAN)) {
    const { minus, quoted, close, excludes, run = '' } = groups
    if (close === '') return { ok: false, errors: [QUERY_PROBLEMS.openQuote] }
    if (excludes !== undefined) note(excluded, words(excludes))
    else if (quoted !== undefined) note(minus === undefined ? required : excluded, words(quoted))
    else for (const word of words(run)) note(required, [word])
  }
  if (required.size === 0) {
    return { ok: false, errors: [QUERY_PROBLEMS.onlyExclusions] }
  }
  return {
    ok: true,
    match: { kind: 'boolean', required: [...required.values()], excluded: [...excluded.values()] },
  }
}

/** Characters that can begin or end a word, for a class of a regular expression. */
export const LETTER = '\\p{L}\\p{Nd}⁰¹²³⁴-⁹₀-₉'

/**
 * A minus that excludes: a word or a quotation mark follows, and neither a word nor another minus
 * stands before it.
 */
const MINUS = `(?<![${LETTER}\\p{M}-])-(?=["${LETTER}])`

/**
 * A quoted part, an excluded word up to the next blank, or a run of words. A hyphen inside a word
 * separates words, like other punctuation, so a run may end there.
 */
const PART_OF_BOOLEAN = new RegExp(
  `(?<minus>${MINUS})?"(?<quoted>[^"]*)(?<close>"?)|${MINUS}(?<excludes>[^\\s"]*)|(?<run>.[^"-]*)`,
  'gsu',
)

/** A query as a syntax tree. Both in-memory and stored segments evaluate it. */
export type QueryNode =
  | { kind: 'term'; term: string }
  /** Two words or more, in order and side by side, within the title or within the body. */
  | { kind: 'phrase'; words: string[]; scope: 'title' | 'title_body' }
  /**
   * `of` has a clause for each side of `near`, or for each word of a phrase with wildcards. Every
   * document that matches `near` also matches `of`.
   */
  | { kind: 'near'; of: QueryNode; near: Near | PhraseLeaf }
  /** `of` and `not` have at least one clause each. */
  | { kind: 'and'; of: QueryNode[] }
  | { kind: 'or'; of: QueryNode[] }
  | { kind: 'andNot'; of: QueryNode; not: QueryNode[] }

export const term = (text: string): QueryNode => ({ kind: 'term', term: text })

/** @param of at least one clause. Clauses of nested conjunctions move up into the new one. */
export function and(of: QueryNode[]): QueryNode {
  const clauses = of.flatMap(node => (node.kind === 'and' ? node.of : [node]))
  return clauses.length === 1 ? clauses[0]! : { kind: 'and', of: clauses }
}

/** @param of at least one clause */
export const or = (of: QueryNode[]): QueryNode => (of.length === 1 ? of[0]! : { kind: 'or', of })

export const andNot = (of: QueryNode, not: QueryNode[]): QueryNode =>
  not.length === 0 ? of : { kind: 'andNot', of, not }
