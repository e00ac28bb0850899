import type { Language } from '../../shared/articles/article.ts'
import { stem } from '../analysis/stems.ts'
import { STOP_WORDS } from '../analysis/stop-words.ts'
import { moved } from './arrays.ts'
import { createWordIds, type WordIds } from './word-ids.ts'

/** The id of a stop word's stem. */
export const NO_STEM = -1

/** Not looked up yet. */
const UNKNOWN = -2

/**
 * Words and stems by id. Several segments may share a vocabulary: texts that were read for one are
 * then known to the next, and each word is stemmed once.
 */
export interface Vocabulary {
  words: WordIds
  stems: Pick<WordIds, 'text'>
  /** For each language, the id of a word's stem. */
  stemsOf(language: Language): (word: number) => number
}

export function createVocabulary(): Vocabulary {
  const words = createWordIds()
  const stems = createWordIds()
  const languages = new Map<Language, (word: number) => number>()
  const stemId = (language: Language, word: string): number => {
    if (STOP_WORDS[language].has(word)) return NO_STEM
    let id = UNKNOWN
    stems.read(`\n${stem(language, word)}\n`, found => {
      id = found
    })
    return id
  }
  return {
    words,
    stems,
    stemsOf(language) {
      let stemOf = languages.get(language)
      if (stemOf === undefined) {
        stemOf = memoised(word => stemId(language, words.text(word)))
        languages.set(language, stemOf)
      }
      return stemOf
    },
  }
}

/** Ids by ids from 0 up, each made when it is first asked for. */
export function memoised(make: (id: number) => number): (id: number) => number {
  let known = new Int32Array(1 << 12).fill(UNKNOWN)
  return id => {
    if (id >= known.length) {
      const { length } = known
      known = moved(known, Math.max(length * 2, id + 1)).fill(UNKNOWN, length)
    }
    const found = known[id]!
    if (found !== UNKNOWN) return found
    const made = make(id)
    known[id] = made
    return made
  }
}
