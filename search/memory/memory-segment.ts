import { stopWordsOf } from '../analysis/index.ts'
import { stem } from '../analysis/stems.ts'
import { LONGEST_WORD } from '../analysis/tokens.ts'
import type { DocValues } from '../query/filters.ts'
import { allLeaves, createFinder, isIn } from '../query/holds.ts'
import type { ScoringTerm } from '../query/match.ts'
import type { Near, PhraseLeaf } from '../query/parse.ts'
import type { WordNumbers } from '../query/word-numbers.ts'
import { grown } from '../segment/arrays.ts'
import type { SegmentSource } from '../segment/builder.ts'
import { createSections } from '../segment/columns.ts'
import {
  arraySet,
  type DocIdSet,
  emptySet,
  has,
  intersection,
  passing,
} from '../segment/doc-id-set.ts'
import { createStems, createWordIds } from '../segment/word-ids.ts'
import { filterTerms, parseWordTerm, TERMS, type WordTerm } from '../terms.ts'
import type { Language } from '../vocabulary.ts'

/** The fields of an article that a segment keeps, besides its words and times. */
export type MemoryDocument = Pick<
  SegmentSource,
  'seq' | 'id' | 'publisherNo' | 'authorNos' | 'language'
> & { sectionNo: number }

/**
 * At most 65,536 consecutive new articles in memory, indexed by their words. A segment grows at its
 * end and never changes otherwise. Its documents are numbered in the order of ingestion. An article
 * takes some 10 kB.
 */
export interface MemorySegment extends DocValues {
  documents: MemoryDocument[]
  /**
   * By document, ms since 1970; NaN: none. The arrays have more places than there are documents.
   */
  readonly times: { published: Float64Array; ingested: Float64Array }
  /** @param title @param body word lists, as `wordList` writes them */
  add(article: SegmentSource, title: string, body: string): void
  /** The documents with a term. */
  list(term: string): DocIdSet
  /**
   * The documents that contain words side by side, all within the title or all within the body.
   *
   * @param within only these documents are checked; null: all
   */
  phrase(words: string[], scope: 'title' | 'title_body', within: DocIdSet | null): DocIdSet
  /**
   * Returns a function that finds the documents of `among` in which the two sides of NEAR are close
   * enough to each other, or which have a phrase with wildcards. It knows the words that are here
   * when it is made.
   */
  near(near: Near | PhraseLeaf): (among: DocIdSet) => DocIdSet
  /** The words of its documents, and maybe others. */
  readonly termIds: TermIds
}

/** @param termIds other segments may share them */
export function createMemorySegment(termIds: TermIds): MemorySegment {
  const documents: MemoryDocument[] = []
  let published = new Float64Array(1 << 8)
  let ingested = new Float64Array(1 << 8)
  const texts = createTexts(termIds)
  const postings = createTextPostings(texts, termIds)
  const filters = createFilterPostings()
  const sections = createSections()

  const list = (term: string): DocIdSet => {
    const word = parseWordTerm(term)
    const docs = word === null ? filters.docs(term) : postings.docs(word)
    return docs.length === 0 ? emptySet(documents.length) : arraySet(docs, documents.length)
  }
  return {
    documents,
    get times() {
      return { published, ingested }
    },
    publisherNo: doc => documents[doc]!.publisherNo,
    eachAuthor(doc, visit) {
      for (const no of documents[doc]!.authorNos) visit(no)
    },
    sectionNo: doc => documents[doc]!.sectionNo,
    sections: sections.names,

    add(article, title, body) {
      const { seq, id, language, publisherNo, authorNos } = article
      const doc = documents.length
      if (doc === published.length) {
        published = grown(published, new Float64Array(doc * 2))
        ingested = grown(ingested, new Float64Array(doc * 2))
      }
      published[doc] = article.published ?? Number.NaN
      ingested[doc] = article.ingested ?? Number.NaN
      texts.add(title, body)
      filters.add(doc, filterTerms(article))
      const sectionNo = sections.noOf(article.section)
      documents.push({ seq, id, publisherNo, authorNos, language, sectionNo })
      postings.add(doc, language)
    },

    list,

    phrase(words, scope, within) {
      const phrase = words.map(word => termIds.word(TERMS.word(word)))
      if (phrase.includes(-1)) return emptySet(documents.length)
      const titleOnly = scope === 'title'
      const termOf = titleOnly ? TERMS.titleWord : TERMS.word
      const all = [...new Set(words)].map(word => list(termOf(word))).reduce(intersection)
      const candidates = within === null ? all : intersection(within, all)
      return passing(candidates, doc => texts.contains(doc, phrase, titleOnly))
    },

    termIds,

    near(near) {
      const finder = createFinder(allLeaves(near), numbersOf(termIds))
      const isWithin = (from: number, to: number, language: Language) =>
        isIn(near, finder, finder.find(texts.ids(), from, to, language, places))
      const places: number[][] = []
      return among =>
        passing(among, doc => {
          const { language } = documents[doc]!
          const body = texts.bodyStart(doc)
          const isInTitle = isWithin(texts.titleStart(doc), body, language)
          return isInTitle || (!near.inTitle && isWithin(body, texts.end(doc), language))
        })
    },
  }
}

