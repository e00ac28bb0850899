import { hasLetterOrDigit, words } from '../analysis/tokens.ts'
import { type Parsed, QUERY_PROBLEMS } from './parse.ts'

/*
 * The language of `search=expression` (decision 45).
 *
 *   or      = and { OR and }
 *   and     = near { [AND] near }
 *   near    = not [NEAR/1…50 not]                    a chain is refused
 *   not     = { NOT | - } operand
 *   operand = word | ~word | "phrase" | ( or ) | title: operand
 *
 * So `a OR b c` is `a OR (b AND c)`. Operators are written exactly so, and stand alone between
 * blanks, quotation marks and parentheses; `-`, `~` and `title:` stand before what they bind, at
 * the start of a word. Any other writing is words, read as `parseBoolean` reads them: what a blank
 * does not separate, as `zuid-holland`, is words that may stand anywhere, but after NOT or beside
 * NEAR a phrase. A quotation mark of type is closed by any other of type, a plain one by a plain
 * one.
 *
 * What only excludes (`NOT a`) has no meaning of its own. It is carried upwards as "excludes" until
 * a conjunction takes it in as what it must not hold, or another NOT turns it round. As an operand
 * of OR, or as the whole, it is refused.
 *
 * The engine takes the tree in two forms (`match.ts`). The first is a `QueryNode`: a word is a
 * term, a phrase is a phrase, `~word` is its stems in the languages, NEAR is a conjunction whose
 * documents all stay open. The second is the tree itself, by which the words of open documents are
 * verified: in Postgres where it holds words and phrases alone, else in this process (`holds.ts`).
 * In-memory segments know the places of words, and the archive's open documents are verified as
 * those of segments are.
 *
 * Places in problems are those of characters of `q`, which is NFC without blanks around it, from 1.
 */

/** Words side by side, or one word; in the title alone, or where the search looks. */
export interface PhraseLeaf {
  kind: 'phrase'
  words: string[]
  inTitle: boolean
  /** Written without blanks and without quotation marks. */
  loose?: true
}

/** A word in any of its forms, in each language as keyword search finds it. */
export interface FormsLeaf {
  kind: 'forms'
  word: string
  inTitle: boolean
}

export type Leaf = PhraseLeaf | FormsLeaf

export interface Near {
  kind: 'near'
  /** Of each side, any. */
  sides: [Leaf[], Leaf[]]
  /** Words between. */
  most: number
  inTitle: boolean
}

export type Expression =
  | Leaf
  | Near
  /** All of these, at least one, and none of those. */
  | { kind: 'and'; of: Expression[]; not: Expression[] }
  | { kind: 'or'; of: Expression[] }

export const EXPRESSION_LIMITS = { words: 64, depth: 8, near: 50 } as const

/** What is wrong with an expression, by name: pages say it in the reader's language. */
export const EXPRESSION_PROBLEMS = {
  openQuote: 'The quotation mark at character N is not closed; write another one after the phrase.',
  openParenthesis: 'The parenthesis at character N is not closed; write ) where it ends.',
  strayParenthesis: 'The parenthesis at character N closes nothing.',
  empty: 'The parentheses at character N hold no words.',
  wildcard: 'No * or ? can stand in a word, as at character N; write ~ before a word for all its forms.',
  nothingBefore: 'The operator at character N has nothing before it; operators written small are words.',
  nothingAfter: 'The operator at character N has nothing after it; operators written small are words.',
  excludes: 'What begins at character N only excludes; name what must appear, as in (a NOT b).',
  forms: 'The ~ at character N is for one word; write it before each word.',
  nearOperand:
    'NEAR takes words, ~words, phrases, or these joined by OR in parentheses, not what begins at character N.',
  nearChain: 'The NEAR at character N follows another; join two pairs with AND.',
  deep: `Parentheses are nested too deeply at character N; write at most ${EXPRESSION_LIMITS.depth}.`,
  long: `There is one word too many at character N; write at most ${EXPRESSION_LIMITS.words}.`,
} as const

