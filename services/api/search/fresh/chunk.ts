import type { Country, Language } from '../../../../shared/articles/article.ts'
import { type DocSet, emptySet, intersection, listSet, passing } from '../../../../shared/segments/doc-set.ts'
import { createNumbers } from '../../../../shared/segments/grouping.ts'
import { createVocabulary } from '../../../../shared/segments/vocabulary.ts'
import { LEXEMES } from '../../../../shared/text/lexemes.ts'
import { stem } from '../../../../shared/text/stems.ts'
import { STOP_WORDS } from '../../../../shared/text/stopwords.ts'
import { createLinks, createLists, type Links } from './lists.ts'

/** A fresh article as it is read; times in ms since 1970. */
export interface FreshArticle {
  seq: bigint
  id: string
  published: number | null
  ingested: number | null
  publisherNo: number
  authorNos: number[]
  country: Country
  language: Language
  /** Words, as `wordList` writes them. */
  title: string
  body: string
}

/** What is known of an article besides its words. */
export type FreshDocument = Omit<FreshArticle, 'title' | 'body' | 'country'>

/**
 * Some consecutive articles in memory, at most 65,536, indexed by their words. Grows at its end and never changes otherwise;
 * documents are numbered in the order of ingestion. Some 10 kB an article.
 */
export interface Chunk {
  readonly documents: readonly FreshDocument[]
  add(article: FreshArticle): void
  /** The documents with a lexeme. */
  list(lexeme: string): DocSet
  /** The documents with words side by side, all within the title or all within the body. */
  phrase(words: string[], scope: 'title' | 'title_body'): DocSet
}

/** Lists of stems in one language by words; a stop word has none. */
interface Stems {
  whole: Links
  title: Links
}

export function createChunk(): Chunk {
  const documents: FreshDocument[] = []
  const lists = createLists()
  const vocabulary = createVocabulary()
  const ofWord = createLinks()
  const ofTitleWord = createLinks()
  const languages = new Map<Language, Stems>()
  /** Lists of all other lexemes, and of words that are too long to be one. */
  const others = new Map<string, number>()
  // All texts one after the other, as numbers of words.
  const tokens = createNumbers()
  const titleStarts: number[] = []
  const bodyStarts: number[] = []

  const listOf = (lexeme: string): number => {
    const known = others.get(lexeme)
    if (known !== undefined) return known
    const list = lists.create()
    others.set(lexeme, list)
    return list
  }
  const wordList = (word: number): number => {
    const lexeme = LEXEMES.word(vocabulary.text(word))
    return vocabulary.find(lexeme) === word ? lists.create() : listOf(lexeme)
  }
  const stemList = (word: number, language: Language, lexeme: typeof LEXEMES.stem): number | null => {
    const text = vocabulary.text(word)
    return STOP_WORDS[language].has(text) ? null : listOf(lexeme(language, stem(language, text)))
  }
  const stemsOf = (language: Language): Stems => {
    let stems = languages.get(language)
    if (stems === undefined) {
      stems = { whole: createLinks(), title: createLinks() }
      languages.set(language, stems)
    }
    return stems
  }

  const addTitle = (doc: number, list: string, language: Language) => {
    const { title } = stemsOf(language)
    const add = addWord(doc, language)
    vocabulary.read(list, word => {
      add(word)
      lists.add(
        ofTitleWord.get(word, () => listOf(LEXEMES.titleWord(vocabulary.text(word)))),
        doc,
      )
      lists.add(
        title.get(word, () => stemList(word, language, LEXEMES.titleStem)),
        doc,
      )
    })
  }
  const addWord = (doc: number, language: Language) => {
    const { whole } = stemsOf(language)
    const makeStem = (word: number) => stemList(word, language, LEXEMES.stem)
    return (word: number) => {
      tokens.push(word)
      if (lists.add(ofWord.get(word, wordList), doc)) lists.add(whole.get(word, makeStem), doc)
    }
  }

  const setOf = (lexeme: string): DocSet => {
    const word = vocabulary.find(lexeme)
    const list = word < 0 ? others.get(lexeme) : ofWord.get(word, wordList)
    return list === undefined || list === null
      ? emptySet(documents.length)
      : listSet(lists.docs(list), documents.length)
  }

  /** Whether the words stand side by side from `from` to before `to`. */
  const stand = (words: number[], from: number, to: number): boolean => {
    const first = words[0]!
    for (let at = from; at <= to - words.length; at++) {
      if (tokens.at(at) !== first) continue
      let same = 1
      while (same < words.length && tokens.at(at + same) === words[same]) same++
      if (same === words.length) return true
    }
    return false
  }

  return {
    documents,
    add({ title, body, country, ...document }) {
      const doc = documents.length
      const { language, authorNos, publisherNo } = document
      titleStarts.push(tokens.length)
      addTitle(doc, title, language)
      bodyStarts.push(tokens.length)
      vocabulary.read(body, addWord(doc, language))
      const filters = [
        LEXEMES.country(country),
        LEXEMES.language(language),
        LEXEMES.hasAuthor(authorNos.length > 0),
        LEXEMES.publisher(publisherNo),
        ...authorNos.map(LEXEMES.author),
      ]
      for (const lexeme of filters) lists.add(listOf(lexeme), doc)
      documents.push(document)
    },
    list: setOf,
    phrase(texts, scope) {
      const words = texts.map(text => vocabulary.find(text))
      if (words.includes(-1)) return emptySet(documents.length)
      const inTitle = scope === 'title'
      const lexeme = inTitle ? LEXEMES.titleWord : LEXEMES.word
      const candidates = [...new Set(texts)].map(text => setOf(lexeme(text))).reduce(intersection)
      return passing(candidates, doc => {
        const body = bodyStarts[doc]!
        if (stand(words, titleStarts[doc]!, body)) return true
        return !inTitle && stand(words, body, titleStarts[doc + 1] ?? tokens.length)
      })
    },
  }
}
