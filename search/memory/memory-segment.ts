import type { SegmentSource } from '../segment/builder.ts'
import { type DocSet, docsOf, emptySet, intersection, listSet, passing } from '../segment/doc-id-set.ts'
import { LEXEMES, readLexeme, type WordLexeme } from '../terms.ts'
import { createLists } from './growing-postings.ts'
import type { Lexicon } from './term-ids.ts'

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
 *
 * A search waits for the articles that came just before it. So the words of the latest are only read, which is a third of the
 * work, and looked through one by one until somebody has time to list them.
 */
export interface Chunk {
  readonly documents: readonly FreshDocument[]
  /** By document, ms since 1970; NaN: none. Longer than there are documents. */
  readonly times: { readonly published: Float64Array; readonly ingested: Float64Array }
  add(article: FreshArticle): void
  /** Lists the words of the first document that has them unlisted. Returns whether there was one. */
  listNext(): boolean
  /** The documents with a lexeme. */
  list(lexeme: string): DocSet
  /**
   * The documents with words side by side, all within the title or all within the body.
   * @param among only these are looked at; null: all
   */
  phrase(words: string[], scope: 'title' | 'title_body', among: DocSet | null): DocSet
}

/** To look through more than this would take longer than to list them. */
const MOST_UNLISTED = 128
/** New words whose stems a search may have to find, some microseconds each. */
const MOST_UNMET = 256
/** To look through fewer for a phrase takes less than to remember what was found. */
const MANY_CANDIDATES = 64
/** Phrases that are remembered, the latest. */
const MOST_PHRASES = 128

