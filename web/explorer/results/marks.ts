import { type Match, parseBoolean, parseKeyword, wordRuns } from '../../../search/browser.ts'
import type { Language } from '../../../shared/articles/article.ts'
import type { Search } from '../search/search.ts'

/** A piece of a text: found words are marked. */
export interface Piece {
  text: string
  found: boolean
}

export type StopWords = typeof import('../../../search/stop-words.ts').STOP_WORDS

let stopWords: Promise<StopWords> | undefined

/** A file of its own: the first view does not wait for it. */
export function loadStopWords(): Promise<StopWords> {
  stopWords ??= import('../../../search/stop-words.ts')
    .then(({ STOP_WORDS }) => STOP_WORDS)
    .catch(error => {
      stopWords = undefined
      throw error
    })
  return stopWords
}

/** What a search finds in texts; null: nothing is to be marked. */
export function matchOf({ q, mode }: Pick<Search, 'q' | 'mode'>): Match | null {
  if (mode === 'semantic' || q.trim() === '') return null
  const parsed = mode === 'boolean' ? parseBoolean(q) : parseKeyword(q)
  return parsed.ok ? parsed.match : null
}

/**
 * Cuts a text at the words that the search finds in an article of the language: phrases as written,
 * keywords in their forms (decisions 17 and 18). The engine's stemmer is too large for a page, so
 * forms are told by their endings: a form with a changed vowel stays unmarked.
 *
 * @param stopWords null: not loaded yet
 */
export function mark(text: string, language: Language, match: Match | null, stopWords: StopWords | null): Piece[] {
  const normal = text.normalize('NFC')
  if (match === null || match.kind === 'all') return [{ text: normal, found: false }]
  const runs = wordRuns(normal)
  const found =
    match.kind === 'keyword' ? keywords(runs, match.words, stopWords?.[language]) : phrases(runs, match.required)
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

function keywords(runs: Runs, words: string[], stopWords: ReadonlySet<string> | undefined): Place[] {
  const telling = words.filter(word => stopWords?.has(word) !== true)
  // A query of stop words alone finds them as written.
  if (telling.length === 0) return runs.filter(({ word }) => words.includes(word))
  return runs.filter(({ word }) => stopWords?.has(word) !== true && telling.some(wanted => isForm(word, wanted)))
}

/** Endings of Dutch, French, German, Luxembourgish and English words, without accents. */
const ENDINGS = new Set(
  ' e en er ers ern es s se n ne r re rs t te ten d de den x a ed ing ings in innen ns lech al aux ment'.split(' '),
)
/** Shorter trunks would join words that have nothing in common. */
const SHORTEST_TRUNK = 4

/** Whether two words are forms of one another: the same but for an ending. */
function isForm(word: string, other: string): boolean {
  if (word === other) return true
  let same = 0
  while (same < word.length && word[same] === other[same]) same++
  // The trunk may end before the letters stop being the same: "elections", "election".
  for (let trunk = same; trunk >= Math.max(SHORTEST_TRUNK, same - 2); trunk--) {
    if (ENDINGS.has(word.slice(trunk)) && ENDINGS.has(other.slice(trunk))) return true
  }
  return false
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
