import { hashOf } from '../analysis/hashes.ts'
import { type Brake, noBrake } from '../pace.ts'
import { filterTerms, TERMS } from '../terms.ts'
import type { Country, Language } from '../vocabulary.ts'
import { release } from './arrays.ts'
import {
  columnsOf,
  createTermFilterBuilder,
  documentOrder,
  encodeColumns,
  type SegmentArticle,
  type TermFilter,
} from './columns.ts'
import { bucketOfHash, entryBytes, writeEntry } from './postings.ts'
import {
  createNumbers,
  createPostings,
  type DictionaryBuilder,
  type KnownTexts,
  type PostingLists,
  type SegmentTexts,
} from './postings-builder.ts'
import { addShingles, SHINGLE_RULE } from './shingles.ts'
import { createVocabulary, memoised, NO_STEM, type Vocabulary } from './word-ids.ts'

/*
 * A builder gathers the words of all articles as numbers and then writes every posting list once.
 * Words, stems and filters come first. Shingles come last, and release the words. It opens nothing.
 */

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

interface BuilderOptions {
  brake?: Brake
  /** Shared with other segments. */
  vocabulary?: Vocabulary | undefined
  /** Words of all texts, to make room for them at once. */
  words?: number | undefined
  /** Of shingles, as columns name it; absent: that of new segments. */
  rule?: number | undefined
}

