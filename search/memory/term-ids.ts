import type { Language } from '../../shared/articles/article.ts'
import { stem } from '../analysis/stems.ts'
import { STOP_WORDS } from '../analysis/stop-words.ts'
import { createWordIds } from '../segment/word-ids.ts'
import { LONGEST_WORD, TERMS } from '../terms.ts'

/**
 * Ids of the words of new articles and of their stems. In-memory segments share one, because a new
 * article brings few new words. Some 50 bytes a word.
 */
export interface TermIds {
  /** Number of different words. */
  readonly words: number
  /** Calls back with every word of a list as `wordList` writes it. */
  read(list: string, visit: (word: number) => void): void
  /** The id of a word, by its term; −1: unknown. */
  word(term: string): number
  /** The id of a stem, by its term; −1: unknown. */
  stem(term: string): number
  /** The id of a word's stem in a language; −1: the word is a stop word. */
  stemOf(word: number, language: Language): number
}

/** In place of a stem's id + 1. */
const UNKNOWN = 0
const STOP = -1

export function createTermIds(): TermIds {
  const wordIds = createWordIds()
  /** Words so long that their terms are digests. */
  const long = new Map<string, number>()
  /** Words before this one were looked at for their length. */
  let measured = 0
  const stems = new Map<string, number>()
  const stemsOf = new Map<Language, Int32Array>()

  const findStem = (word: number, language: Language): number => {
    const text = wordIds.text(word)
    if (STOP_WORDS[language].has(text)) return STOP
    const term = TERMS.stem(language, stem(language, text))
    const present = stems.get(term)
    if (present !== undefined) return present + 1
    stems.set(term, stems.size)
    return stems.size
  }
  return {
    get words() {
      return wordIds.size
    },
    read(list, visit) {
      wordIds.read(list, visit)
      for (; measured < wordIds.size; measured++) {
        if (wordIds.length(measured) > LONGEST_WORD) long.set(TERMS.word(wordIds.text(measured)), measured)
      }
    },
    word(term) {
      const word = wordIds.find(term)
      return word < 0 ? (long.get(term) ?? -1) : word
    },
    stem: term => stems.get(term) ?? -1,
    stemOf(word, language) {
      let known = stemsOf.get(language)
      if (known === undefined || word >= known.length) {
        const larger = new Int32Array(2 ** Math.ceil(Math.log2(word + 1_024)))
        if (known !== undefined) larger.set(known)
        known = larger
        stemsOf.set(language, known)
      }
      let found = known[word]!
      if (found === UNKNOWN) {
        found = findStem(word, language)
        known[word] = found
      }
      return found === STOP ? -1 : found - 1
    },
  }
}
