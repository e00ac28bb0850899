import { hasLetterOrDigit, wordRuns } from '../analysis/tokens.ts'
import { isWildcard, LEAST_LETTERS } from '../analysis/wildcard.ts'
import {
  type Expression,
  LETTER,
  type Leaf,
  type Near,
  type Parsed,
  partsIn,
  QUERY_PROBLEMS,
} from './parse.ts'

/*
 * The language of `search=expression` (decision 45).
 *
 *   or      = and { OR and }
 *   and     = near { [AND] near }
 *   near    = not [NEAR/1…50 not]                    a chain is refused
 *   not     = { NOT | - } operand
 *   operand = word | ~word | "phrase" | ( or ) | title: operand
 *   word    = letters [*] | *letters [*]             `wildcard.ts` says what `*` stands for
 *
 * So `a OR b c` means `a OR (b AND c)`. Operators are written exactly as above. They stand alone
 * between blanks, quotation marks and parentheses. `-`, `~` and `title:` stand at the start of a
 * word, directly before their operand. All other text is words, parsed as in `parseBoolean`. Words
 * that no blank separates, such as `zuid-holland`, may stand anywhere in an article. After NOT or
 * beside NEAR they are a phrase. Any quotation mark closes a typographic one. Only `"` closes `"`.
 *
 * A part that only excludes (`NOT a`) finds nothing by itself. The parser passes it up, marked
 * `excludes`. A conjunction then takes it into `not`, or another NOT reverses it. As an operand of
 * OR, or as the whole query, it is refused.
 *
 * `match.ts` gives the engine the tree in two forms. The first is a `QueryNode`: a word becomes a
 * term, a phrase stays a phrase, `~word` becomes its stems in each language. NEAR becomes a
 * conjunction that leaves all its documents undecided. The second form is the tree itself, for
 * verifying the words of undecided documents. Postgres verifies trees of words and phrases, this
 * process all others (`holds.ts`). In-memory segments know the places of words, so they leave no
 * document undecided. Undecided documents of the archive are verified like those of segments.
 *
 * A problem has a place: a character of `q`, counted from 1. `q` is in NFC, without outer blanks.
 */

const EXPRESSION_LIMITS = { words: 64, depth: 8, near: 50 } as const

/**
 * The messages about an expression that cannot be read, by name of the problem. N stands for the
 * character of `q` where the problem is, W for what is written there.
 */
const EXPRESSION_PROBLEMS = {
  open: 'The parenthesis at character N is not closed; write ).',
  quote: 'The quotation mark at character N is not closed; write another.',
  close: 'The parenthesis at character N closes nothing.',
  lacking: 'Nothing follows W at character N; write words there.',
  before: 'Nothing stands before W at character N; write words there.',
  wildcard:
    'No ? can stand in a word, and * only at its start or its end, not as at character N; write ~ before a word for all its forms.',
  part: `The part of a word at character N is too short; write at least ${LEAST_LETTERS} letters beside *.`,
  operator: `What stands at character N is no operator; write NEAR/1 to NEAR/${EXPRESSION_LIMITS.near} between two operands, or the word in quotation marks or small letters.`,
  field:
    'What stands at character N is no field; write title: before an operand, choose outlets, authors, languages and countries with their own parameters, or write a blank after the colon of a word.',
  excludes: 'What begins at character N only excludes; name what must appear, as in (a NOT b).',
  operand:
    'The operand at character N does not fit: ~ takes one word, NEAR two words, ~words or phrases, or some of these joined by OR in parentheses.',
  limit: `There is too much at character N; write at most ${EXPRESSION_LIMITS.words} words, and ${EXPRESSION_LIMITS.depth} parentheses within one another.`,
} as const

export type ExpressionProblem = keyof typeof EXPRESSION_PROBLEMS

class Misread extends Error {
  readonly problem: ExpressionProblem
  /** The place in the text of the query, in code units. */
  readonly index: number
  /** The place of a parenthesis that is not closed either. */
  readonly open: number | undefined

