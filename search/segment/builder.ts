import { type Brake, noBrake } from '../pace.ts'
import { filterTerms, type Stated } from '../terms.ts'
import type { Country, Language } from '../vocabulary.ts'
import { release } from './arrays.ts'
import { bucketBitsOf, bucketsOf, encodePart } from './buckets.ts'
import {
  columnsOf,
  documentOrder,
  encodeColumns,
  type SegmentArticle,
  termFilter,
} from './columns.ts'
import { encodeLexicon, isWord } from './lexicon.ts'
import { encodeNgrams, type NgramThread } from './ngram-thread.ts'
import { NGRAM_RULE } from './ngrams.ts'
import {
  createNumbers,
  createPostings,
  type PostingsBuilder,
  type SegmentTexts,
} from './postings-builder.ts'
import {
  createVocabulary,
  KNOWN,
  NO_STEM,
  ROW,
  STEM_COLUMN,
  TERM_COLUMN,
  type Vocabulary,
} from './word-ids.ts'

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

/** The texts of a builder, for another builder with the same vocabulary. */
export interface KnownTexts extends Omit<SegmentTexts, 'words'> {
  vocabulary: Vocabulary
  /** Document n is the article with the `seq` `seqs[n]`. */
  seqs: bigint[]
  words: Int32Array
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
      vocabulary,
      seqs: documents.map(({ seq }) => seq),
      ...texts,
      words: texts.words.view().slice(),
    }),
    async build(thread?) {
      const elsewhere = thread?.encode(texts, wordIds.texts(), rule)
      const postings = createPostings()
      addFilterTerms(postings, documents, vocabulary)
      addWordTerms(postings, documents, texts, vocabulary, brake)
      const { numbers, ...lists } = postings.lists()
      const names: string[] = new Array(numbers.length)
      for (let at = 0; at < names.length; at++) names[at] = vocabulary.names[numbers[at]!]!
      const hashes = numbers.map(vocabulary.hash)
      const words = encodePart(documents.length, brake, [{ names, hashes, ...lists }])
      if (elsewhere !== undefined) release(texts.words.view())
      const ngrams = (await elsewhere) ?? encodeNgrams(texts, wordIds, rule, brake)
      return {
        columns: encodeColumns(columnsOf(documents, firstSeq, termFilter(hashes), rule)),
        bucketBits: bucketBitsOf(documents.length),
        buckets: [...bucketsOf(words, ngrams), ...encodeLexicon(names.filter(isWord))],
      }
    },
  }
}

function addFilterTerms(
  postings: PostingsBuilder,
  documents: SegmentSource[],
  { numberOf }: Vocabulary,
): void {
  documents.forEach((article, doc) => {
    const terms = filterTerms(article).map(numberOf)
    postings.add(doc, Int32Array.from(terms), terms.length)
  })
}

/** Adds the words and stems of whole texts, and those of titles. */
function addWordTerms(
  postings: PostingsBuilder,
  documents: SegmentSource[],
  texts: SegmentTexts,
  vocabulary: Vocabulary,
  brake: Brake,
): void {
  const { ofWord, ofStem } = vocabulary
  const rows = vocabulary.rows()
  // Each document has a mark. A word often occurs many times in one text, and only the first time
  // adds the document.
  const firstMark = vocabulary.marks(documents.length)
  const words = texts.words.view()
  let found = new Int32Array(1 << 12)
  let stems = new Int32Array(1 << 10)
  /** Adds the terms of a title to `found`, after `count` others. */
  const addTitle = (doc: number, language: Language, count: number): number => {
    let end = count
    for (let at = texts.titleStarts[doc]!; at < texts.bodyStarts[doc]!; at++) {
      found[end++] = vocabulary.titleOf(ofWord(words[at]!))
      const stem = ofStem(language, words[at]!)
      if (stem !== NO_STEM) found[end++] = vocabulary.titleOf(stem)
    }
    return end
  }
  documents.forEach(({ language }, doc) => {
    brake()
    const start = texts.titleStarts[doc]!
    const end = texts.ends[doc]!
    const mark = firstMark + doc
    const column = STEM_COLUMN[language]
    let count = 0
    if (end - start > stems.length) {
      stems = new Int32Array(end - start)
      found = new Int32Array((end - start) * 4)
    }
    // The rows are far apart in memory. In a loop without a branch, the processor reads several of
    // them at a time.
    for (let at = start; at < end; at++) stems[at - start] = rows[words[at]! * ROW + column]!
    for (let at = start; at < end; at++) {
      const word = words[at]!
      const row = word * ROW
      if (rows[row] === mark) continue
      rows[row] = mark
      const knownTerm = rows[row + TERM_COLUMN]!
      found[count++] = knownTerm === 0 ? ofWord(word) : knownTerm - KNOWN
      const knownStem = stems[at - start]!
      const stem = knownStem === 0 ? ofStem(language, word) : knownStem - KNOWN
      if (stem !== NO_STEM) found[count++] = stem
    }
    postings.add(doc, found, addTitle(doc, language, count))
  })
}
