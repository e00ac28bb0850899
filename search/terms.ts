import { createHash } from 'node:crypto'
import { foldName, LONGEST_WORD } from './analysis/tokens.ts'
import type { Access, Country, Kind, Language } from './vocabulary.ts'

/**
 * The terms of the index. A term without a prefix is a word of title or body as written. Every
 * other term begins with a capital letter, which no folded word has. Queries and articles both make
 * their terms here, so equal things always have equal terms.
 */
export const TERMS = {
  word: (word: string): string => bounded('', word),
  titleWord: (word: string): string => bounded('T', word),
  /** The term of a stem includes its language, so a Dutch stem never matches a German article. */
  stem: (language: Language, stem: string): string => bounded(`S${STEM_LETTERS[language]}`, stem),
  titleStem: (language: Language, stem: string): string =>
    bounded(`U${STEM_LETTERS[language]}`, stem),
  /** Two or three neighbouring words (`segment/ngrams.ts`). */
  pair: (first: string, second: string): string => `W${first}\n${second}`,
  titlePair: (first: string, second: string): string => `V${first}\n${second}`,
  triple: (first: string, second: string, third: string): string =>
    `W${first}\n${second}\n${third}`,
  country: (country: Country): string => `C${country}`,
  language: (language: Language): string => `L${language}`,
  hasAuthor: (has: boolean): 'H1' | 'H0' => (has ? 'H1' : 'H0'),
  publisher: (publisherNo: number): string => `P${publisherNo}`,
  author: (authorNo: number): string => `A${authorNo}`,
  section: (section: string): string => bounded('E', foldName(section)),
  kind: (kind: Kind): string => `K${kind}`,
  access: (access: Access): string => `F${access}`,
  /**
   * A folded part of a name or domain. No posting list is stored for it: `memory/name-lists.ts`
   * computes one.
   */
  outletPart: (part: string): string => `O${part}`,
  authorPart: (part: string): string => `N${part}`,
} as const

/** The kinds of names in which a filter can find a part. */
export type NameField = 'outlet' | 'author'

/** @returns null: the term is no part of a name */
export function parseNameTerm(term: string): { field: NameField; part: string } | null {
  if (term[0] === 'O') return { field: 'outlet', part: term.slice(1) }
  return term[0] === 'N' ? { field: 'author', part: term.slice(1) } : null
}

/** What the outlet itself says of an article; null: it says nothing. */
export interface Stated {
  /** Its own word for the part of the newspaper. */
  section: string | null
  kind: Kind | null
  access: Access | null
}

export const NOTHING_STATED: Stated = { section: null, kind: null, access: null }

/** The fields of an article from which filter terms are made. Times are not among them. */
export interface Filterable extends Stated {
  country: Country
  language: Language
  publisherNo: number
  authorNos: number[]
}

/** All terms of an article by which filters find the article. */
export const filterTerms = ({
  country,
  language,
  publisherNo,
  authorNos,
  section,
  kind,
  access,
}: Filterable): string[] => [
  TERMS.country(country),
  TERMS.language(language),
  TERMS.hasAuthor(authorNos.length > 0),
  TERMS.publisher(publisherNo),
  ...authorNos.map(TERMS.author),
  ...(section === null ? [] : [TERMS.section(section)]),
  ...(kind === null ? [] : [TERMS.kind(kind)]),
  ...(access === null ? [] : [TERMS.access(access)]),
]

/**
 * A term that stands for a word or a stem. `of` is the term of the same word or stem in the whole
 * text, title and body.
 */
export interface WordTerm {
  kind: 'word' | 'stem'
  inTitle: boolean
  of: string
}

/** @returns null: the term is no word and no stem */
export function parseWordTerm(term: string): WordTerm | null {
  switch (term[0]) {
    case 'T':
      return { kind: 'word', inTitle: true, of: term.slice(1) }
    case 'S':
      return { kind: 'stem', inTitle: false, of: term }
    case 'U':
      return { kind: 'stem', inTitle: true, of: `S${term.slice(1)}` }
    default:
      return /^[A-Z]/.test(term) ? null : { kind: 'word', inTitle: false, of: term }
  }
}

/** The term of the same word or stem in titles alone. @param term of the whole text */
export const inTitle = (term: string): string =>
  term[0] === 'S' ? `U${term.slice(1)}` : `T${term}`

const STEM_LETTERS: Record<Language, string> = { nl: 'n', fr: 'f', de: 'd', lb: 'l', en: 'e' }

function bounded(prefix: string, word: string): string {
  // No word contains `#`, so a digest never equals a word.
  return (
    prefix +
    (word.length <= LONGEST_WORD ? word : `#${createHash('sha256').update(word).digest('hex')}`)
  )
}
