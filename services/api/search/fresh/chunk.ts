import type { Country, Language } from '../../../../shared/articles/article.ts'
import { type DocSet, emptySet, intersection, listSet, passing } from '../../../../shared/segments/doc-set.ts'
import { createNumbers } from '../../../../shared/segments/grouping.ts'
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
  title: string[]
  body: string[]
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

/** What the stems of one language are known of: lists of stems by those of words; a stop word's is its own. */
interface Stems {
  whole: Links
  title: Map<number, number>
}

export function createChunk(): Chunk {
  const documents: FreshDocument[] = []
  const lists = createLists()
  const numbers = new Map<string, number>()
  const titleWords = new Map<number, number>()
  const languages = new Map<Language, Stems>()
  // All texts one after the other, as the numbers of words' lists.
  const tokens = createNumbers()
  const titleStarts: number[] = []
  const bodyStarts: number[] = []

  const listOf = (lexeme: string): number => {
    const known = numbers.get(lexeme)
    if (known !== undefined) return known
    const list = lists.create()
    numbers.set(detached(lexeme), list)
    return list
  }
  const stemsOf = (language: Language): Stems => {
    let stems = languages.get(language)
    if (stems === undefined) {
      stems = { whole: createLinks(), title: new Map() }
      languages.set(language, stems)
    }
    return stems
  }
  const stemList = (word: number, text: string, language: Language, lexeme: typeof LEXEMES.stem): number =>
    STOP_WORDS[language].has(text) ? word : listOf(lexeme(language, stem(language, text)))

  const addWords = (doc: number, texts: string[], language: Language, isTitle: boolean) => {
    const { whole, title } = stemsOf(language)
    for (const text of texts) {
      const word = listOf(LEXEMES.word(text))
      tokens.push(word)
      if (lists.add(word, doc)) {
        let list = whole.get(word)
        if (list === undefined) {
          list = stemList(word, text, language, LEXEMES.stem)
          whole.set(word, list)
        }
        lists.add(list, doc)
      }
      if (!isTitle) continue
      let inTitle = titleWords.get(word)
      if (inTitle === undefined) {
        inTitle = listOf(LEXEMES.titleWord(text))
        titleWords.set(word, inTitle)
      }
      lists.add(inTitle, doc)
      let list = title.get(word)
      if (list === undefined) {
        list = stemList(word, text, language, LEXEMES.titleStem)
        title.set(word, list)
      }
      lists.add(list, doc)
    }
  }

  const setOf = (list: number | undefined): DocSet =>
    list === undefined ? emptySet(documents.length) : listSet(lists.docs(list), documents.length)

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
      addWords(doc, title, language, true)
      bodyStarts.push(tokens.length)
      addWords(doc, body, language, false)
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
    list: lexeme => setOf(numbers.get(lexeme)),
    phrase(texts, scope) {
      const words = texts.flatMap(text => numbers.get(LEXEMES.word(text)) ?? [])
      if (words.length < texts.length) return emptySet(documents.length)
      const inTitle = scope === 'title'
      const lexeme = inTitle ? LEXEMES.titleWord : LEXEMES.word
      const candidates = [...new Set(texts)].map(text => setOf(numbers.get(lexeme(text)))).reduce(intersection)
      return passing(candidates, doc => {
        const body = bodyStarts[doc]!
        if (stand(words, titleStarts[doc]!, body)) return true
        return !inTitle && stand(words, body, titleStarts[doc + 1] ?? tokens.length)
      })
    },
  }
}

/** A part of a longer string keeps all of that in memory: V8 copies only parts of up to 12 characters. */
function detached(text: string): string {
  return text.length <= 12 ? text : Buffer.from(text).toString()
}