const numbersOf = (termIds: TermIds): WordNumbers => ({
  word: word => termIds.word(TERMS.word(word)),
  text: termIds.text,
  stem: (language, word) =>
    stopWordsOf(language).has(word)
      ? null
      : termIds.stem(TERMS.stem(language, stem(language, word))),
  stemsOf: termIds.stemsOf,
})

/** Posting lists of terms that are no words, for filters. */
function createFilterPostings() {
  const ids = new Map<string, number>()
  const postings = createGrowingPostings()
  return {
    add(doc: number, terms: string[]) {
      for (const term of terms) {
        const id = ids.get(term) ?? ids.size
        ids.set(term, id)
        postings.add(id, doc)
      }
    },
    docs: (term: string) => postings.docs(ids.get(term) ?? ids.size),
  }
}

/** The scores of some documents, in their order. */
export function scoreInMemory(
  hits: { segment: MemorySegment; doc: number }[],
  scoring: ScoringTerm[],
): number[] {
  const listsOf = new Map<MemorySegment, DocIdSet[]>()
  return hits.map(({ segment, doc }) => {
    const lists = listsOf.get(segment) ?? scoring.map(one => segment.list(one.term))
    listsOf.set(segment, lists)
    const { language } = segment.documents[doc]!
    return scoring.reduce(
      (score, one, index) =>
        one.language === language && has(lists[index]!, doc) ? score + one.weight : score,
      0,
    )
  })
}

/** Posting lists of the words and stems of documents whose texts are in `texts`. */
function createTextPostings(texts: ReturnType<typeof createTexts>, termIds: TermIds) {
  const lists = { word: createGrowingPostings(), stem: createGrowingPostings() }
  const titleLists = { word: new Map<number, number[]>(), stem: new Map<number, number[]>() }
  return {
    add(doc: number, language: Language): void {
      const ids = texts.ids()
      const body = texts.bodyStart(doc)
      const end = texts.end(doc)
      const stemOf = termIds.stemsOf(language)
      for (let at = texts.titleStart(doc); at < end; at++) {
        const word = ids[at]!
        const isNew = lists.word.add(word, doc)
        if (!isNew && at >= body) continue
        const stem = stemOf(word)
        if (isNew && stem >= 0) lists.stem.add(stem, doc)
        if (at >= body) continue
        addTo(titleLists.word, word, doc)
        if (stem >= 0) addTo(titleLists.stem, stem, doc)
      }
    },
    /** The documents with a word or a stem, in ascending order. */
    docs({ kind, inTitle, of }: WordTerm): Uint16Array {
      const term = termIds[kind](of)
      if (term < 0) return new Uint16Array(0)
      return inTitle ? Uint16Array.from(titleLists[kind].get(term) ?? []) : lists[kind].docs(term)
    },
  }
}

/** Adds a document to a list, unless it is already the last of the list. */
function addTo<K>(lists: Map<K, number[]>, key: K, doc: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [doc])
  else if (list[list.length - 1] !== doc) list.push(doc)
}

/**
 * Three numbers for each list, side by side: its length, the place of its last link + 1, its last
 * document + 1.
 */
const WIDTH = 3
const [COUNT, END, LAST] = [0, 1, 2] as const

/**
 * `docs` keeps its result for lists of at least this length, because following a long chain is
 * slow. Following a short chain costs less than keeping the result.
 */
const LONG = 32

export interface GrowingPostings {
  /** Adds a document, unless it is already the last of the list. Returns whether it was added. */
  add(term: number, doc: number): boolean
  /** The documents of a list, in ascending order. The caller must not write to the array. */
  docs(term: number): Uint16Array
}

/**
 * Posting lists by term id, which grow at their ends. Most lists are very short, so they are
 * chained through one array. An array for each list would take a hundred bytes.
 */
