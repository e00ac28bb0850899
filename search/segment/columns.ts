import { finishHash } from '../analysis/hashes.ts'

/**
 * Values of a segment's documents, by document (Lucene: doc values). Documents stand in order of
 * publication, and documents without a date come last. Equal times are ordered by id. So a range of
 * time is a range of documents, and the newest match is the highest document.
 */
export interface Columns {
  /** Number of documents. */
  size: number
  /** Documents before this one have a publication date. */
  dated: number
  /** The `seq` of each document minus the first `seq` of the segment. */
  offsets: Uint16Array
  /** ms since 1970; NaN: the document has no such time. */
  published: Float64Array
  ingested: Float64Array
  /** Publication of the first and of the last dated document; NaN: no document is dated. */
  earliest: number
  latest: number
  /** Whether all documents have a time of ingestion. */
  allIngested: boolean
  publishers: Int32Array
  /**
   * Authors of document n are `authors[authorStarts[n]]` to before `authors[authorStarts[n + 1]]`.
   */
  authorStarts: Uint32Array
  authors: Int32Array
  /**
   * Tells which terms the segment certainly lacks; empty: unknown, as in segments of earlier
   * versions.
   */
  terms: TermFilter
  /** By document: its place in `sectionNames`; 0: its outlet says no section. */
  sections: Uint16Array
  /** The sections of the documents, as written. The first place is empty. */
  sectionNames: string[]
  /**
   * The rule of its n-grams (`RULES` in `ngrams.ts`); 0: an earlier version made the segment.
   */
  rule: number
}

/** The values of an article for columns; times in ms since 1970. */
export interface SegmentArticle {
  seq: bigint
  id: string
  published: number | null
  ingested: number | null
  publisherNo: number
  authorNos: number[]
  section: string | null
}

/** The order of documents in a segment. */
export function documentOrder(a: SegmentArticle, b: SegmentArticle): number {
  const x = a.published ?? Infinity
  const y = b.published ?? Infinity
  if (x !== y) return x < y ? -1 : 1
  return a.id < b.id ? -1 : 1
}

/** @param articles sorted by `documentOrder` */
export function columnsOf(
  articles: SegmentArticle[],
  firstSeq: bigint,
  terms: TermFilter,
  rule: number,
): Columns {
  const authorStarts = new Uint32Array(articles.length + 1)
  articles.forEach((article, doc) => {
    authorStarts[doc + 1] = authorStarts[doc]! + article.authorNos.length
  })
  const dated = articles.filter(article => article.published !== null).length
  const sections = createSections()
  return {
    size: articles.length,
    dated,
    offsets: Uint16Array.from(articles, article => Number(article.seq - firstSeq)),
    published: Float64Array.from(articles, article => article.published ?? Number.NaN),
    earliest: articles[0]?.published ?? Number.NaN,
    latest: articles[dated - 1]?.published ?? Number.NaN,
    ingested: Float64Array.from(articles, article => article.ingested ?? Number.NaN),
    allIngested: articles.every(article => article.ingested !== null),
    publishers: Int32Array.from(articles, article => article.publisherNo),
    authorStarts,
    authors: Int32Array.from(articles.flatMap(article => article.authorNos)),
    terms,
    sections: Uint16Array.from(articles, ({ section }) => sections.noOf(section)),
    sectionNames: sections.names,
    rule,
  }
}

/** Numbers sections in the order in which they come. */
export function createSections(): { names: string[]; noOf(section: string | null): number } {
  const names = ['']
  const nos = new Map<string, number>()
  return {
    names,
    noOf(section) {
      if (section === null) return 0
      const no = nos.get(section) ?? names.push(section) - 1
      nos.set(section, no)
      return no
    },
  }
}

const HEADER = 4

/**
 * Writes the arrays one after the other. The widest elements come first, so that each array is
 * aligned. Sections come last, and only where there are any. Earlier versions do not read them.
 */
export function encodeColumns(columns: Columns): Buffer {
  const header = Uint32Array.of(
    columns.size,
    columns.dated,
    columns.authors.length,
    columns.terms.length,
  )
  const { published, ingested, publishers, authorStarts, authors, offsets, terms, rule } = columns
  const { sections, sectionNames } = columns
  return Buffer.concat(
    [
      header,
      published,
      ingested,
      publishers,
      authorStarts,
      authors,
      offsets,
      terms,
      Uint8Array.of(rule),
      ...(sectionNames.length === 1
        ? []
        : [sections, new TextEncoder().encode(JSON.stringify(sectionNames))]),
    ].map(array => new Uint8Array(array.buffer, array.byteOffset, array.byteLength)),
  )
}

