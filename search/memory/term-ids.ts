import type { Language } from '../../shared/articles/article.ts'
import { stem } from '../analysis/stems.ts'
import { STOP_WORDS } from '../analysis/stop-words.ts'
import { createVocabulary } from '../segment/word-ids.ts'
import { LEXEMES, LONGEST_WORD } from '../terms.ts'

/**
 * The words of fresh articles and their stems as numbers. Chunks share one, because what is new in a new article is little then;
 * some 50 bytes a word.
 */
export interface Lexicon {
  /** How many words it has met. */
  readonly words: number
  /** Calls back with every word of a list as `wordList` writes it. */
  read(list: string, visit: (word: number) => void): void
  /** The number of a word, by its lexeme; −1: never met. */
  word(lexeme: string): number
  /** The number of a stem, by its lexeme; −1: never met. */
  stem(lexeme: string): number
  /** The stem that a word has in a language; −1: it is a stop word. */
  stemOf(word: number, language: Language): number
}

/** In place of a stem's number + 1. */
const UNKNOWN = 0
const STOP = -1

export function createLexicon(): Lexicon {
  const vocabulary = createVocabulary()
  /** Words so long that their lexemes are others. */
  const long = new Map<string, number>()
  /** Words up to here were looked at for that. */
  let measured = 0
  const stems = new Map<string, number>()
  const known = new Map<Language, Int32Array>()

  const find = (word: number, language: Language): number => {
    const text = vocabulary.text(word)
    if (STOP_WORDS[language].has(text)) return STOP
    const own = LEXEMES.stem(language, stem(language, text))
    const present = stems.get(own)
    if (present !== undefined) return present + 1
    stems.set(own, stems.size)
    return stems.size
  }
  return {
    get words() {
      return vocabulary.size
    },
    read(list, visit) {
      vocabulary.read(list, visit)
      for (; measured < vocabulary.size; measured++) {
        if (vocabulary.length(measured) > LONGEST_WORD) long.set(LEXEMES.word(vocabulary.text(measured)), measured)
      }
    },
    word(lexeme) {
      const word = vocabulary.find(lexeme)
      return word < 0 ? (long.get(lexeme) ?? -1) : word
    },
    stem: lexeme => stems.get(lexeme) ?? -1,
    stemOf(word, language) {
      let own = known.get(language)
      if (own === undefined || word >= own.length) {
        const larger = new Int32Array(2 ** Math.ceil(Math.log2(word + 1_024)))
        if (own !== undefined) larger.set(own)
        own = larger
        known.set(language, own)
      }
      let found = own[word]!
      if (found === UNKNOWN) {
        found = find(word, language)
        own[word] = found
      }
      return found === STOP ? -1 : found - 1
    },
  }
}
