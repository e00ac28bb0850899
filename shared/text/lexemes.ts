import { createHash } from 'node:crypto'
import type { Country, Language } from '../articles/article.ts'

/**
 * The vocabulary of `articles.terms`. A bare lexeme is a word of title or body as written; all others begin with a
 * capital, which no folded word can. Queries and articles make them here, so that they cannot differ.
 */
export const LEXEMES = {
  word: (word: string) => bounded('', word),
  titleWord: (word: string) => bounded('T', word),
  /** Stems carry their language: a Dutch stem never meets a German article. */
  stem: (language: Language, stem: string) => bounded(`S${STEM_LETTERS[language]}`, stem),
  titleStem: (language: Language, stem: string) => bounded(`U${STEM_LETTERS[language]}`, stem),
  /** Two words side by side, where looking for the two is not enough (`shared/text/pairs.ts`, `shared/segments/neighbours.ts`). */
  pair: (first: string, second: string) => `W${first}\n${second}`,
  titlePair: (first: string, second: string) => `V${first}\n${second}`,
  country: (country: Country) => `C${country}`,
  language: (language: Language) => `L${language}`,
  hasAuthor: (has: boolean) => (has ? 'H1' : 'H0'),
  publisher: (no: number) => `P${no}`,
  author: (no: number) => `A${no}`,
  /** A year, month or day (UTC) of publication, written 2026, 202611, 20261121. */
  published: (period: string) => `D${period}`,
  ingested: (period: string) => `E${period}`,
  /** Positions in `terms` are incomplete: phrases are rechecked on `article_words`. */
  positionsCut: 'X1',
  /** The words are missing altogether: every match is rechecked. */
  wordsCut: 'X2',
} as const

/** Of an article without the date in question. */
export const NO_DATE = 'null'

const STEM_LETTERS: Record<Language, string> = { nl: 'n', fr: 'f', de: 'd', lb: 'l', en: 'e' }

/** Postgres refuses lexemes over 2,046 bytes; a character of a folded word may take four. */
const LONGEST = 255

function bounded(prefix: string, word: string): string {
  // `#` is part of no word, so a digest meets nothing but itself.
  return prefix + (word.length <= LONGEST ? word : `#${createHash('sha256').update(word).digest('hex')}`)
}

/** The lexemes of an instant: its year, month and day. */
export function periodsOf(at: Date | null): string[] {
  if (at === null) return [NO_DATE]
  const day = at.toISOString().replace(/^\+?(-?\d+)-(\d\d)-(\d\d)T.*$/, '$1$2$3')
  return [day.slice(0, -4), day.slice(0, -2), day]
}