/**
 * Replaces the times of ingestion in columns. Articles of an import get these times when they
 * become visible.
 *
 * @param ingested by `seq` minus the first `seq` of the segment
 */
export function ingestedInto(bytes: Uint8Array, ingested: readonly (number | null)[]): Buffer {
  const columns = decodeColumns(bytes)
  columns.offsets.forEach((offset, doc) => {
    columns.ingested[doc] = ingested[offset] ?? Number.NaN
  })
  return encodeColumns(columns)
}

export function decodeColumns(bytes: Uint8Array): Columns {
  // This makes a copy, because an array of eight-byte elements must begin at a multiple of eight.
  const { buffer } = new Uint8Array(bytes)
  const [size = 0, dated = 0, authors = 0, terms = 0] = new Uint32Array(buffer, 0, HEADER)
  let at = 16
  const next = (bytes: number) => {
    at += bytes
    return at - bytes
  }
  const published = new Float64Array(buffer, next(size * 8), size)
  const ingested = new Float64Array(buffer, next(size * 8), size)
  const read = {
    size,
    dated,
    published,
    ingested,
    earliest: published[0] ?? Number.NaN,
    latest: published[dated - 1] ?? Number.NaN,
    allIngested: !ingested.includes(Number.NaN),
    publishers: new Int32Array(buffer, next(size * 4), size),
    authorStarts: new Uint32Array(buffer, next((size + 1) * 4), size + 1),
    authors: new Int32Array(buffer, next(authors * 4), authors),
    offsets: new Uint16Array(buffer, next(size * 2), size),
    terms: new Uint8Array(buffer, next(terms), terms),
    rule: new Uint8Array(buffer, at)[0] ?? 0,
  }
  const rest = buffer.slice(at + 1)
  if (rest.byteLength === 0) return { ...read, sections: new Uint16Array(size), sectionNames: [''] }
  const sectionNames: string[] = JSON.parse(new TextDecoder().decode(rest.slice(size * 2)))
  return { ...read, sections: new Uint16Array(rest.slice(0, size * 2)), sectionNames }
}

/*
 * A Bloom filter of all terms of a segment except n-grams. One answer in eighty is false. Most
 * words of a query are in few segments, and their stems in one language of five. Without the
 * filter, which is in memory, each term would need a look into a bucket of each segment.
 */
export type TermFilter = Uint8Array

const BITS_PER_TERM = 10
const PROBES = 4

/** The first letters of n-grams. With n-grams the filter would be five times as large. */
const NGRAMS = new Set(['Q', 'R', 'V', 'W'])

/** Whether a term is of a kind that the filter has. */
export const isFiltered = (term: string): boolean => !NGRAMS.has(term[0] ?? '')

/** @param hashes `hashOf` each term. `isFiltered` must be true for the terms. */
export function termFilter(hashes: Int32Array): TermFilter {
  const filter = new Uint8Array(Math.ceil((hashes.length * BITS_PER_TERM) / 8))
  const bits = filter.length * 8
  for (const hash of hashes) {
    const step = stepOf(hash)
    for (let probe = 0, at = hash >>> 0; probe < PROBES; probe++, at = (at + step) >>> 0) {
      const bit = at % bits
      filter[bit >>> 3]! |= 1 << (bit & 7)
    }
  }
  return filter
}

/**
 * Whether a segment certainly lacks a term.
 *
 * @param hash `hashOf` the term. `isFiltered` must be true for the term.
 */
export function lacks(filter: TermFilter, hash: number): boolean {
  const bits = filter.length * 8
  const step = stepOf(hash)
  for (let probe = 0, at = hash; probe < PROBES && bits > 0; probe++, at = (at + step) >>> 0) {
    const bit = at % bits
    if (((filter[bit >>> 3]! >>> (bit & 7)) & 1) === 0) return true
  }
  return false
}

/** Double hashing (Kirsch and Mitzenmacher): two hashes give the places of all probes. */
const stepOf = (hash: number) => finishHash(hash ^ 0x9e3779b1)
