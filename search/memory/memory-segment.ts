import type { DocValues } from '../query/filters.ts'
import type { ScoringTerm } from '../query/match.ts'
import { grown } from '../segment/arrays.ts'
import type { SegmentSource } from '../segment/builder.ts'
import { arraySet, type DocIdSet, docsOf, emptySet, has, intersection, passing } from '../segment/doc-id-set.ts'
import { filterTerms, parseWordTerm, TERMS } from '../terms.ts'
import type { TermIds } from './term-ids.ts'
import { createGrowingPostings, createTextPostings, createTexts } from './text-postings.ts'

/** The fields of an article that are kept besides its words and times. */
export type MemoryDocument = Pick<SegmentSource, 'seq' | 'id' | 'publisherNo' | 'authorNos' | 'language'>

/**
 * Some consecutive new articles in memory, at most 65,536, indexed by their words. Grows at its end
 * and never changes otherwise. Documents are numbered in the order of ingestion. An article takes
 * some 10 kB.
 */
export interface MemorySegment extends DocValues {
  readonly documents: readonly MemoryDocument[]
  /** By document, ms since 1970; NaN: none. Longer than there are documents. */
  readonly times: { readonly published: Float64Array; readonly ingested: Float64Array }
  /** @param title @param body lists of words as `wordList` writes them */
  add(article: SegmentSource, title: string, body: string): void
  /**
   * Builds the posting lists of the first document that has none yet. Returns whether there was
   * one.
   */
  listNext(): boolean
  /** The documents with a term. */
  list(term: string): DocIdSet
  /**
   * The documents that contain words side by side, all within the title or all within the body.
   * @param within the only documents of interest; null: all
   */
  phrase(words: string[], scope: 'title' | 'title_body', within: DocIdSet | null): DocIdSet
}

/** To scan fewer documents for a phrase takes less than to keep the result. */
const FEW_CANDIDATES = 64
const CACHED_PHRASES = 128

/** @param termIds may be shared with other segments */
export function createMemorySegment(termIds: TermIds): MemorySegment {
  const documents: MemoryDocument[] = []
  let published = new Float64Array(1 << 8)
  let ingested = new Float64Array(1 << 8)
  const texts = createTexts(termIds)
  const postings = createTextPostings(texts, termIds)
  const filters = createFilterPostings()
  const phrases = createPhraseCache(CACHED_PHRASES)

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

    add(article, title, body) {
      const { seq, id, language, publisherNo, authorNos } = article
      const doc = documents.length
      if (doc === published.length) {
        published = grown(published, new Float64Array(doc * 2))
        ingested = grown(ingested, new Float64Array(doc * 2))
      }
      published[doc] = article.published ?? Number.NaN
      ingested[doc] = article.ingested ?? Number.NaN
      const known = termIds.words
      texts.add(title, body)
      filters.add(doc, filterTerms(article))
      documents.push({ seq, id, publisherNo, authorNos, language })
      postings.add(language, termIds.words - known)
    },

    listNext: postings.listNext,
    list,

    phrase(words, scope, within) {
      const phrase = words.map(word => termIds.word(TERMS.word(word)))
      if (phrase.includes(-1)) return emptySet(documents.length)
      const titleOnly = scope === 'title'
      const termOf = titleOnly ? TERMS.titleWord : TERMS.word
      const all = [...new Set(words)].map(word => list(termOf(word))).reduce(intersection)
      const candidates = within === null ? all : intersection(within, all)
      const contains = (doc: number) => texts.contains(doc, phrase, titleOnly)
      if (candidates.count < Math.max(FEW_CANDIDATES, all.count / 8)) return passing(candidates, contains)
      const docs = phrases.docs(`${scope} ${words.join('\n')}`, docsOf(all), documents.length, contains)
      const found = arraySet(docs, documents.length)
      return within === null ? found : intersection(within, found)
    },
  }
}

/** Posting lists of the terms that filters look up. */
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

/**
 * The documents of an in-memory segment that contain a phrase. The same phrases are asked for again
 * and again, and documents never change: a later search looks only at those that came since.
 */
interface PhraseCache {
  /**
   * @param candidates ascending documents that may contain the phrase
   * @param size documents of the segment
   */
  docs(key: string, candidates: Uint16Array, size: number, contains: (doc: number) => boolean): Uint16Array
}

/** @param limit phrases; the least recently used one is dropped */
function createPhraseCache(limit: number): PhraseCache {
  const phrases = new Map<string, { upTo: number; docs: number[] }>()
  return {
    docs(key, candidates, size, contains) {
      const known = phrases.get(key) ?? { upTo: 0, docs: [] }
      phrases.delete(key)
      phrases.set(key, known)
      for (const oldest of phrases.keys()) {
        if (phrases.size <= limit) break
        phrases.delete(oldest)
      }
      for (const doc of candidates) if (doc >= known.upTo && contains(doc)) known.docs.push(doc)
      known.upTo = size
      return Uint16Array.from(known.docs)
    },
  }
}

/** The scores of some documents, in their order. */
export function scoreInMemory(hits: { segment: MemorySegment; doc: number }[], scoring: ScoringTerm[]): number[] {
  const listsOf = new Map<MemorySegment, DocIdSet[]>()
  return hits.map(({ segment, doc }) => {
    const lists = listsOf.get(segment) ?? scoring.map(one => segment.list(one.term))
    listsOf.set(segment, lists)
    const { language } = segment.documents[doc]!
    return scoring.reduce(
      (score, one, index) => (one.language === language && has(lists[index]!, doc) ? score + one.weight : score),
      0,
    )
  })
}
