import type { Country, Language } from '../../shared/articles/article.ts'
import { stem } from '../analysis/stems.ts'
import { STOP_WORDS } from '../analysis/stop-words.ts'
import { filterTerms, TERMS } from '../terms.ts'
import { createWriter, type Writer } from './bytes.ts'
import { columnsOf, documentOrder, encodeColumns, type SegmentArticle } from './columns.ts'
import { immediately, type Pace } from './pace.ts'
import { bucketOf, writeEntry } from './postings.ts'
import { createNumbers, createPostings } from './postings-builder.ts'
import type { DictionaryBuilder, SegmentTexts } from './segment-texts.ts'
import { addShingles } from './shingles.ts'
import { createTermFilterBuilder } from './term-filter.ts'
import { createWordIds, type WordIds } from './word-ids.ts'

/** An article as a segment takes it in. */
export interface SegmentSource extends SegmentArticle {
  country: Country
  language: Language
}

/** A segment that is ready to be stored. */
export interface BuiltSegment {
  columns: Buffer
  /** The term dictionary has 2^bucketBits buckets. */
  bucketBits: number
  /** The buckets that are not empty. */
  buckets: { bucket: number; block: Buffer }[]
}

export interface SegmentBuilder {
  /**
   * Takes in the words of an article, two lists as `wordList` writes them; every article once, in
   * any order.
   */
  addWords(seq: bigint, title: string, body: string): void
  build(): BuiltSegment
}

/**
 * @param articles at most 65,536; `seq` from `firstSeq` to 65,535 beyond it
 * @param pace of the work
 */
export function createSegmentBuilder(
  articles: SegmentSource[],
  firstSeq: bigint,
  pace: Pace = immediately,
): SegmentBuilder {
  const documents = articles.toSorted(documentOrder)
  const docOf = new Map(documents.map((article, doc) => [article.seq, doc]))
  const wordIds = createWordIds()
  const texts: SegmentTexts = {
    words: createNumbers(),
    titleStarts: new Int32Array(documents.length),
    bodyStarts: new Int32Array(documents.length),
    ends: new Int32Array(documents.length),
  }
  return {
    addWords(seq, title, body) {
      const doc = docOf.get(seq)
      if (doc === undefined) throw new RangeError(`article ${seq} is not one of this segment`)
      pace()
      texts.titleStarts[doc] = texts.words.length
      wordIds.read(title, texts.words.push)
      texts.bodyStarts[doc] = texts.words.length
      wordIds.read(body, texts.words.push)
      texts.ends[doc] = texts.words.length
    },
    build() {
      const buckets = createBuckets(documents.length, pace)
      buckets.fill(dictionary => {
        addFilterTerms(dictionary, documents)
        addWordTerms(dictionary, documents, texts, wordIds, pace)
      })
      buckets.fill(dictionary => addShingles(dictionary, texts, wordIds, pace))
      return {
        columns: encodeColumns(columnsOf(documents, firstSeq, buckets.terms())),
        bucketBits: buckets.bits,
        buckets: buckets.blocks(),
      }
    },
  }
}

/** Posting lists between two calls of the pace. */
const LISTS_PER_PACE = 256

/**
 * All entries of a segment. They are built in parts, so that not all of them are in memory in their
 * widest form.
 */
function createBuckets(size: number, pace: Pace) {
  // A document adds about a kilobyte. As many buckets as documents make a bucket about as large.
  const bits = Math.ceil(Math.log2(Math.max(size, 1)))
  const writers: (Writer | undefined)[] = Array.from({ length: 1 << bits })
  const terms = createTermFilterBuilder()
  const write = (name: string, docs: Uint16Array, from: number, to: number) => {
    terms.add(name)
    const bucket = bucketOf(name, bits)
    writers[bucket] ??= createWriter(512)
    writeEntry(writers[bucket], name, { docs, from, to }, size)
  }
  return {
    bits,
    /** Adds terms that no other part adds. */
    fill(add: (dictionary: DictionaryBuilder) => void) {
      const names: string[] = []
      const latest = createNumbers()
      const postings = createPostings()
      add({
        term(text) {
          names.push(text)
          latest.push(-1)
          return names.length - 1
        },
        add(term, doc) {
          if (latest.at(term) === doc) return false
          latest.set(term, doc)
          postings.add(term, doc)
          return true
        },
      })
      postings.eachList((term, docs, from, to) => {
        if (term % LISTS_PER_PACE === 0) pace()
        write(names[term]!, docs, from, to)
      })
    },
    terms: () => terms.build(),
    blocks: () => writers.flatMap((writer, bucket) => (writer === undefined ? [] : [{ bucket, block: writer.view() }])),
  }
}

