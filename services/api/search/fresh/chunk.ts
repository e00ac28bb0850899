import type { Language } from '../../../../shared/articles/article.ts'
import type { SegmentSource } from '../../../../shared/segments/builder.ts'
import { type DocSet, emptySet, intersection, listSet, passing } from '../../../../shared/segments/doc-set.ts'
import { LEXEMES, readLexeme } from '../../../../shared/text/lexemes.ts'
import type { Lexicon } from './lexicon.ts'
import { createLists } from './lists.ts'

/** A fresh article, as a segment would take it in, with its words as `wordList` writes them. */
export interface FreshArticle extends SegmentSource {
  title: string
  body: string
}

/** What is known of an article besides its words and times. */
export type FreshDocument = Pick<FreshArticle, 'seq' | 'id' | 'publisherNo' | 'authorNos' | 'language'>

/**
 * Some consecutive articles in memory, at most 65,536, indexed by their words. Grows at its end and never changes otherwise;
 * documents are numbered in the order of ingestion. Some 10 kB an article.
 */
export interface Chunk {
  readonly documents: readonly FreshDocument[]
  /** By document, ms since 1970; NaN: none. Longer than there are documents. */
  readonly times: { readonly published: Float64Array; readonly ingested: Float64Array }
  add(article: FreshArticle): void
  /** The documents with a lexeme. */
  list(lexeme: string): DocSet
  /**
   * The documents with words side by side, all within the title or all within the body.
   * @param among only these are looked at; null: all
   */
  phrase(words: string[], scope: 'title' | 'title_body', among: DocSet | null): DocSet
}

/** @param lexicon may be that of other chunks */
export function createChunk(lexicon: Lexicon): Chunk {
  const documents: FreshDocument[] = []
  let published = new Float64Array(1 << 8)
  let ingested = new Float64Array(1 << 8)
  const lists = { word: createLists(), stem: createLists() }
  const titleLists = { word: new Map<number, number[]>(), stem: new Map<number, number[]>() }
  const filters = new Map<string, number[]>()
  // All texts one after the other, as numbers of words.
  let tokens = new Int32Array(1 << 14)
  let used = 0
  const titleStarts: number[] = []
  const bodyStarts: number[] = []

  const addWords = (doc: number, list: string, language: Language) => {
    lexicon.read(list, word => {
      if (used === tokens.length) tokens = grown(tokens, new Int32Array(used * 2))
      tokens[used++] = word
      if (!lists.word.add(word, doc)) return
      const stem = lexicon.stemOf(word, language)
      if (stem >= 0) lists.stem.add(stem, doc)
    })
  }
  const addTitle = (doc: number, language: Language) => {
    for (let at = titleStarts[doc]!; at < used; at++) {
      const word = tokens[at]!
      note(titleLists.word, word, doc)
      const stem = lexicon.stemOf(word, language)
      if (stem >= 0) note(titleLists.stem, stem, doc)
    }
  }

  const docsWith = (lexeme: string): ArrayLike<number> | undefined => {
    const read = readLexeme(lexeme)
    if (read === null) return filters.get(lexeme)
    const term = lexicon[read.kind](read.of)
    if (term < 0) return undefined
    return read.inTitle ? titleLists[read.kind].get(term) : lists[read.kind].docs(term)
  }
  const setOf = (lexeme: string): DocSet => {
    const docs = docsWith(lexeme)
    return docs === undefined ? emptySet(documents.length) : listSet(new Uint16Array(docs), documents.length)
  }

  /** Whether the words stand side by side from `from` to before `to`. */
  const stand = (words: number[], from: number, to: number): boolean => {
    const first = words[0]!
    for (let at = from; at <= to - words.length; at++) {
      if (tokens[at] !== first) continue
      let same = 1
      while (same < words.length && tokens[at + same] === words[same]) same++
      if (same === words.length) return true
    }
    return false
  }

  return {
    documents,
    get times() {
      return { published, ingested }
    },
    add(article) {
      const { seq, id, title, body, country, language, publisherNo, authorNos } = article
      const doc = documents.length
      if (doc === published.length) {
        published = grown(published, new Float64Array(doc * 2))
        ingested = grown(ingested, new Float64Array(doc * 2))
      }
      published[doc] = article.published ?? Number.NaN
      ingested[doc] = article.ingested ?? Number.NaN
      titleStarts.push(used)
      addWords(doc, title, language)
      addTitle(doc, language)
      bodyStarts.push(used)
      addWords(doc, body, language)
      const lexemes = [
        LEXEMES.country(country),
        LEXEMES.language(language),
        LEXEMES.hasAuthor(authorNos.length > 0),
        LEXEMES.publisher(publisherNo),
        ...authorNos.map(LEXEMES.author),
      ]
      for (const lexeme of lexemes) note(filters, lexeme, doc)
      documents.push({ seq, id, publisherNo, authorNos, language })
    },
    list: setOf,
    phrase(texts, scope, among) {
      const words = texts.map(text => lexicon.word(LEXEMES.word(text)))
      if (words.includes(-1)) return emptySet(documents.length)
      const inTitle = scope === 'title'
      const lexeme = inTitle ? LEXEMES.titleWord : LEXEMES.word
      const lists = [...new Set(texts)].map(text => setOf(lexeme(text)))
      const candidates = (among === null ? lists : [among, ...lists]).reduce(intersection)
      return passing(candidates, doc => {
        const body = bodyStarts[doc]!
        if (stand(words, titleStarts[doc]!, body)) return true
        return !inTitle && stand(words, body, titleStarts[doc + 1] ?? used)
      })
    },
  }
}

function grown<T extends Int32Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}

/** Adds a document to a list unless it is its last. */
function note<K>(lists: Map<K, number[]>, key: K, doc: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [doc])
  else if (list[list.length - 1] !== doc) list.push(doc)
}