  constructor(problem: ExpressionProblem, index: number, open?: number) {
    super(problem)
    this.problem = problem
    this.index = index
    this.open = open
  }
}

/** Why a query cannot be read, and where. Places are characters of `q`, counted from 1. */
export interface Problem {
  problem: ExpressionProblem
  at: number
  /** What is written at `at`. */
  written: string
  /** The place of a parenthesis that is not closed either. */
  open?: number
}

type ParsedExpression = Parsed<{ kind: 'expression'; tree: Expression }> & {
  misread?: Problem
}

/** The sentences about a problem. */
export function sentencesOf(
  { problem, at, written, open }: Problem,
  sentences: Record<ExpressionProblem, string> = EXPRESSION_PROBLEMS,
): string[] {
  const sentence = (name: ExpressionProblem, place: number) =>
    sentences[name].replace(/\bN\b/, `${place}`).replace(/\bW\b/, () => written)
  return [sentence(problem, at), ...(open === undefined ? [] : [sentence('open', open)])]
}

/** Parses `q` of a search by expression. */
export function parseExpression(q: string): ParsedExpression {
  const nothing = { ok: false as const, errors: [QUERY_PROBLEMS.nothing] }
  if (!hasLetterOrDigit(q)) return nothing
  const signs = Array.from(q.normalize('NFC'), (sign, index) => ({ sign, at: index + 1 })).filter(
    ({ sign }) => !/\p{Cf}/u.test(sign),
  )
  // U+02BC counts as an apostrophe, and not as a letter (decision 44).
  const text = signs.map(({ sign }) => (sign === 'ʼ' ? "'" : sign)).join('')
  try {
    const tokens = tokensOf(text)
    return tokens.length === 0
      ? nothing
      : { ok: true, match: { kind: 'expression', tree: treeOf(tokens) } }
  } catch (error) {
    if (!(error instanceof Misread)) throw error
    const { problem, index, open } = error
    const places = signs.flatMap(({ sign, at }) => Array.from({ length: sign.length }, () => at))
    const placeOf = (one: number) => places[one] ?? 1
    const written = tokenAt(text, index)?.[0] ?? ''
    const misread: Problem = { problem, at: placeOf(index), written }
    if (open !== undefined) misread.open = placeOf(open)
    return { ok: false, errors: sentencesOf(misread), misread }
  }
}

/** Whether an expression, or a part of it, has one of these kinds. */
export const has = (node: Expression, kinds: readonly Expression['kind'][]): boolean =>
  partsIn(node).some(({ kind }) => kinds.includes(kind))

/** Writes an expression with all its operators and parentheses, to show how it was read. */
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
      return node.sides
        .map(side => (side.length > 1 ? `(${either(side)})` : either(side)))
        .join(` NEAR/${node.most} `)
    case 'forms':
      return `${node.inTitle ? 'title:' : ''}~${node.word}`
    case 'phrase': {
      const { words, inTitle } = node
      return `${inTitle ? 'title:' : ''}${words.length > 1 ? `"${words.join(' ')}"` : words.join()}`
    }
  }
}

/** The leaves by which an article may match, in order. Excluded leaves are not among them. */
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

type Token = { index: number } & (
  | { kind: 'words'; words: string[]; loose: boolean }
  | { kind: 'near'; most: number }
  | { kind: 'forms' }
  | { kind: 'not' }
  | { kind: 'and' }
  | { kind: 'or' }
  | { kind: 'title' }
  | { kind: 'open' }
  | { kind: 'close' }
)

const PART = `[${LETTER}\\p{M}]`
const TYPED = '“”„‟«»'
const BORDER = `[\\s()"${TYPED}]`
const TIED = `(?=[${LETTER}*"${TYPED}(])`
/**
 * What other search engines take for an operator or a field. To read it as words would find
 * nothing, and say nothing of it.
 */
