import { COUNTRIES } from '../../../shared/articles/article.ts'
import { docsOf } from '../../segment/doc-id-set.ts'
import { grown } from '../../segment/grown.ts'
import { type NameField, TERMS } from '../../terms.ts'
import type { Collector } from './collector.ts'

/** Articles of an outlet or author, and the countries that have some. */
export interface NameUse {
  articles: number
  /** Bit n: the country `COUNTRIES[n]`. */
  countries: number
}

/** The uses of outlets or authors by number. */
export interface NameUses {
  of(no: number): NameUse
  /** No number from here on has articles. */
  end(): number
}

export type NameCounter = Collector & Record<NameField, NameUses>

const COUNTRY_TERMS = COUNTRIES.map(country => TERMS.country(country))

/** Counts the matches of every outlet and author. */
export function createNameCounter(): NameCounter {
  const outlets = createUses()
  const authors = createUses()
  return {
    terms: COUNTRY_TERMS,
    outlet: outlets,
    author: authors,
    isComplete: () => false,
    collect(_matches, segment) {
      COUNTRY_TERMS.forEach((term, index) => {
        const country = 1 << index
        const addAuthor = (no: number) => authors.add(no, country)
        const docs = docsOf(segment.list(term))
        for (let at = 0; at < docs.length; at++) {
          outlets.add(segment.values.publisherNo(docs[at]!), country)
          segment.values.eachAuthor(docs[at]!, addAuthor)
        }
      })
    },
  }
}

/** Numbers from here on are not counted, which bounds the memory. */
const MOST_NUMBERS = 1 << 24

function createUses() {
  let articles = new Uint32Array(1 << 10)
  let countries = new Uint8Array(1 << 10)
  return {
    add(no: number, country: number) {
      if (no >= articles.length) {
        if (no >= MOST_NUMBERS) return
        const size = 2 ** Math.ceil(Math.log2(no + 1))
        articles = grown(articles, new Uint32Array(size))
        countries = grown(countries, new Uint8Array(size))
      }
      articles[no]! += 1
      countries[no]! |= country
    },
    of: (no: number): NameUse => ({ articles: articles[no] ?? 0, countries: countries[no] ?? 0 }),
    end: () => articles.length,
  }
}
