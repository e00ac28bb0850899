import {
  inFull,
  operatorsMeant,
  type Problem,
  parseBoolean,
  parseExpression,
  parseKeyword,
  QUERY_PROBLEMS,
} from '#search/browser'
import { LIMITS } from '#services/api/contract/limits'
import type { Search } from './search.ts'

/** How a query is read, by the same parser that the API uses. */
export type Reading =
  | { kind: 'everything' }
  | { kind: 'any' | 'all'; wanted: string[]; excluded: string[]; hints: Hint[] }
  | { kind: 'tree'; text: string; meant: string | null }
  | { kind: 'misread'; misread: Problem; q: string }
  | { kind: 'meaning'; q: string }
  | { kind: 'problem'; problem: keyof typeof QUERY_PROBLEMS | 'short' | 'long' }

/** A part of a query that looks like an operator, but is not one in this mode. */
export type Hint =
  | { kind: 'operator'; word: string }
  | { kind: 'wildcard' }
  | { kind: 'quotes' }
  | { kind: 'ignored' }

export function readQuery({ q, mode }: Pick<Search, 'q' | 'mode'>): Reading {
  const written = q.normalize('NFC').trim()
  const length = [...written].length
  if (length > (mode === 'expression' ? LIMITS.expression : LIMITS.q))
    return { kind: 'problem', problem: 'long' }
  if (mode === 'semantic') return readMeaning(written, length)
  if (written === '') return { kind: 'everything' }
  if (mode === 'expression') return readExpression(written)
  const parsed = mode === 'boolean' ? parseBoolean(written) : parseKeyword(written)
  if (!parsed.ok) return { kind: 'problem', problem: problemOf(parsed.errors) }
  const { match } = parsed
  const hints = hintsOf(written, mode)
  switch (match.kind) {
    case 'all':
    case 'expression':
      return { kind: 'everything' }
    case 'keyword':
      return { kind: 'any', wanted: match.words, excluded: [], hints }
    case 'boolean':
      return {
        kind: 'all',
        wanted: match.required.map(shown),
        excluded: match.excluded.map(shown),
        hints,
      }
  }
}

function readExpression(written: string): Reading {
  const parsed = parseExpression(written)
  if (parsed.ok)
    return { kind: 'tree', text: inFull(parsed.match.tree), meant: operatorsMeant(written) }
  const { misread } = parsed
  return misread === undefined
    ? { kind: 'problem', problem: 'nothing' }
    : { kind: 'misread', misread, q: written }
}

function readMeaning(written: string, length: number): Reading {
  if (length < LIMITS.semanticQ) return { kind: 'problem', problem: 'short' }
  const parsed = parseKeyword(written)
  return parsed.ok ? { kind: 'meaning', q: written } : { kind: 'problem', problem: 'nothing' }
}

const shown = (phrase: string[]) =>
  phrase.length > 1 ? `“${phrase.join(' ')}”` : (phrase[0] ?? '')

function problemOf(errors: string[]): keyof typeof QUERY_PROBLEMS {
  if (errors.includes(QUERY_PROBLEMS.openQuote)) return 'openQuote'
  return errors.includes(QUERY_PROBLEMS.onlyExclusions) ? 'onlyExclusions' : 'nothing'
}

/** Words that other search engines read as operators when they stand between other words. */
const OPERATORS =
  /(?<=\S\s)(?:or|and|not|OF|EN|NIET|OU|ET|SAUF|ODER|UND|NICHT|AN|NET|(?:near|w|adj)\/\d{1,2}|\|\||&&)(?=\s\S)/i
/** In small letters these are ordinary words of a language, so they are not meant as operators. */
const ONLY_CAPITALS = /^(?:of|en|niet|ou|et|sauf|oder|und|nicht|an|net)$/

function hintsOf(q: string, mode: 'keyword' | 'boolean'): Hint[] {
  const outside = q.replace(/"[^"]*"/g, quoted =>
    mode === 'boolean' ? 'x'.repeat(quoted.length) : quoted,
  )
  const operator = OPERATORS.exec(outside)?.[0]
  return [
    ...(operator !== undefined && !ONLY_CAPITALS.test(operator)
      ? [{ kind: 'operator', word: operator } as const]
      : []),
    ...(/[\p{L}\p{N}]\*|\*[\p{L}\p{N}]/u.test(outside) ? [{ kind: 'wildcard' } as const] : []),
    ...(mode === 'boolean' && /[“”„«»]/.test(q) ? [{ kind: 'quotes' } as const] : []),
    ...(mode === 'keyword' && /"[^"]+\s[^"]+"|(?:^|\s)-[\p{L}\p{N}"]/u.test(q)
      ? [{ kind: 'ignored' } as const]
      : []),
  ]
}