export function createGrowingPostings(): GrowingPostings {
  let lists = new Int32Array(WIDTH << 12)
  let docs = new Uint16Array(1 << 12)
  /** The place of the document before this one in its chain, + 1; 0: none. */
  let before = new Int32Array(1 << 12)
  let used = 0
  const results = new Map<number, Uint16Array>()
  return {
    add(term, doc) {
      const at = term * WIDTH
      while (at >= lists.length) lists = grown(lists, new Int32Array(lists.length * 2))
      if (lists[at + LAST] === doc + 1) return false
      if (used === docs.length) {
        docs = grown(docs, new Uint16Array(used * 2))
        before = grown(before, new Int32Array(used * 2))
      }
      docs[used] = doc
      before[used] = lists[at + END]!
      lists[at + COUNT]!++
      lists[at + END] = ++used
      lists[at + LAST] = doc + 1
      return true
    },
    docs(term) {
      const list = term * WIDTH
      if (list >= lists.length) return new Uint16Array(0)
      const count = lists[list + COUNT]!
      const known = count < LONG ? undefined : results.get(term)
      if (known?.length === count) return known
      const found = new Uint16Array(count)
      if (known !== undefined) found.set(known)
      const rest = known?.length ?? 0
      for (let at = lists[list + END]!, index = count - 1; index >= rest; at = before[at - 1]!) {
        found[index--] = docs[at - 1]!
      }
      if (count >= LONG) results.set(term, found)
      return found
    },
  }
}

/**
 * The texts of an in-memory segment as ids of words, one text after the other: title, body, title,
 * body and so on.
 */
function createTexts(termIds: TermIds) {
  let ids = new Int32Array(1 << 14)
  let used = 0
  const titleStarts: number[] = []
  const bodyStarts: number[] = []
  const push = (word: number) => {
    if (used === ids.length) ids = grown(ids, new Int32Array(used * 2))
    ids[used++] = word
  }
  const end = (doc: number) => titleStarts[doc + 1] ?? used
  return {
    /**
     * All ids. The array has more places than there are words. A later call may return another
     * array.
     */
    ids: () => ids,
    add(title: string, body: string): void {
      titleStarts.push(used)
      termIds.read(title, push)
      bodyStarts.push(used)
      termIds.read(body, push)
    },
    titleStart: (doc: number) => titleStarts[doc]!,
    bodyStart: (doc: number) => bodyStarts[doc]!,
    end,
    /** Whether words stand side by side in the title, or in title or body, of a document. */
    contains(doc: number, phrase: number[], titleOnly: boolean): boolean {
      const body = bodyStarts[doc]!
      if (standsIn(ids, phrase, titleStarts[doc]!, body)) return true
      return !titleOnly && standsIn(ids, phrase, body, end(doc))
    },
  }
}

/** Whether a phrase stands in `ids` between `from` and `to`, `to` excluded. */
function standsIn(ids: Int32Array, phrase: number[], from: number, to: number): boolean {
  const first = phrase[0]!
  for (let at = from; at <= to - phrase.length; at++) {
    if (ids[at] !== first) continue
    let same = 1
    while (same < phrase.length && ids[at + same] === phrase[same]) same++
    if (same === phrase.length) return true
  }
  return false
}

/**
 * Ids of the words of new articles and of their stems. In-memory segments share these ids, because
 * a new article brings few new words. A word takes some 50 bytes.
 */
export interface TermIds {
  /** Number of different words. */
  readonly words: number
  /** Calls `visit` with the id of every word in a word list. */
  read(list: string, visit: (word: number) => void): void
  /** The id of a word, by its term; −1: no article in memory has the word. */
  word(term: string): number
  text(word: number): string
  /** The id of a stem, by its term; −1: no word in memory has the stem. */
  stem(term: string): number
  /** For a language, the id of a word's stem; −1: the word is a stop word. */
  stemsOf(language: Language): (word: number) => number
}

export function createTermIds(): TermIds {
  const wordIds = createWordIds()
  /** Long words have digests as terms. This map gives the id of a long word by its term. */
  const long = new Map<string, number>()
  /** Words with lower ids have been checked for their length. */
  let measured = 0
  const stems = createStems(wordIds.text)
  return {
    get words(): number {
      return wordIds.size
    },
    read(list, visit) {
      wordIds.read(list, visit)
      for (; measured < wordIds.size; measured++) {
        if (wordIds.length(measured) > LONGEST_WORD)
          long.set(TERMS.word(wordIds.text(measured)), measured)
      }
    },
    word(term) {
      const word = wordIds.find(term)
      return word < 0 ? (long.get(term) ?? -1) : word
    },
    text: wordIds.text,
    stem: stems.numberOf,
    stemsOf: stems.of,
  }
}
