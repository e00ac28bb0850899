import { type Brake, noBrake } from '../pace.ts'
import { filterTerms, type Stated, TERMS } from '../terms.ts'
import type { Country, Language } from '../vocabulary.ts'
import { release } from './arrays.ts'
import { bucketBitsOf, bucketsOf, encodePart, termLists } from './buckets.ts'
import {
  columnsOf,
  createTermFilterBuilder,
  documentOrder,
  encodeColumns,
  type SegmentArticle,
} from './columns.ts'
import { encodeLexicon, wordOfTerm } from './lexicon.ts'
import { encodeNgrams, type NgramThread } from './ngram-thread.ts'
import { NGRAM_RULE } from './ngrams.ts'
import {
  createNumbers,
  type DictionaryBuilder,
  type KnownTexts,
  type SegmentTexts,
} from './postings-builder.ts'
import { createVocabulary, memoised, NO_STEM, type Vocabulary } from './word-ids.ts'

/*
 * A builder gathers the words of all articles as numbers, and then writes every posting list once.
 * The first part of the dictionary has words, stems and filters. The second part has n-grams,
 * which another thread may make. A builder opens no files and no connections.
 */

/** The values of an article that a segment needs, without its words. */
export interface SegmentSource extends SegmentArticle, Stated {
  country: Country
  language: Language
}

/** A segment that is ready to be stored. */
export interface BuiltSegment {
  columns: Buffer
  /** The term dictionary has 2^bucketBits buckets. */
  bucketBits: number
  /** The buckets of the term dictionary that are not empty, then those of the lexicon. */
  buckets: { bucket: number; block: Buffer }[]
}

interface BuilderOptions {
  brake?: Brake
  /** Other builders may use the same vocabulary. */
  vocabulary?: Vocabulary | undefined
  /**
   * How many words all texts have, if the caller knows it. The builder then allocates memory once.
   */
  words?: number | undefined
  /** The number of the rule of n-grams (`RULES`); absent: the rule of new segments. */
  rule?: number | undefined
}

export interface SegmentBuilder {
  /**
   * Adds the words of an article: two word lists, as `wordList` writes them. Called once for each
   * article, in any order.
   */
  addWords(seq: bigint, title: string, body: string): void
  /** Adds all articles of another builder with the same vocabulary. */
  addTexts(texts: KnownTexts): void
  /** The words of all articles that were added, for a builder with the same vocabulary. */
  knownTexts(): KnownTexts
  /**
   * Encodes the segment. Call this once, after all words were added.
   *
   * @param thread makes the n-grams meanwhile; absent: this thread makes them after it has
   *   encoded the first part, so that the posting lists of both parts are never in memory
   *   together
   */
  build(thread?: NgramThread): Promise<BuiltSegment>
}

/** @param articles at most 65,536, with `seq` from `firstSeq` to 65,535 beyond it */
export function createSegmentBuilder(
  articles: SegmentSource[],
  firstSeq: bigint,
  {
    brake = noBrake,
    vocabulary = createVocabulary(),
    words,
    rule = NGRAM_RULE,
  }: BuilderOptions = {},
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
      brake()
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
    async build(thread?) {
      const filter = createTermFilterBuilder()
      const elsewhere = thread?.encode(texts, wordIds.texts(), rule)
      const lists = termLists(dictionary => {
        addFilterTerms(dictionary, documents)
        addWordTerms(dictionary, documents, texts, vocabulary, brake)
      })
      const lexicon: string[] = []
      const words = encodePart(documents.length, brake, [lists], (term, hash) => {
        filter.add(term, hash)
        const word = wordOfTerm(term)
        if (word !== null) lexicon.push(word)
      })
      if (elsewhere !== undefined) release(texts.words.view())
      const ngrams = (await elsewhere) ?? encodeNgrams(texts, wordIds, rule, brake)
      return {
        columns: encodeColumns(columnsOf(documents, firstSeq, filter.build(), rule)),
        bucketBits: bucketBitsOf(documents.length),
        buckets: [...bucketsOf(words, ngrams), ...encodeLexicon(lexicon)],
      }
    },
  }
}

function addFilterTerms(dictionary: DictionaryBuilder, documents: SegmentSource[]): void {
  const ids = new Map<string, number>()
  const idOf = (term: string) => {
    const id = ids.get(term) ?? dictionary.term(term)
    ids.set(term, id)
    return id
  }
  documents.forEach((article, doc) => {
    const terms = filterTerms(article).map(idOf)
    dictionary.add(doc, new Int32Array(terms), terms.length)
  })
}

/** Adds the words and stems of whole texts, and those of titles. */
function addWordTerms(
  dictionary: DictionaryBuilder,
  documents: SegmentSource[],
  texts: SegmentTexts,
  vocabulary: Vocabulary,
  brake: Brake,
): void {
  const { size, text } = vocabulary.words
  const ofWord = memoised(word => dictionary.term(TERMS.word(text(word))))
  const ofTitleWord = memoised(word => dictionary.term(TERMS.titleWord(text(word))))
  const ofStem = stemTerms(dictionary, vocabulary, TERMS.stem)
  const ofTitleStem = stemTerms(dictionary, vocabulary, TERMS.titleStem)
  /**
   * By word: the last document that had it. A word often occurs many times in one text, and only
   * the first time adds the document.
   */
  const latest = new Int32Array(size).fill(-1)
  const words = texts.words.view()
  let found = new Int32Array(1 << 12)
  documents.forEach(({ language }, doc) => {
    brake()
    const body = texts.bodyStarts[doc]!
    const end = texts.ends[doc]!
    const stems = ofStem(language)
    const titleStems = ofTitleStem(language)
    let count = 0
    if ((end - texts.titleStarts[doc]!) * 4 > found.length)
      found = new Int32Array((end - texts.titleStarts[doc]!) * 4)
    for (let at = texts.titleStarts[doc]!; at < end; at++) {
      const word = words[at]!
      if (latest[word] === doc && at >= body) continue
      if (latest[word] !== doc) {
        latest[word] = doc
        found[count++] = ofWord(word)
      }
      const stem = stems(word)
      if (stem >= 0) found[count++] = stem
      if (at >= body) continue
      found[count++] = ofTitleWord(word)
      if (stem >= 0) found[count++] = titleStems(word)
    }
    dictionary.add(doc, found, count)
  })
}

/** For each language, a function from a word to the term of its stem; −1 for stop words. */
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
