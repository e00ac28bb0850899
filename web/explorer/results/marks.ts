import { type Match, parseBoolean, parseKeyword, wordRuns } from '../../../search/browser.ts'
import type { Language } from '../../../shared/articles/article.ts'
import type { Search } from '../search/search.ts'

/** A piece of a text: found words are marked. */
export interface Piece {
  text: string
  found: boolean
}

/** Snowball's stems and the stop words, loaded when a search by keywords needs them. */
export type Stems = typeof import('../../../search/analysis/index.ts')

let stems: Promise<Stems> | undefined
/** A chunk of its own: the first view does not wait for it. */
export function loadStems(): Promise<Stems> {
  stems ??= import('../../../search/analysis/index.ts').catch(error => {
    stems = undefined
    throw error
  })
  return stems
}

/** What a search finds in texts; null: nothing is to be marked. */
export function matchOf({ q, mode }: Pick<Search, 'q' | 'mode'>): Match | null {
  if (mode === 'semantic' || q.trim() === '') return null
  const parsed = mode === 'boolean' ? parseBoolean(q) : parseKeyword(q)
  return parsed.ok ? parsed.match : null
}

/**
 * Cuts a text at the words that the search finds in an article of the language, as the engine
 * compares them: phrases as written, keywords by their stem (decisions 17 and 18).
 *
 * @param stemming null: not loaded yet; keywords are then compared as written
 */
export function mark(text: string, language: Language, match: Match | null, stemming: Stems | null): Piece[] {
  const normal = text.normalize('NFC')
  if (match === null || match.kind === 'all') return [{ text: normal, found: false }]
  const runs = wordRuns(normal)
  const found =
    match.kind === 'keyword' ? keywords(runs, language, match.words, stemming) : phrases(runs, match.required)
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

interface Place {
  start: number
  end: number
}
type Runs = ReturnType<typeof wordRuns>

function keywords(runs: Runs, language: Language, words: string[], stemming: Stems | null): Place[] {
  if (stemming === null) return runs.filter(({ word }) => words.includes(word))
  const stopWords = stemming.STOP_WORDS[language]
  const telling = words.filter(word => !stopWords.has(word))
  if (telling.length === 0) return runs.filter(({ word }) => words.includes(word))
  const wanted = new Set(telling.map(word => stemming.stem(language, word)))
  return runs.filter(({ word }) => !stopWords.has(word) && wanted.has(stemming.stem(language, word)))
}

/** Runs of words that are one of the phrases; those that overlap are one place. */
function phrases(runs: Runs, wanted: string[][]): Place[] {
  const places: Place[] = []
  runs.forEach((run, at) => {
    const length = Math.max(
      0,
      ...wanted
        .filter(phrase => phrase.every((word, offset) => runs[at + offset]?.word === word))
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
