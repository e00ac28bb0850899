import { createHash } from 'node:crypto'
import type { Country, Language } from '../shared/articles/article.ts'

/**
 * The vocabulary of the index of words. A bare lexeme is a word of title or body as written; all others begin with a
 * capital, which no folded word can. Queries and articles make them here, so that they cannot differ.
 */
export const LEXEMES = {
  word: (word: string) => bounded('', word),
  titleWord: (word: string) => bounded('T', word),
  /** Stems carry their language: a Dutch stem never meets a German article. */
  stem: (language: Language, stem: string) => bounded(`S${STEM_LETTERS[language]}`, stem),
  titleStem: (language: Language, stem: string) => bounded(`U${STEM_LETTERS[language]}`, stem),
  /** Two words side by side, where looking for the two is not enough (`search/segment/shingles.ts`). */
  pair: (first: string, second: string) => `W${first}\n${second}`,
  titlePair: (first: string, second: string) => `V${first}\n${second}`,
  country: (country: Country) => `C${country}`,
  language: (language: Language) => `L${language}`,
  hasAuthor: (has: boolean) => (has ? 'H1' : 'H0'),
  publisher: (no: number) => `P${no}`,
  author: (no: number) => `A${no}`,
} as const

/** A lexeme that stands for a word or a stem; `of` is that of the same word or stem in title or body. */
export interface WordLexeme {
  kind: 'word' | 'stem'
  inTitle: boolean
  of: string
}

/** null: it stands for something else. */
export function readLexeme(lexeme: string): WordLexeme | null {
  switch (lexeme[0]) {
    case 'T':
      return { kind: 'word', inTitle: true, of: lexeme.slice(1) }
    case 'S':
      return { kind: 'stem', inTitle: false, of: lexeme }
    case 'U':
      return { kind: 'stem', inTitle: true, of: `S${lexeme.slice(1)}` }
    default:
      return /^[A-Z]/.test(lexeme) ? null : { kind: 'word', inTitle: false, of: lexeme }
  }
}

const STEM_LETTERS: Record<Language, string> = { nl: 'n', fr: 'f', de: 'd', lb: 'l', en: 'e' }

/** Longer words are kept by their digest, so that no lexeme is long; a character of a folded word may take four bytes. */
export const LONGEST_WORD = 255

function bounded(prefix: string, word: string): string {
  // `#` is part of no word, so a digest meets nothing but itself.
  return prefix + (word.length <= LONGEST_WORD ? word : `#${createHash('sha256').update(word).digest('hex')}`)
}