/** @param articles at most 65,536; `seq` from `firstSeq` to 65,535 beyond it */
export function createSegmentBuilder(
  articles: SegmentSource[],
  firstSeq: bigint,
  { brake = noBrake, vocabulary = createVocabulary(), words, rule = SHINGLE_RULE }: BuilderOptions = {},
) {
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
    /**
     * Takes in the words of an article, two lists as `wordList` writes them; every article once, in
     * any order.
     */
    addWords(seq: bigint, title: string, body: string): void {
      const doc = documentOf(seq)
      brake()
      texts.titleStarts[doc] = texts.words.length
      wordIds.read(title, texts.words.push)
      texts.bodyStarts[doc] = texts.words.length
      wordIds.read(body, texts.words.push)
      texts.ends[doc] = texts.words.length
    },
    /** Takes in all articles of another builder with the same vocabulary. */
    addTexts({ seqs, words, titleStarts, bodyStarts, ends }: KnownTexts): void {
      const shift = texts.words.length
      seqs.forEach((seq, other) => {
        const doc = documentOf(seq)
        texts.titleStarts[doc] = shift + titleStarts[other]!
        texts.bodyStarts[doc] = shift + bodyStarts[other]!
        texts.ends[doc] = shift + ends[other]!
      })
      texts.words.append(words)
    },
    /** The words of all articles so far, for a builder with the same vocabulary. */
    knownTexts: (): KnownTexts => ({
      seqs: documents.map(({ seq }) => seq),
      ...texts,
      words: texts.words.view().slice(),
    }),
    /** Called once, at the end. */
    build(): BuiltSegment {
      const buckets = createBuckets(documents.length, brake)
      buckets.fill(dictionary => {
        addFilterTerms(dictionary, documents)
        addWordTerms(dictionary, documents, texts, vocabulary, brake)
      })
      buckets.fill(dictionary => {
        addShingles(dictionary, texts, wordIds, brake, rule)
        release(texts.words.view())
      })
      return {
        columns: encodeColumns(columnsOf(documents, firstSeq, buckets.terms(), rule)),
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
  brake: Brake,
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
    brake()
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

/** Bucket n has the bytes from `starts[n]` to before `starts[n + 1]`. */
interface Stored {
  bytes: Buffer
  starts: Uint32Array
}

/** Posting lists between two calls of the brake. */
const LISTS_PER_BRAKE = 256

/**
 * All entries of a segment, by bucket.
 *
 * @param size documents of the segment
 */
function createBuckets(size: number, brake: Brake) {
  // A document adds about a kilobyte. With one bucket or two for each document, a bucket holds
  // about a kilobyte.
  const bits = Math.ceil(Math.log2(Math.max(size, 1)))
  const count = 1 << bits
  const filter = createTermFilterBuilder()
  let stored: Stored = { bytes: Buffer.alloc(0), starts: new Uint32Array(count + 1) }

  /** Calls back with each list, and with the bucket where it goes. */
  const eachEntry = (
    { names, lists: { count, docs, starts } }: Part,
    visit: (term: number, name: string, list: { docs: Uint16Array; from: number; to: number }) => void,
  ) => {
    const list = { docs, from: 0, to: 0 }
    for (let term = 0; term < count; term++) {
      if (term % LISTS_PER_BRAKE === 0) brake()
      list.from = starts[term]!
      list.to = starts[term + 1]!
      if (list.from < list.to) visit(term, names[term]!, list)
    }
  }
  return {
    /** There are 2^bits buckets. */
    bits,
    /**
     * Adds terms that no other part adds. A segment is built in parts, so that not all of it is in
     * memory in its widest form.
     */
    fill(add: (dictionary: DictionaryBuilder) => void): void {
      const part = readPart(add)
      const bucketOf = new Uint16Array(part.names.length)
      const added = new Uint32Array(count)
      eachEntry(part, (term, name, list) => {
        const hash = hashOf(name)
        filter.add(name, hash)
        const bucket = bucketOfHash(hash, bits)
        bucketOf[term] = bucket
        added[bucket]! += entryBytes(name, list, size)
      })
      const { room, ends } = makeRoom(stored, added)
      eachEntry(part, (term, name, list) => {
        const bucket = bucketOf[term]!
        ends[bucket] = writeEntry(room.bytes, ends[bucket]!, name, list, size)
      })
      release(part.lists.docs)
      stored = room
    },
    terms: (): TermFilter => filter.build(),
    /** The buckets that are not empty. */
    blocks: () => nonEmpty(stored),
  }
}

/** Some terms with their lists, by id. */
interface Part {
  names: string[]
  lists: PostingLists
}

function readPart(add: (dictionary: DictionaryBuilder) => void): Part {
  const names: string[] = []
  const postings = createPostings()
  add({
    term(text) {
      names.push(text)
      return postings.list()
    },
    add: postings.add,
  })
  return { names, lists: postings.lists() }
}

/**
 * Copies all buckets to where each has room for its new bytes behind the old ones.
 *
 * @returns ends the bytes so far of each bucket
 */
function makeRoom({ bytes, starts }: Stored, added: Uint32Array): { room: Stored; ends: Uint32Array } {
  const count = added.length
  const roomStarts = new Uint32Array(count + 1)
  const ends = new Uint32Array(count)
  for (let bucket = 0; bucket < count; bucket++) {
    const before = starts[bucket + 1]! - starts[bucket]!
    ends[bucket] = roomStarts[bucket]! + before
    roomStarts[bucket + 1] = ends[bucket]! + added[bucket]!
  }
  // Buffers of the pool share their memory with others; this one is never of the pool.
  const room = Buffer.from(new ArrayBuffer(roomStarts[count]!))
  for (let bucket = 0; bucket < count; bucket++) {
    room.set(bytes.subarray(starts[bucket], starts[bucket + 1]), roomStarts[bucket])
  }
  if (bytes.length > 0) release(bytes)
  return { room: { bytes: room, starts: roomStarts }, ends }
}

function nonEmpty({ bytes, starts }: Stored): { bucket: number; block: Buffer }[] {
  const blocks: { bucket: number; block: Buffer }[] = []
  for (let bucket = 0; bucket + 1 < starts.length; bucket++) {
    const [from, to] = [starts[bucket]!, starts[bucket + 1]!]
    if (from < to) blocks.push({ bucket, block: bytes.subarray(from, to) })
  }
  return blocks
}