const NO_OPERATOR = `NEAR(?:/(?:(?!${BORDER}).)*)?|(?:ADJ|N|ONEAR|P|PRE|W|WITHIN)/\\d(?:(?!${BORDER}).)*`
const FIELDS =
  'author body content country date domain headline inbody intext intitle lang language outlet publisher site source text title url'
    .split(' ')
    .map(name => name.replace(/./g, letter => `[${letter}${letter.toUpperCase()}]`))
    .join('|')
/** The start of a word. No word may stand directly before it, and none with only a `-` between. */
const START = `(?<!${PART}-?)`
const MINUS = `(?<![${LETTER}\\p{M}*-])-(?=[~*]?[${LETTER}"${TYPED}(])`
const BOUND = `${MINUS}|${START}~${TIED}|${START}title:`
const TOKEN = new RegExp(
  [
    '\\s+|[()]',
    `"(?<plain>[^"]*)"|[${TYPED}](?<typed>[^"${TYPED}]*)["${TYPED}]`,
    `(?<=^|${BORDER})(?:AND|OR|NOT|NEAR/(?<most>[1-9]|[1-4]\\d|${EXPRESSION_LIMITS.near}))(?=$|${BORDER})`,
    `(?<operator>(?<=^|${BORDER})(?:${NO_OPERATOR})(?=$|${BORDER}))`,
    BOUND,
    `(?<field>${START}(?:${FIELDS}):(?=[${LETTER}*"${TYPED}(~]))`,
    // An excluded word ends at the next blank, parenthesis or quotation mark.
    `(?<run>(?<=-)[${LETTER}*](?:(?!${BORDER}).)*|(?:(?!${BOUND}|${BORDER}).)+)`,
  ].join('|'),
  'uys',
)

/**
 * A quotation, or what people of our languages write for AND, OR or NEAR/n between two words,
 * or for `title:`.
 */
const MEANT = new RegExp(
  [
    `"[^"]*"|[${TYPED}][^"${TYPED}]*["${TYPED}]`,
    '(?<=[^\\s(]\\s)(?:(?<and>an|and|en|et|und|&&?)|(?<or>of|oder|or|ou)|(?:near|w|adj)/(?<most>\\d{1,2}))(?=\\s+[^\\s)])',
    '(?<=[^\\s(|])(?<bar>\\s*\\|\\|?\\s*)(?=[^\\s)|])',
    `${START}(?<title>titel|titre):${TIED}`,
  ].join('|'),
  'giu',
)

/**
 * An expression with operators in place of the words that people write for them, as `kat OR hond`
 * for `kat of hond`; null: it has no such words. An expression means what is written, so this is
 * only offered.
 */
export function operatorsMeant(q: string): string | null {
  const meant = q.replace(
    MEANT,
    (written: string, and?: string, or?: string, most?: string, bar?: string, title?: string) =>
      title ? 'title:' : bar ? ' OR ' : and ? 'AND' : or ? 'OR' : most ? `NEAR/${most}` : written,
  )
  return meant !== q && parseExpression(meant).ok ? meant : null
}

const KINDS = {
  '(': 'open',
  ')': 'close',
  '-': 'not',
  '~': 'forms',
  'title:': 'title',
  AND: 'and',
  OR: 'or',
  NOT: 'not',
} as const
const isKind = (text: string): text is keyof typeof KINDS => Object.hasOwn(KINDS, text)

function tokenAt(text: string, index: number): RegExpExecArray | null {
  TOKEN.lastIndex = index
  return TOKEN.exec(text)
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let count = 0
  for (let index = 0; index < text.length; ) {
    const found = tokenAt(text, index)
    // The only text that is no token begins with a quotation mark that is never closed.
    if (found === null) throw new Misread('quote', index)
    const token = tokenOf(found, index)
    if (token?.kind === 'words') count += token.words.length
    if (count > EXPRESSION_LIMITS.words) throw new Misread('limit', index)
    if (token !== null) tokens.push(token)
    index += found[0].length
  }
  return tokens
}

