import {
  fits,
  leavesOf,
  type Match,
  parseBoolean,
  parseExpression,
  parseKeyword,
  wordRuns,
} from '#search/browser'
import type { Search } from './search.ts'

/** A piece of a text: found words are marked. */
export interface Piece {
  text: string
  found: boolean
}

const PARSERS = { keyword: parseKeyword, boolean: parseBoolean, expression: parseExpression }

/** The words that a search finds in texts; null: nothing to mark. */
export function matchOf({ q, mode }: Pick<Search, 'q' | 'mode'>): Match | null {
  if (mode === 'semantic' || q.trim() === '') return null
  const parsed = PARSERS[mode](q)
  return parsed.ok ? parsed.match : null
}

/**
 * Splits a text at the words that the search has found in it: phrases as written, keywords in the
 * forms that the API returns (decisions 17 and 18).
 *
 * @param words folded forms; null: they have not arrived yet
 */
export function mark(
  text: string,
  match: Match | null,
  words: ReadonlySet<string> | null,
): Piece[] {
  const normal = text.normalize('NFC')
  if (match === null || match.kind === 'all') return [{ text: normal, found: false }]
  const runs = wordRuns(normal)
  const found = phrases(runs, wantedOf(match, words ?? new Set()))
  const pieces: Piece[] = []
  let at = 0
  for (const { start, end } of found) {
    if (start > at) pieces.push({ text: normal.slice(at, start), found: false })
    pieces.push({ text: normal.slice(start, end), found: true })
    at = end
  }
  if (at < normal.length) pieces.push({ text: normal.slice(at), found: false })
  return pieces
}

/** Phrases as written, and forms of words as phrases of one word. */
function wantedOf(match: Exclude<Match, { kind: 'all' }>, words: ReadonlySet<string>): string[][] {
  if (match.kind === 'boolean') return match.required
  const forms = [...words].map(word => [word])
  if (match.kind === 'keyword') return forms
  return [
    ...forms,
    ...leavesOf(match.tree).flatMap(leaf => (leaf.kind === 'phrase' ? [leaf.words] : [])),
  ]
}

interface Span {
  start: number
  end: number
}
type Runs = { word: string; start: number; end: number }[]

/** Places where a run of words is one of the phrases. Overlapping runs make one place. */
function phrases(runs: Runs, wanted: string[][]): Span[] {
  const places: Span[] = []
  runs.forEach((run, at) => {
    const length = Math.max(
      0,
      ...wanted
        .filter(phrase => phrase.every((word, offset) => fits(word, runs[at + offset]?.word)))
        .map(phrase => phrase.length),
    )
    const last = runs[at + length - 1]
    if (length === 0 || last === undefined) return
    const before = places.at(-1)
    if (before !== undefined && run.start < before.end) before.end = Math.max(before.end, last.end)
    else places.push({ start: run.start, end: last.end })
  })
  return places
}
