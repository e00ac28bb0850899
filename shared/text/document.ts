import type { Language } from '../articles/article.ts'
import { LEXEMES } from './lexemes.ts'
import { isPair } from './pairs.ts'
import { stem } from './stems.ts'
import { STOP_WORDS } from './stopwords.ts'
import { words } from './tokens.ts'
import { type Lexemes, TSVECTOR_LIMITS, tsvectorBytes } from './tsvector.ts'

/** An article's text as the index holds it. */
export interface IndexedText {
  lexemes: Lexemes
  /** 0; 1: some positions are missing; 2: all words are. */
  limits: 0 | 1 | 2
  /** What is looked up where the lexemes leave it open (`article_words`). */
  words: DocumentWords
}

/** The words of an article, each list written by `wordList`; its stems only where the lexemes have limits. */
export interface DocumentWords {
  title: string
  body: string
  titleStems: string | null
  bodyStems: string | null
}

/**
 * The lexemes of an article's title and body: words as written with their positions, the title's once more on their own;
 * stems in the article's language, without its stop words, without positions; pairs of very frequent words.
 * Between title and body lies a position without a word, so that no phrase spans both (decision 20).
 */
export function indexText(title: string, body: string | null, language: Language): IndexedText {
  const titleWords = words(title)
  const bodyWords = body === null ? [] : words(body)
  const lexemes: Lexemes = new Map()
  let cut = false
  const add = (lexeme: string, position: number) => {
    let positions = lexemes.get(lexeme)
    if (positions === undefined) {
      positions = []
      lexemes.set(lexeme, positions)
    }
    if (position > TSVECTOR_LIMITS.position || positions.length === TSVECTOR_LIMITS.positions) cut = true
    else positions.push(position)
  }
  titleWords.forEach((word, index) => {
    add(LEXEMES.word(word), index + 1)
    add(LEXEMES.titleWord(word), index + 1)
  })
  const gap = titleWords.length + 2
  bodyWords.forEach((word, index) => {
    add(LEXEMES.word(word), gap + index)
  })
  addPairs(lexemes, titleWords, LEXEMES.titlePair)
  addPairs(lexemes, titleWords, LEXEMES.pair)
  addPairs(lexemes, bodyWords, LEXEMES.pair)
  const titleStems = stemsOf(titleWords, language)
  const bodyStems = stemsOf(bodyWords, language)
  for (const found of titleStems)
    lexemes.set(LEXEMES.titleStem(language, found), []).set(LEXEMES.stem(language, found), [])
  for (const found of bodyStems) lexemes.set(LEXEMES.stem(language, found), [])

  const lists = { title: wordList(titleWords), body: wordList(bodyWords) }
  const whole = tsvectorBytes(lexemes) <= TSVECTOR_LIMITS.bytes
  if (whole && !cut) return { lexemes, limits: 0, words: { ...lists, titleStems: null, bodyStems: null } }
  const kept = { ...lists, titleStems: wordList([...titleStems]), bodyStems: wordList([...bodyStems]) }
  return whole
    ? { lexemes: lexemes.set(LEXEMES.positionsCut, []), limits: 1, words: kept }
    : { lexemes: new Map([[LEXEMES.wordsCut, []]]), limits: 2, words: kept }
}

/** Words with a line break before, between and after them: a phrase is in the list when its own list is a part of it. */
export function wordList(list: string[]): string {
  return list.length === 0 ? '\n' : `\n${list.join('\n')}\n`
}

function addPairs(lexemes: Lexemes, list: string[], lexeme: (first: string, second: string) => string): void {
  for (let at = 1; at < list.length; at++) {
    const first = list[at - 1]!
    const second = list[at]!
    if (isPair(first, second)) lexemes.set(lexeme(first, second), [])
  }
}

function stemsOf(list: string[], language: Language): Set<string> {
  const stops = STOP_WORDS[language]
  const stems = new Set<string>()
  for (const word of list) if (!stops.has(word)) stems.add(stem(language, word))
  return stems
}
