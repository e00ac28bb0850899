import { LANGUAGES, type Language } from '../../shared/articles/article.ts'
import { stem } from '../analysis/stems.ts'
import { STOP_WORDS } from '../analysis/stop-words.ts'
import { wordList } from '../analysis/word-list.ts'
import { LEXEMES } from '../terms.ts'
import type { ArticleQuery, Match } from './article-query.ts'
import { allOf, anyOf, but, type Expression, lexeme } from './node.ts'

type Scope = ArticleQuery['searchIn']

/** How a match is asked of the index. */
export interface Matching {
  /** null: everything matches. */
  expression: Expression | null
  /** The same once more for the words themselves (`article_words`), where the lists of segments leave it open. */
  recheck: Recheck | null
  /** What makes one match closer than another (decision 17); empty: all are equal. */
  probes: Probe[]
}

export interface Recheck {
  whole: boolean
  /** All of these lists are part of the article's … */
  required: string[]
  /** … and none of these. */
  excluded: string[]
}

/** One sign of closeness in articles of one language, worth its weight. */
export interface Probe {
  language: Language
  lexeme: string
  weight: number
}

/** @param languages those the filter leaves: stems of others need not be asked for */
export function matchingOf(match: Match, scope: Scope, languages: readonly Language[] | null): Matching {
  switch (match.kind) {
    case 'all':
      return { expression: null, recheck: null, probes: [] }
    case 'boolean':
      return { ...asWritten(match.required, match.excluded, scope), probes: [] }
    case 'keyword': {
      const readings = (languages ?? LANGUAGES).map(language => readingIn(language, match.words))
      return {
        expression: anyOf(readings.flatMap(reading => readingParts(reading, scope))),
        // Words by themselves are never open.
        recheck: null,
        probes: readings.flatMap(reading => probesOf(reading, match.words, scope)),
      }
    }
  }
}

/** What the words of a keyword search mean in articles of one language: stems, or, of stop words alone, the words as written. */
interface Reading {
  language: Language
  stems: string[]
  written: string[]
}

function readingIn(language: Language, words: string[]): Reading {
  const meaning = words.filter(word => !STOP_WORDS[language].has(word))
  if (meaning.length === 0) return { language, stems: [], written: words }
  return { language, stems: [...new Set(meaning.map(word => stem(language, word)))], written: [] }
}

function readingParts({ language, stems, written }: Reading, scope: Scope): Expression[] {
  if (written.length === 0) return stems.map(one => lexeme(stemLexeme(scope)(language, one)))
  return [allOf([lexeme(LEXEMES.language(language)), anyOf(written.map(word => lexeme(wordLexeme(scope)(word))))])]
}

/** The number of different words found counts most, then those in the title, then those found as written. */
function probesOf({ language, stems, written }: Reading, words: string[], scope: Scope): Probe[] {
  const whole = scope === 'title_body'
  const probes: Probe[] = []
  for (const one of stems) {
    probes.push({ language, lexeme: stemLexeme(scope)(language, one), weight: 10_000 })
    if (whole) probes.push({ language, lexeme: LEXEMES.titleStem(language, one), weight: 100 })
  }
  for (const one of written) {
    probes.push({ language, lexeme: wordLexeme(scope)(one), weight: 10_000 })
    if (whole) probes.push({ language, lexeme: LEXEMES.titleWord(one), weight: 100 })
  }
  if (written.length === 0) {
    for (const word of words.filter(one => !STOP_WORDS[language].has(one))) {
      probes.push({ language, lexeme: wordLexeme(scope)(word), weight: 1 })
    }
  }
  return probes
}

function asWritten(required: string[][], excluded: string[][], scope: Scope): Omit<Matching, 'probes'> {
  const phrase = (words: string[]): Expression =>
    words.length === 1 ? lexeme(wordLexeme(scope)(words[0]!)) : { kind: 'phrase', words, scope }
  return {
    expression: but(allOf(required.map(phrase)), excluded.map(phrase)),
    recheck: {
      whole: scope === 'title_body',
      required: required.map(wordList),
      excluded: excluded.map(wordList),
    },
  }
}

const wordLexeme = (scope: Scope) => (scope === 'title' ? LEXEMES.titleWord : LEXEMES.word)
const stemLexeme = (scope: Scope) => (scope === 'title' ? LEXEMES.titleStem : LEXEMES.stem)