export type ExpressionProblem = keyof typeof EXPRESSION_PROBLEMS

class Misread extends Error {
  readonly problem: ExpressionProblem
  readonly at: number

  constructor(problem: ExpressionProblem, at: number) {
    super(EXPRESSION_PROBLEMS[problem].replace(/\bN\b/, String(at)))
    this.problem = problem
    this.at = at
  }
}

type ParsedExpression = Parsed<{ kind: 'expression'; tree: Expression }> & {
  /** Where it cannot be read. */
  misread?: { problem: ExpressionProblem; at: number }
}

/** Reads `q` of a search by expression. */
export function parseExpression(q: string): ParsedExpression {
  if (!hasLetterOrDigit(q)) return { ok: false, errors: [QUERY_PROBLEMS.nothing] }
  try {
    const tree = treeOf(tokensOf(q))
    return tree === null
      ? { ok: false, errors: [QUERY_PROBLEMS.nothing] }
      : { ok: true, match: { kind: 'expression', tree } }
  } catch (error) {
    if (!(error instanceof Misread)) throw error
    const { problem, at, message } = error
    return { ok: false, errors: [message], misread: { problem, at } }
  }
}

/** Whether an expression, or a part of it, is of one of these kinds. */
export function has(node: Expression, kinds: readonly Expression['kind'][]): boolean {
  if (kinds.includes(node.kind)) return true
  if (node.kind === 'and') return [...node.of, ...node.not].some(one => has(one, kinds))
  return node.kind === 'or' && node.of.some(one => has(one, kinds))
}

/** An expression with all its operators and parentheses: how it was read. */
export function inFull(node: Expression): string {
  const grouped = (one: Expression) =>
    one.kind === 'phrase' || one.kind === 'forms' ? inFull(one) : `(${inFull(one)})`
  const either = (nodes: Expression[]) => nodes.map(grouped).join(' OR ')
  switch (node.kind) {
    case 'or':
      return either(node.of)
    case 'and':
      return [node.of.map(grouped).join(' AND '), ...node.not.map(grouped)].join(' NOT ')
    case 'near':
      return node.sides.map(side => (side.length > 1 ? `(${either(side)})` : either(side))).join(` NEAR/${node.most} `)
    case 'forms':
      return `${node.inTitle ? 'title:' : ''}~${node.word}`
    case 'phrase': {
      const { words, inTitle } = node
      return `${inTitle ? 'title:' : ''}${words.length > 1 ? `"${words.join(' ')}"` : words.join()}`
    }
  }
}

/** The leaves that an article may match by, in their order: none that excludes. */
export function leavesOf(node: Expression): Leaf[] {
  switch (node.kind) {
    case 'near':
      return node.sides.flat()
    case 'and':
    case 'or':
      return node.of.flatMap(leavesOf)
    default:
      return [node]
  }
}

type Token = { at: number } & (
  | { kind: 'words'; words: string[]; loose: boolean }
  | { kind: 'forms'; words: string[] }
  | { kind: 'near'; most: number }
  /** `tight`: written `-`. */
  | { kind: 'not'; tight: boolean }
  | { kind: 'and' }
  | { kind: 'or' }
  | { kind: 'title' }
  | { kind: 'open' }
  | { kind: 'close' }
)

interface Sign {
  sign: string
  at: number
}