function addFilterTerms(dictionary: DictionaryBuilder, documents: SegmentSource[]): void {
  const ids = new Map<string, number>()
  documents.forEach((article, doc) => {
    for (const term of filterTerms(article)) {
      let id = ids.get(term)
      if (id === undefined) {
        id = dictionary.term(term)
        ids.set(term, id)
      }
      dictionary.add(id, doc)
    }
  })
}

/** Words and stems, of the title and of the whole text. */
function addWordTerms(
  dictionary: DictionaryBuilder,
  documents: SegmentSource[],
  texts: SegmentTexts,
  wordIds: WordIds,
  pace: Pace,
): void {
  const { size } = wordIds
  // A word's text is needed for its word, title and stem terms.
  const known: (string | undefined)[] = Array.from({ length: size })
  const text = (word: number) => {
    known[word] ??= wordIds.text(word)
    return known[word]
  }
  const ofWord = memoised(size, word => dictionary.term(TERMS.word(text(word))))
  const ofTitleWord = memoised(size, word => dictionary.term(TERMS.titleWord(text(word))))
  const ofStem = stemTerms(dictionary, size, text, TERMS.stem)
  const ofTitleStem = stemTerms(dictionary, size, text, TERMS.titleStem)
  /** The last document that had the word: most words of a text have come in it before. */
  const latest = new Int32Array(size).fill(-1)
  const words = texts.words.view()
  documents.forEach(({ language }, doc) => {
    pace()
    const body = texts.bodyStarts[doc]!
    const end = texts.ends[doc]!
    const stems = ofStem(language)
    const titleStems = ofTitleStem(language)
    for (let at = texts.titleStarts[doc]!; at < end; at++) {
      const word = words[at]!
      if (latest[word] === doc && at >= body) continue
      if (latest[word] !== doc) {
        latest[word] = doc
        dictionary.add(ofWord(word), doc)
      }
      const found = stems(word)
      if (found >= 0) dictionary.add(found, doc)
      if (at >= body) continue
      dictionary.add(ofTitleWord(word), doc)
      if (found >= 0) dictionary.add(titleStems(word), doc)
    }
  })
}

/** Ids of terms by the id of a word, each made when it is first asked for. */
function memoised(words: number, make: (word: number) => number): (word: number) => number {
  const known = new Int32Array(words).fill(-2)
  return word => {
    const id = known[word]!
    if (id !== -2) return id
    const made = make(word)
    known[word] = made
    return made
  }
}

/** For each language, the term of a word's stem; −1 for its stop words. */
function stemTerms(
  dictionary: DictionaryBuilder,
  words: number,
  text: (word: number) => string,
  termOf: (language: Language, stem: string) => string,
): (language: Language) => (word: number) => number {
  const languages = new Map<Language, (word: number) => number>()
  const termsOf = (language: Language) => {
    const ofStem = new Map<string, number>()
    return memoised(words, id => {
      const word = text(id)
      if (STOP_WORDS[language].has(word)) return -1
      const found = stem(language, word)
      let term = ofStem.get(found)
      if (term === undefined) {
        term = dictionary.term(termOf(language, found))
        ofStem.set(found, term)
      }
      return term
    })
  }
  return language => {
    let ofWord = languages.get(language)
    if (ofWord === undefined) {
      ofWord = termsOf(language)
      languages.set(language, ofWord)
    }
    return ofWord
  }
}
