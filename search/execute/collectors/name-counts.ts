import { COUNTRIES } from '../../../shared/articles/article.ts'
import { docsOf, intersection } from '../../segment/doc-id-set.ts'
import { grown } from '../../segment/grown.ts'
import { type NameField, TERMS } from '../../terms.ts'
import type { Collector } from './collector.ts'
import type { NameUse } from './name-uses.ts'

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
    aggregation: {
      kind: 'names',
      take: (field, no, use) => (field === 'outlet' ? outlets : authors).addUse(no, use),
    },
    isComplete: () => false,
    collect(matches, segment) {
      const isWhole = matches.count === matches.size
      COUNTRY_TERMS.forEach((term, index) => {
        const country = 1 << index
        const addAuthor = (no: number) => authors.add(no, country)
        const list = segment.list(term)
        const docs = docsOf(isWhole ? list : intersection(matches, list))
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
  const hasRoom = (no: number): boolean => {
    if (no < articles.length) return true
    if (no >= MOST_NUMBERS) return false
    const size = 2 ** Math.ceil(Math.log2(no + 1))
    articles = grown(articles, new Uint32Array(size))
    countries = grown(countries, new Uint8Array(size))
    return true
  }
  return {
    add(no: number, country: number) {
      if (!hasRoom(no)) return
      articles[no]! += 1
      countries[no]! |= country
    },
    addUse(no: number, use: NameUse) {
      if (!hasRoom(no)) return
      articles[no]! += use.articles
      countries[no]! |= use.countries
    },
    of: (no: number): NameUse => ({ articles: articles[no] ?? 0, countries: countries[no] ?? 0 }),
    end: () => articles.length,
  }
}