/** @returns null: the token is white space, or a text without words */
function tokenOf({ 0: token, groups = {} }: RegExpExecArray, index: number): Token | null {
  const { plain, typed, most, run, operator, field } = groups
  if (operator !== undefined) throw new Misread('operator', index)
  if (field !== undefined) throw new Misread('field', index)
  if (most !== undefined) return { kind: 'near', most: Number(most), index }
  const written = plain ?? typed ?? run
  if (written === undefined) return isKind(token) ? { kind: KINDS[token], index } : null
  const loose = run !== undefined
  const wildcard = written.search(loose ? WILDCARD.loose : WILDCARD.quoted)
  if (wildcard >= 0) throw new Misread('wildcard', index + (loose ? 0 : 1) + wildcard)
  const list = wildcardWords(written, index + (loose ? 0 : 1))
  return list.length === 0 ? null : { kind: 'words', words: list, loose, index }
}

const INNER = `(?<=${PART})(?:\\*+|\\?)(?=${PART})`
/** What stands for letters in other search engines. A quoted question may end in `?`. */
const WILDCARD = {
  loose: new RegExp(`${INNER}|\\?(?=${PART})|(?<=${PART})\\?`, 'u'),
  quoted: new RegExp(INNER, 'u'),
}

/**
 * The words of a text. A `*` directly before or after a word makes it a wildcard.
 *
 * @param index the place of the text in the query
 */
function wildcardWords(text: string, index: number): string[] {
  return wordRuns(text).map(({ start, end, word }) => {
    const before = text[start - 1] === '*' ? '*' : ''
    const after = text[end] === '*' ? '*' : ''
    if (before + after !== '' && [...word].length < LEAST_LETTERS)
      throw new Misread('part', index + start)
    return before + word + after
  })
}

/** A part of the tree. `excludes`: whether the part only has exclusions. */
interface Part {
  node: Expression
  excludes: boolean
  index: number
}

function treeOf(tokens: Token[]): Expression {
  const reader = createReader(tokens)
  const whole = readOr(reader, null)
  const rest = reader.peek()
  if (rest !== undefined) throw new Misread('close', rest.index)
  if (whole.excludes) throw new Misread('excludes', whole.index)
  return settled(whole.node)
}

function createReader(tokens: Token[]): Reader {
  let next = 0
  return {
    opened: [],
    inTitle: false,
    peek: () => tokens[next],
    take<K extends Token['kind']>(kind: K): Extract<Token, { kind: K }> | null {
      const token = tokens[next]
      if (!isOf(token, kind)) return null
      next++
      return token
    },
  }
}

const isOf = <K extends Token['kind']>(
  token: Token | undefined,
  kind: K,
): token is Extract<Token, { kind: K }> => token?.kind === kind

interface Reader {
  /** The places of the parentheses around the next token. */
  opened: number[]
  inTitle: boolean
  peek(): Token | undefined
  /** Takes the next token if it has the given kind. */
  take<K extends Token['kind']>(kind: K): Extract<Token, { kind: K }> | null
}

/**
 * @param owner the operator or the parenthesis that needs this operand; null: the whole query is
 *   the operand
 */
function readOr(reader: Reader, owner: Token | null): Part {
  const first = readAnd(reader, owner)
  const parts = [first]
  for (let or = reader.take('or'); or !== null; or = reader.take('or'))
    parts.push(readAnd(reader, or))
  if (parts.length === 1) return first
  const excluding = parts.find(part => part.excludes)
  if (excluding !== undefined) throw new Misread('excludes', excluding.index)
  return { ...first, node: { kind: 'or', of: parts.map(part => part.node) } }
}

function readAnd(reader: Reader, owner: Token | null): Part {
  const first = readNear(reader, owner)
  const parts = [first]
  for (;;) {
    const and = reader.take('and')
    const kind = reader.peek()?.kind
    if (and === null && (kind === undefined || kind === 'close' || kind === 'or')) break
    parts.push(readNear(reader, and))
  }
  if (parts.length === 1) return first
  const nodes = (excludes: boolean) =>
    parts.filter(part => part.excludes === excludes).map(part => part.node)
  const of = nodes(false)
  const not = nodes(true)
  const { index } = first
  return of.length === 0
    ? { node: { kind: 'or', of: not }, excludes: true, index }
    : { node: { kind: 'and', of, not }, excludes: false, index }
}

