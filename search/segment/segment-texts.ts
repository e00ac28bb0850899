import type { Numbers } from './postings-builder.ts'

/** The words of all documents as ids; a title and its body follow each other. */
export interface SegmentTexts {
  words: Numbers
  titleStarts: Int32Array
  bodyStarts: Int32Array
  ends: Int32Array
}

/** The texts of a builder, for another one with the same vocabulary. */
export interface KnownTexts extends Omit<SegmentTexts, 'words'> {
  /** Document n is the article with the number `seqs[n]`. */
  seqs: bigint[]
  words: Int32Array
}

/** Takes in the terms of a segment with their documents. */
export interface DictionaryBuilder {
  /** The id of a new term. The caller makes sure that the term is new. */
  term(text: string): number
  /**
   * Notes that a document has a term; a second call for the same document does nothing. Documents
   * come in ascending order.
   */
  add(term: number, doc: number): void
}