/** @param lexicon may be that of other chunks */
export function createChunk(lexicon: Lexicon): Chunk {
  const documents: FreshDocument[] = []
  let published = new Float64Array(1 << 8)
  let ingested = new Float64Array(1 << 8)
  const lists = { word: createLists(), stem: createLists() }
  const titleLists = { word: new Map<number, number[]>(), stem: new Map<number, number[]>() }
  const filters = { terms: new Map<string, number>(), lists: createLists() }
  // All texts one after the other, as numbers of words.
  let words = new Int32Array(1 << 14)
  let used = 0
  // The stems of those that are not listed, from the word at `stemsFrom` on.
  let stems = new Int32Array(0)
  let stemsFrom = 0
  const titleStarts: number[] = []
  const bodyStarts: number[] = []
  /** Where phrases stand, of the documents before `upTo`: they are asked for again and again, and documents never change. */
  const phrases = new Map<string, { upTo: number; docs: number[] }>()
  /** Documents whose stems are known, and those whose words are listed. */
  let [stemmed, listed] = [0, 0]
  /** Words that nobody had met before, in documents whose stems are not known. */
  let unmet = 0

  const addWord = (word: number) => {
    if (used === words.length) words = grown(words, new Int32Array(used * 2))
    words[used++] = word
  }
  const endOf = (doc: number) => titleStarts[doc + 1] ?? used
  const stemUntil = (end: number) => {
    const size = endOf(end - 1) - stemsFrom
    if (stems.length < size) stems = grown(stems, new Int32Array(Math.max(size, stems.length * 2)))
    for (; stemmed < end; stemmed++) {
      const { language } = documents[stemmed]!
      const last = endOf(stemmed)
      for (let at = titleStarts[stemmed]!; at < last; at++) {
        stems[at - stemsFrom] = lexicon.stemOf(words[at]!, language)
      }
    }
    if (stemmed === documents.length) unmet = 0
  }
  const listNext = (): boolean => {
    if (listed === documents.length) return false
    stemUntil(listed + 1)
    const [body, end] = [bodyStarts[listed]!, endOf(listed)]
    for (let at = titleStarts[listed]!; at < end; at++) {
      const [word, stem] = [words[at]!, stems[at - stemsFrom]!]
      if (lists.word.add(word, listed) && stem >= 0) lists.stem.add(stem, listed)
      if (at >= body) continue
      note(titleLists.word, word, listed)
      if (stem >= 0) note(titleLists.stem, stem, listed)
    }
    listed++
    if (listed === documents.length) [stems, stemsFrom] = [new Int32Array(0), used]
    return true
  }

  /** The documents that have a word or stem. */
  const docsWith = ({ kind, inTitle, of }: WordLexeme): Uint16Array => {
    if (kind === 'stem' && stemmed < documents.length) stemUntil(documents.length)
    const term = lexicon[kind](of)
    if (term < 0) return new Uint16Array(0)
    const found = inTitle ? (titleLists[kind].get(term) ?? []) : lists[kind].docs(term)
    const [texts, offset] = kind === 'stem' ? [stems, stemsFrom] : [words, 0]
    const unlisted: number[] = []
    for (let doc = listed; doc < documents.length; doc++) {
      const end = (inTitle ? bodyStarts[doc]! : endOf(doc)) - offset
      let at = titleStarts[doc]! - offset
      while (at < end && texts[at] !== term) at++
      if (at < end) unlisted.push(doc)
    }
    if (found instanceof Uint16Array && unlisted.length === 0) return found
    const all = new Uint16Array(found.length + unlisted.length)
    all.set(found)
    all.set(unlisted, found.length)
    return all
  }
  const setOf = (lexeme: string): DocSet => {
    const read = readLexeme(lexeme)
    const docs = read === null ? filters.lists.docs(filters.terms.get(lexeme) ?? filters.terms.size) : docsWith(read)
    return docs.length === 0 ? emptySet(documents.length) : listSet(docs, documents.length)
  }

  /** Whether the words stand side by side from `from` to before `to`. */
  const stand = (phrase: number[], from: number, to: number): boolean => {
    const first = phrase[0]!
    for (let at = from; at <= to - phrase.length; at++) {
      if (words[at] !== first) continue
      let same = 1
      while (same < phrase.length && words[at + same] === phrase[same]) same++
      if (same === phrase.length) return true
    }
    return false
  }

  const phraseDocs = (key: string, candidates: DocSet, stands: (doc: number) => boolean): DocSet => {
    const known = phrases.get(key) ?? { upTo: 0, docs: [] }
    phrases.delete(key)
    phrases.set(key, known)
    for (const oldest of phrases.keys()) {
      if (phrases.size <= MOST_PHRASES) break
      phrases.delete(oldest)
    }
    for (const doc of docsOf(candidates)) if (doc >= known.upTo && stands(doc)) known.docs.push(doc)
    known.upTo = documents.length
    return listSet(Uint16Array.from(known.docs), documents.length)
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
      const met = lexicon.words
      titleStarts.push(used)
      lexicon.read(title, addWord)
      bodyStarts.push(used)
      lexicon.read(body, addWord)
      const lexemes = [
        LEXEMES.country(country),
        LEXEMES.language(language),
        LEXEMES.hasAuthor(authorNos.length > 0),
        LEXEMES.publisher(publisherNo),
        ...authorNos.map(LEXEMES.author),
      ]
      for (const lexeme of lexemes) {
        const term = filters.terms.get(lexeme) ?? filters.terms.size
        filters.terms.set(lexeme, term)
        filters.lists.add(term, doc)
      }
      documents.push({ seq, id, publisherNo, authorNos, language })
      unmet += lexicon.words - met
      if (unmet > MOST_UNMET) stemUntil(documents.length)
      if (documents.length - listed > MOST_UNLISTED) listNext()
    },
    listNext,
    list: setOf,
    phrase(texts, scope, among) {
      const phrase = texts.map(text => lexicon.word(LEXEMES.word(text)))
      if (phrase.includes(-1)) return emptySet(documents.length)
      const inTitle = scope === 'title'
      const lexeme = inTitle ? LEXEMES.titleWord : LEXEMES.word
      const lists = [...new Set(texts)].map(text => setOf(lexeme(text)))
      const stands = (doc: number): boolean => {
        const body = bodyStarts[doc]!
        if (stand(phrase, titleStarts[doc]!, body)) return true
        return !inTitle && stand(phrase, body, endOf(doc))
      }
      const all = lists.reduce(intersection)
      const candidates = among === null ? all : intersection(among, all)
      if (candidates.count < Math.max(MANY_CANDIDATES, all.count / 8)) return passing(candidates, stands)
      const found = phraseDocs(`${scope} ${texts.join('\n')}`, all, stands)
      return among === null ? found : intersection(among, found)
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
