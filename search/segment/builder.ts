import type { Country, Language } from '../../shared/articles/article.ts'
import { stem } from '../analysis/stems.ts'
import { STOP_WORDS } from '../analysis/stop-words.ts'
import { atOnce, type Pace } from '../merge/pace.ts'
import { LEXEMES } from '../terms.ts'
import { createWriter, type Writer } from './bytes.ts'
import { columnsOf, documentOrder, encodeColumns, type SegmentArticle } from './columns.ts'
import { bucketOf, writeEntry } from './postings.ts'
import { createNumbers, createPostings, type Numbers } from './postings-builder.ts'
import { addNeighbours } from './shingles.ts'
import { createVocabulary, type Vocabulary } from './word-ids.ts'

/** An article as a segment takes it in. */
export interface SegmentSource extends SegmentArticle {
  country: Country
  language: Language
}

/** A segment, ready to be stored. */
export interface BuiltSegment {
  columns: Buffer
  /** The dictionary has 2^bits buckets. */
  bucketBits: number
  /** Those that hold something. */
  buckets: { bucket: number; block: Buffer }[]
}

export interface SegmentBuilder {
  /** Takes in the words of an article, two lists as `wordList` writes them; every article once, in any order. */
  addWords(seq: bigint, title: string, body: string): void
  build(): BuiltSegment
}

/**
 * @param articles at most 65,536; `seq` from `firstSeq` to 65,535 beyond it
 * @param pace of the work
 */
export function createSegmentBuilder(articles: SegmentSource[], firstSeq: bigint, pace: Pace = atOnce): SegmentBuilder {
  const documents = articles.toSorted(documentOrder)
  const docOf = new Map(documents.map((article, doc) => [article.seq, doc]))
  const vocabulary = createVocabulary()
  const texts: DocumentTexts = {
    tokens: createNumbers(),
    titleStarts: new Int32Array(documents.length),
    bodyStarts: new Int32Array(documents.length),
    ends: new Int32Array(documents.length),
  }
  return {
    addWords(seq, title, body) {
      const doc = docOf.get(seq)
      if (doc === undefined) throw new RangeError(`article ${seq} is not of this segment`)
      pace()
      texts.titleStarts[doc] = texts.tokens.length
      vocabulary.read(title, texts.tokens.push)
      texts.bodyStarts[doc] = texts.tokens.length
      vocabulary.read(body, texts.tokens.push)
      texts.ends[doc] = texts.tokens.length
    },
    build() {
      const buckets = createBuckets(documents.length, pace)
      buckets.take(dictionary => {
        addFilters(dictionary, documents)
        addWordLists(dictionary, documents, texts, vocabulary, pace)
      })
      buckets.take(dictionary => addNeighbours(dictionary, texts, vocabulary, pace))
      return {
        columns: encodeColumns(columnsOf(documents, firstSeq)),
        bucketBits: buckets.bits,
        buckets: buckets.blocks(),
      }
    },
  }
}

/** The words of all documents as numbers of a vocabulary; a title and its body follow each other. */
export interface DocumentTexts {
  tokens: Numbers
  titleStarts: Int32Array
  bodyStarts: Int32Array
  ends: Int32Array
}

/** Lexemes with their documents. */
export interface Dictionary {
  /** A number for a new lexeme; whoever asks makes sure that it is new. */
  lexeme(text: string): number
  /**
   * Notes that a document holds a lexeme; again for the same document does nothing. Documents come in ascending order.
   * Returns whether it was new.
   */
  add(lexeme: number, doc: number): boolean
}

/** Lists between two looks at the clock. */
const LISTS_OF_A_PIECE = 256

