import type { Country, Language } from '../../shared/articles/article.ts'
import { filterTerms, TERMS } from '../terms.ts'
import { createBuckets } from './buckets.ts'
import { columnsOf, documentOrder, encodeColumns, type SegmentArticle } from './columns.ts'
import { release } from './large.ts'
import { immediately, type Pace } from './pace.ts'
import { createNumbers } from './postings-builder.ts'
import type { DictionaryBuilder, KnownTexts, SegmentTexts } from './segment-texts.ts'
import { addShingles } from './shingles.ts'
import { createVocabulary, memoised, NO_STEM, type Vocabulary } from './vocabulary.ts'

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
  /** Takes in all articles of another builder with the same vocabulary. */
  addTexts(texts: KnownTexts): void
  /** The words of all articles so far, for a builder with the same vocabulary. */
  knownTexts(): KnownTexts
  /** Called once, at the end. */
  build(): BuiltSegment
}

export interface BuilderOptions {
  pace?: Pace
  /** Shared with other segments. */
  vocabulary?: Vocabulary | undefined
  /** Words of all texts, to make room for them at once. */
  words?: number | undefined
}

/** @param articles at most 65,536; `seq` from `firstSeq` to 65,535 beyond it */
export function createSegmentBuilder(
  articles: SegmentSource[],
  firstSeq: bigint,
  { pace = immediately, vocabulary = createVocabulary(), words }: BuilderOptions = {},
): SegmentBuilder {
  const documents = articles.toSorted(documentOrder)
  const docOf = new Map(documents.map((article, doc) => [article.seq, doc]))
  const wordIds = vocabulary.words
  const texts: SegmentTexts = {
    words: createNumbers(words),
    titleStarts: new Int32Array(documents.length),
    bodyStarts: new Int32Array(documents.length),
    ends: new Int32Array(documents.length),
  }
  const documentOf = (seq: bigint) => {
    const doc = docOf.get(seq)
    if (doc === undefined) throw new RangeError(`article ${seq} is not one of this segment`)
    return doc
  }
  return {
    addWords(seq, title, body) {
      const doc = documentOf(seq)
      pace()
      texts.titleStarts[doc] = texts.words.length
      wordIds.read(title, texts.words.push)
      texts.bodyStarts[doc] = texts.words.length
      wordIds.read(body, texts.words.push)
      texts.ends[doc] = texts.words.length
    },
    addTexts({ seqs, words, titleStarts, bodyStarts, ends }) {
      const shift = texts.words.length
      seqs.forEach((seq, other) => {
        const doc = documentOf(seq)
        texts.titleStarts[doc] = shift + titleStarts[other]!
        texts.bodyStarts[doc] = shift + bodyStarts[other]!
        texts.ends[doc] = shift + ends[other]!
      })
      texts.words.append(words)
    },
    knownTexts: () => ({
      seqs: documents.map(({ seq }) => seq),
      ...texts,
      words: texts.words.view().slice(),
    }),
    build() {
      const buckets = createBuckets(documents.length, pace)
      buckets.fill(dictionary => {
        addFilterTerms(dictionary, documents)
        addWordTerms(dictionary, documents, texts, vocabulary, pace)
      })
      buckets.fill(dictionary => {
        addShingles(dictionary, texts, wordIds, pace)
        release(texts.words.view())
      })
      return {
        columns: encodeColumns(columnsOf(documents, firstSeq, buckets.terms())),
        bucketBits: buckets.bits,
        buckets: buckets.blocks(),
      }
    },
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
  vocabulary: Vocabulary,
  pace: Pace,
): void {
  const { size, text } = vocabulary.words
  const ofWord = memoised(word => dictionary.term(TERMS.word(text(word))))
  const ofTitleWord = memoised(word => dictionary.term(TERMS.titleWord(text(word))))
  const ofStem = stemTerms(dictionary, vocabulary, TERMS.stem)
  const ofTitleStem = stemTerms(dictionary, vocabulary, TERMS.titleStem)
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

/** For each language, the term of a word's stem; −1 for its stop words. */
function stemTerms(
  dictionary: DictionaryBuilder,
  { stems, stemsOf }: Vocabulary,
  termOf: (language: Language, stem: string) => string,
): (language: Language) => (word: number) => number {
  const languages = new Map<Language, (word: number) => number>()
  const termsOf = (language: Language) => {
    const stemOf = stemsOf(language)
    const ofStem = memoised(stem => dictionary.term(termOf(language, stems.text(stem))))
    return memoised(word => {
      const stem = stemOf(word)
      return stem === NO_STEM ? -1 : ofStem(stem)
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