function readNear(reader: Reader, owner: Token | null): Part {
  const left = readNot(reader, owner)
  const near = reader.take('near')
  if (near === null) return left
  const sides: Near['sides'] = [sideOf(left, reader), sideOf(readNot(reader, near), reader)]
  const chain = reader.peek()
  if (chain?.kind === 'near') throw new Misread('operand', chain.index)
  const { inTitle } = reader
  return {
    node: { kind: 'near', sides, most: near.most, inTitle },
    excludes: false,
    index: left.index,
  }
}

function sideOf({ node, excludes, index }: Part, { inTitle }: Reader): Leaf[] {
  return (node.kind === 'or' ? node.of : [node]).map(leaf => {
    const isLeaf = leaf.kind === 'phrase' || leaf.kind === 'forms'
    if (excludes || !isLeaf || leaf.inTitle !== inTitle) throw new Misread('operand', index)
    return tightened(leaf)
  })
}

const tightened = <N extends Expression>(node: N): N =>
  'loose' in node ? { ...node, loose: false } : node

function readNot(reader: Reader, owner: Token | null): Part {
  const not = reader.take('not')
  if (not === null) return readOperand(reader, owner)
  const { node, excludes } = readNot(reader, not)
  return { node: tightened(node), excludes: !excludes, index: not.index }
}

function readOperand(reader: Reader, owner: Token | null): Part {
  const { inTitle } = reader
  const text = reader.take('words')
  if (text !== null) {
    const { words, loose, index } = text
    return { node: { kind: 'phrase', words, inTitle, loose }, excludes: false, index }
  }
  const open = reader.take('open')
  if (open !== null) {
    const { index } = open
    if (reader.opened.push(index) > EXPRESSION_LIMITS.depth) throw new Misread('limit', index)
    const part = readOr(reader, open)
    if (reader.take('close') === null) throw new Misread('open', index)
    reader.opened.pop()
    return { ...part, index }
  }
  const title = reader.take('title')
  if (title !== null) {
    reader.inTitle = true
    const part = readOperand(reader, title)
    reader.inTitle = inTitle
    return { ...part, index: title.index }
  }
  const forms = reader.take('forms')
  if (forms !== null) {
    const { node, index } = readOperand(reader, forms)
    if (node.kind !== 'phrase' || !node.loose || node.words.some(isWildcard))
      throw new Misread('operand', index)
    const of = node.words.map((word): Leaf => ({ kind: 'forms', word, inTitle }))
    return {
      node: of.length === 1 ? of[0]! : { kind: 'and', of, not: [] },
      excludes: false,
      index: forms.index,
    }
  }
  throw missing(reader, owner)
}

/** Makes the error for a missing operand of an operator or of a parenthesis. */
function missing({ peek, opened }: Reader, owner: Token | null): Misread {
  const found = peek()
  if (owner !== null && found === undefined) {
    return owner.kind === 'open'
      ? new Misread('open', owner.index)
      : new Misread('lacking', owner.index, opened.at(-1))
  }
  if (owner !== null && (owner.kind !== 'open' || found?.kind === 'close'))
    return new Misread('lacking', owner.index)
  return new Misread(found?.kind === 'close' ? 'close' : 'before', found?.index ?? 0)
}

/** The tree in which each loose phrase has become a conjunction of its words. */
function settled(node: Expression): Expression {
  switch (node.kind) {
    case 'phrase': {
      const { words, inTitle, loose } = node
      if (!loose || words.length === 1) return { kind: 'phrase', words, inTitle }
      return {
        kind: 'and',
        of: words.map(word => ({ kind: 'phrase', words: [word], inTitle })),
        not: [],
      }
    }
    case 'and':
      return { kind: 'and', of: node.of.map(settled), not: node.not.map(settled) }
    case 'or':
      return { kind: 'or', of: node.of.map(settled) }
    default:
      return node
  }
}