/** All entries of a segment, gathered in parts so that not all of them are in memory in their widest form at once. */
function createBuckets(size: number, pace: Pace) {
  // A document takes about a kilobyte, so as many buckets as documents make a lookup of one rare word read as much.
  const bits = Math.ceil(Math.log2(Math.max(size, 1)))
  const writers: (Writer | undefined)[] = Array.from({ length: 1 << bits })
  return {
    bits,
    /** Adds lexemes that no other part has. */
    take(fill: (dictionary: Dictionary) => void) {
      const names: string[] = []
      const latest = createNumbers()
      const postings = createPostings()
      fill({
        lexeme(text) {
          names.push(text)
          latest.push(-1)
          return names.length - 1
        },
        add(lexeme, doc) {
          if (latest.at(lexeme) === doc) return false
          latest.set(lexeme, doc)
          postings.add(lexeme, doc)
          return true
        },
      })
      postings.eachList((lexeme, docs, from, to) => {
        if (lexeme % LISTS_OF_A_PIECE === 0) pace()
        const name = names[lexeme]!
        const bucket = bucketOf(name, bits)
        writers[bucket] ??= createWriter(512)
        writeEntry(writers[bucket], name, { docs, from, to }, size)
      })
    },
    blocks: () => writers.flatMap((writer, bucket) => (writer === undefined ? [] : [{ bucket, block: writer.view() }])),
  }
}

function addFilters(dictionary: Dictionary, documents: SegmentSource[]): void {
  const numbers = new Map<string, number>()
  documents.forEach((article, doc) => {
    const lexemes = [
      LEXEMES.country(article.country),
      LEXEMES.language(article.language),
      LEXEMES.hasAuthor(article.authorNos.length > 0),
      LEXEMES.publisher(article.publisherNo),
      ...article.authorNos.map(LEXEMES.author),
    ]
    for (const lexeme of lexemes) {
      let number = numbers.get(lexeme)
      if (number === undefined) {
        number = dictionary.lexeme(lexeme)
        numbers.set(lexeme, number)
      }
      dictionary.add(number, doc)
    }
  })
}

/** Words and stems, of the title and of the whole. */
function addWordLists(
  dictionary: Dictionary,
  documents: SegmentSource[],
  texts: DocumentTexts,
  vocabulary: Vocabulary,
  pace: Pace,
): void {
  const { size } = vocabulary
  // Asked for by words, titles and stems.
  const known: (string | undefined)[] = Array.from({ length: size })
  const text = (token: number) => {
    known[token] ??= vocabulary.text(token)
    return known[token]
  }
  const ofWord = numbered(size, token => dictionary.lexeme(LEXEMES.word(text(token))))
  const ofTitleWord = numbered(size, token => dictionary.lexeme(LEXEMES.titleWord(text(token))))
  const ofStem = stemNumbers(dictionary, size, text, LEXEMES.stem)
  const ofTitleStem = stemNumbers(dictionary, size, text, LEXEMES.titleStem)
  documents.forEach(({ language }, doc) => {
    pace()
    const body = texts.bodyStarts[doc]!
    const stems = ofStem(language)
    const titleStems = ofTitleStem(language)
    for (let at = texts.titleStarts[doc]!; at < texts.ends[doc]!; at++) {
      const token = texts.tokens.at(at)
      const isNew = dictionary.add(ofWord(token), doc)
      if (at >= body && !isNew) continue
      const found = stems(token)
      if (found >= 0) dictionary.add(found, doc)
      if (at >= body) continue
      dictionary.add(ofTitleWord(token), doc)
      if (found >= 0) dictionary.add(titleStems(token), doc)
    }
  })
}

/** Numbers for tokens, each made when it is first asked for. */
function numbered(tokens: number, make: (token: number) => number): (token: number) => number {
  const known = new Int32Array(tokens).fill(-2)
  return token => {
    const number = known[token]!
    if (number !== -2) return number
    const made = make(token)
    known[token] = made
    return made
  }
}

/** For each language, the lexeme of a token's stem; −1 for its stop words. */
function stemNumbers(
  dictionary: Dictionary,
  tokens: number,
  text: (token: number) => string,
  lexeme: (language: Language, stem: string) => string,
): (language: Language) => (token: number) => number {
  const languages = new Map<Language, (token: number) => number>()
  return language => {
    let ofToken = languages.get(language)
    if (ofToken === undefined) {
      const ofStem = new Map<string, number>()
      ofToken = numbered(tokens, token => {
        const word = text(token)
        if (STOP_WORDS[language].has(word)) return -1
        const found = stem(language, word)
        let number = ofStem.get(found)
        if (number === undefined) {
          number = dictionary.lexeme(lexeme(language, found))
          ofStem.set(found, number)
        }
        return number
      })
      languages.set(language, ofToken)
    }
    return ofToken
  }
}