const LETTER = /^(?!ʼ)[\p{L}\p{Nd}⁰¹²³⁴-⁹₀-₉]/u
const WORD_PART = /^(?!ʼ)[\p{L}\p{Nd}\p{M}⁰¹²³⁴-⁹₀-₉]/u
const PLAIN_QUOTE = '"'
const QUOTE = /^["“”„‟«»]$/
const BORDER = /^[\s()"“”„‟«»]$/
const TITLE = 'title:'

/** The signs of a text in NFC; format characters are not there, but have their places. */
const signsOf = (q: string): Sign[] =>
  Array.from(q.normalize('NFC'), (sign, index) => ({ sign, at: index + 1 })).filter(({ sign }) => !/\p{Cf}/u.test(sign))

function tokensOf(q: string): Token[] {
  const signs = signsOf(q)
  const tokens: Token[] = []
  let count = 0
  const add = (token: Token) => {
    if ('words' in token) {
      count += token.words.length
      if (count > EXPRESSION_LIMITS.words) throw new Misread('long', token.at)
      if (token.words.length === 0) {
        // Nothing to exclude either.
        const last = tokens.at(-1)
        if (last?.kind === 'not' && last.tight) tokens.pop()
        return
      }
    }
    tokens.push(token)
  }
  for (let next = 0; next < signs.length; ) {
    const { sign, at } = signs[next]!
    if (/\s/.test(sign)) next++
    else if (QUOTE.test(sign)) next = readPhrase(signs, next, add)
    else if (sign === '(' || sign === ')') {
      add({ kind: sign === '(' ? 'open' : 'close', at })
      next++
    } else if (!opens(signs, next)) next = readRun(signs, next, add)
    else if (sign === '-') {
      add({ kind: 'not', tight: true, at })
      next++
    } else if (sign === '~') next = readForms(signs, next, add)
    else {
      add({ kind: 'title', at })
      next += TITLE.length
    }
  }
  return tokens
}

/** Whether `-`, `~` or `title:` stands here and binds what follows. */
function opens(signs: Sign[], at: number): boolean {
  const sign = signs[at]!.sign
  const before = signs[at - 1]?.sign ?? ' '
  if (WORD_PART.test(before) || (before === '-' && !opens(signs, at - 1))) return false
  if (sign !== '-' && sign !== '~') return textOf(signs, at, at + TITLE.length) === TITLE
  const isExcluded = sign === '-' && signs[at + 1]?.sign === '~'
  const next = signs[at + (isExcluded ? 2 : 1)]?.sign ?? ''
  return LETTER.test(next) || QUOTE.test(next) || next === '('
}

const textOf = (signs: Sign[], from: number, to: number): string =>
  signs
    .slice(from, to)
    .map(({ sign }) => sign)
    .join('')

type Add = (token: Token) => void

/** @returns where the text after the phrase begins */
function readPhrase(signs: Sign[], open: number, add: Add): number {
  const { sign, at } = signs[open]!
  let close = open + 1
  while (close < signs.length && !closes(sign, signs[close]!.sign)) close++
  if (close === signs.length) throw new Misread('openQuote', at)
  refuseWildcards(signs, open + 1, close, true)
  add({ kind: 'words', words: words(textOf(signs, open + 1, close)), loose: false, at })
  return close + 1
}

const closes = (open: string, sign: string) => (open === PLAIN_QUOTE ? sign === PLAIN_QUOTE : QUOTE.test(sign))

/** Words without a blank between them, or an operator. */
function readRun(signs: Sign[], from: number, add: Add): number {
  const { at } = signs[from]!
  const isBound = signs[from - 1]?.sign === '-' && opens(signs, from - 1)
  let to = from + 1
  while (to < signs.length && !BORDER.test(signs[to]!.sign) && (isBound || !opens(signs, to))) to++
  const text = textOf(signs, from, to)
  const isAlone = BORDER.test(signs[from - 1]?.sign ?? ' ') && BORDER.test(signs[to]?.sign ?? ' ')
  const operator = isAlone ? operatorOf(text, at) : null
  if (operator === null) refuseWildcards(signs, from, to, false)
  add(operator ?? { kind: 'words', words: words(text), loose: true, at })
  return to
}

function operatorOf(text: string, at: number): Token | null {
  if (text === 'AND') return { kind: 'and', at }
  if (text === 'OR') return { kind: 'or', at }
  if (text === 'NOT') return { kind: 'not', tight: false, at }
  const most = Number(/^NEAR\/([1-9]\d?)$/.exec(text)?.[1] ?? 0)
  return most > 0 && most <= EXPRESSION_LIMITS.near ? { kind: 'near', most, at } : null
}

function readForms(signs: Sign[], tilde: number, add: Add): number {
  const { at } = signs[tilde]!
  if (!LETTER.test(signs[tilde + 1]!.sign)) throw new Misread('forms', at)
  return readRun(signs, tilde + 1, token => {
    if (token.kind === 'words') add({ kind: 'forms', words: token.words, at })
  })
}

/** In quotation marks a question may end in its own mark. */
function refuseWildcards(signs: Sign[], from: number, to: number, isQuoted: boolean): void {
  const isWord = (at: number) => at >= from && at < to && WORD_PART.test(signs[at]!.sign)
  for (let at = from; at < to; at++) {
    const { sign } = signs[at]!
    if (sign !== '*' && sign !== '?') continue
    const [before, after] = [isWord(at - 1), isWord(at + 1)]
    const isWildcard = isQuoted && sign === '?' ? before && after : before || after
    if (isWildcard) throw new Misread('wildcard', signs[at]!.at)
  }
}

/** A part of the tree, which may only exclude. */
interface Part {
  node: Expression
  excludes: boolean
  at: number
}

/** @returns null: there are no words */
function treeOf(tokens: Token[]): Expression | null {
  if (tokens.length === 0) return null
  const reader = createReader(tokens)
  const whole = readOr(reader, null)
  const rest = reader.peek()
  if (rest !== undefined) throw new Misread('strayParenthesis', rest.at)
  if (whole.excludes) throw new Misread('excludes', whole.at)
  return settled(whole.node)
}

function createReader(tokens: Token[]) {
  let next = 0
  return {
    depth: 0,
    inTitle: false,
    peek: () => tokens[next],
    /** Takes the next token, when it is of a kind. */
    take<K extends Token['kind']>(kind: K): Extract<Token, { kind: K }> | null {
      const token = tokens[next]
      if (!isOf(token, kind)) return null
      next++
      return token
    },
  }
}

const isOf = <K extends Token['kind']>(token: Token | undefined, kind: K): token is Extract<Token, { kind: K }> =>
  token?.kind === kind

type Reader = ReturnType<typeof createReader>

/** @param owner the operator, or the parenthesis, that waits for it; null: the whole */
function readOr(reader: Reader, owner: Token | null): Part {
  const parts = [readAnd(reader, owner)]
  for (let or = reader.take('or'); or !== null; or = reader.take('or')) parts.push(readAnd(reader, or))
  const [first] = parts
  if (parts.length === 1) return first!
  const excluding = parts.find(part => part.excludes)
  if (excluding !== undefined) throw new Misread('excludes', excluding.at)
  return { node: { kind: 'or', of: parts.map(part => part.node) }, excludes: false, at: first!.at }
}

function readAnd(reader: Reader, owner: Token | null): Part {
  const parts: Part[] = []
  for (;;) {
    const and = parts.length === 0 ? null : reader.take('and')
    const kind = reader.peek()?.kind
    if (and === null && parts.length > 0 && (kind === undefined || kind === 'close' || kind === 'or')) break
    parts.push(readNear(reader, and ?? (parts.length === 0 ? owner : null)))
  }
  const [first] = parts
  if (parts.length === 1) return first!
  const nodesOf = (excludes: boolean) => parts.filter(part => part.excludes === excludes).map(part => part.node)
  const [of, not] = [nodesOf(false), nodesOf(true)]
  const node: Expression = of.length === 0 ? { kind: 'or', of: not } : { kind: 'and', of, not }
  return { node, excludes: of.length === 0, at: first!.at }
}

function readNear(reader: Reader, owner: Token | null): Part {
  const left = readNot(reader, owner)
  const near = reader.take('near')
  if (near === null) return left
  const right = readNot(reader, near)
  const chain = reader.peek()
  if (chain?.kind === 'near') throw new Misread('nearChain', chain.at)
  const { inTitle } = reader
  const sides: Near['sides'] = [sideOf(left, inTitle), sideOf(right, inTitle)]
  return { node: { kind: 'near', sides, most: near.most, inTitle }, excludes: false, at: left.at }
}

function sideOf({ node, excludes, at }: Part, inTitle: boolean): Leaf[] {
  const leaves = node.kind === 'or' ? node.of : [node]
  return leaves.map(leaf => {
    if (excludes || (leaf.kind !== 'phrase' && leaf.kind !== 'forms') || leaf.inTitle !== inTitle) {
      throw new Misread('nearOperand', at)
    }
    return tightened(leaf)
  })
}

const tightened = <N extends Expression>(node: N): N => ('loose' in node ? { ...node, loose: undefined } : node)

function readNot(reader: Reader, owner: Token | null): Part {
  const not = reader.take('not')
  if (not === null) return readOperand(reader, owner)
  const { node, excludes } = readNot(reader, not)
  return { node: tightened(node), excludes: !excludes, at: not.at }
}

function readOperand(reader: Reader, owner: Token | null): Part {
  const { inTitle } = reader
  const open = reader.take('open')
  if (open !== null) return readParentheses(reader, open)
  const title = reader.take('title')
  if (title !== null) {
    reader.inTitle = true
    const { node, excludes } = readOperand(reader, title)
    reader.inTitle = inTitle
    return { node, excludes, at: title.at }
  }
  const text = reader.take('words')
  if (text !== null) {
    const { at, words, loose } = text
    return { node: { kind: 'phrase', words, inTitle, ...(loose ? { loose } : {}) }, excludes: false, at }
  }
  const forms = reader.take('forms')
  if (forms === null) throw missing(reader.peek(), owner)
  const leaves = forms.words.map((word): Leaf => ({ kind: 'forms', word, inTitle }))
  return {
    node: leaves.length === 1 ? leaves[0]! : { kind: 'and', of: leaves, not: [] },
    excludes: false,
    at: forms.at,
  }
}

function readParentheses(reader: Reader, open: Token): Part {
  if (++reader.depth > EXPRESSION_LIMITS.depth) throw new Misread('deep', open.at)
  const { node, excludes } = readOr(reader, open)
  if (reader.take('close') === null) throw new Misread('openParenthesis', open.at)
  reader.depth--
  return { node, excludes, at: open.at }
}

/** Why there is no operand where an operator, or a parenthesis, waits for one. */
function missing(found: Token | undefined, owner: Token | null): Misread {
  if (owner?.kind === 'open') {
    if (found === undefined) return new Misread('openParenthesis', owner.at)
    return found.kind === 'close' ? new Misread('empty', owner.at) : new Misread('nothingBefore', found.at)
  }
  if (owner !== null) return new Misread('nothingAfter', owner.at)
  return found?.kind === 'close'
    ? new Misread('strayParenthesis', found.at)
    : new Misread('nothingBefore', found?.at ?? 1)
}

/** Without loose words, which may stand anywhere. */
function settled(node: Expression): Expression {
  switch (node.kind) {
    case 'phrase': {
      const { words, inTitle, loose } = node
      if (!loose || words.length === 1) return { kind: 'phrase', words, inTitle }
      return { kind: 'and', of: words.map(word => ({ kind: 'phrase', words: [word], inTitle })), not: [] }
    }
    case 'and':
      return { kind: 'and', of: node.of.map(settled), not: node.not.map(settled) }
    case 'or':
      return { kind: 'or', of: node.of.map(settled) }
    default:
      return node
  }
}
