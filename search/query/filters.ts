import { COUNTRIES, type Country, type Language } from '../../shared/articles/article.ts'
import { foldName } from '../analysis/folding.ts'
import { type Filterable, TERMS } from '../terms.ts'
import { or, type QueryNode, term } from './parse.ts'
import { type Coverage, isWithin, type Sort, timeBoundsOf } from './time-bounds.ts'

/*
 * The one home of every filter. A filter has two forms that mean the same: how the index finds the
 * articles (for in-memory and stored segments), and a test of one article (for the candidates of
 * semantic search, which have no posting lists). `FILTERS` has an entry for every field of
 * `ArticleFilter`; the compiler names a missing one.
 */

/** Filters that do not look at the words. */
export interface ArticleFilter {
  /** The plan's countries, or those of them that the request names; never empty. */
  countries: Country[]
  /** null: all. */
  languages: Language[] | null
  /** null: with and without. */
  hasAuthor: boolean | null
  /** Part of an outlet's name or domain, as the client wrote it (decision 15). */
  outlet: string | null
  /** Part of an author's name. */
  author: string | null
  coverage: Coverage
  ingestedAfter: Date | null
}

/** All articles of a coverage. */
export const NO_FILTERS: Omit<ArticleFilter, 'coverage'> = {
  countries: [...COUNTRIES],
  languages: null,
  hasAuthor: null,
  outlet: null,
  author: null,
  ingestedAfter: null,
}

/** Values of a segment's documents that collectors look at one by one. */
export interface DocValues {
  publisherNo(doc: number): number
  eachAuthor(doc: number, visit: (authorNo: number) => void): void
}

/** The fields of an article that a test reads. */
export interface FilteredArticle extends Filterable {
  /** ms since 1970; null: none. */
  published: number | null
  ingested: number | null
}

/** Names of outlets and authors by number. */
export interface NamesByNo {
  outlet(publisherNo: number): { name: string | null; domain: string | null }
  author(authorNo: number): { name: string }
}

type ArticleTest = (article: FilteredArticle, names: NamesByNo) => boolean

interface FilterDefinition {
  /** null: the request does not use the filter. */
  inIndex(filter: ArticleFilter): QueryNode | null
  onArticle(filter: ArticleFilter & { sort: Sort }): ArticleTest | null
}

/**
 * Documents of a segment stand in order of publication, so times are ranges there
 * (`time-bounds.ts`), not terms.
 */
const byTimeBounds = () => null

const FILTERS: Record<keyof ArticleFilter, FilterDefinition> = {
  countries: {
    inIndex: ({ countries }) =>
      countries.length < COUNTRIES.length ? or(countries.map(one => term(TERMS.country(one)))) : null,
    onArticle:
      ({ countries }) =>
      article =>
        countries.includes(article.country),
  },
  languages: {
    inIndex: ({ languages }) => languages && or(languages.map(one => term(TERMS.language(one)))),
    onArticle: ({ languages }) => languages && (article => languages.includes(article.language)),
  },
  hasAuthor: {
    inIndex: ({ hasAuthor }) => (hasAuthor === null ? null : term(TERMS.hasAuthor(hasAuthor))),
    onArticle: ({ hasAuthor }) => (hasAuthor === null ? null : article => article.authorNos.length > 0 === hasAuthor),
  },
  author: {
    inIndex: ({ author }) => (author === null ? null : term(TERMS.authorPart(foldName(author)))),
    onArticle({ author }) {
      if (author === null) return null
      const contains = containing(author)
      return (article, names) => article.authorNos.some(no => contains(names.author(no).name))
    },
  },
  outlet: {
    inIndex: ({ outlet }) => (outlet === null ? null : term(TERMS.outletPart(foldName(outlet)))),
    onArticle({ outlet }) {
      if (outlet === null) return null
      const contains = containing(outlet)
      return (article, names) => {
        const { name, domain } = names.outlet(article.publisherNo)
        return contains(name ?? '') || contains(domain ?? '')
      }
    },
  },
  coverage: {
    inIndex: byTimeBounds,
    onArticle(filter) {
      const bounds = timeBoundsOf(filter)
      return ({ published, ingested }) => isWithin(bounds, published ?? Number.NaN, ingested ?? Number.NaN)
    },
  },
  // `timeBoundsOf` reads it together with the coverage.
  ingestedAfter: { inIndex: byTimeBounds, onArticle: () => null },
}

const DEFINITIONS = Object.values(FILTERS)

/** How the index applies the filters of a request: all of these clauses. */
export const indexFilters = (filter: ArticleFilter): QueryNode[] =>
  DEFINITIONS.flatMap(definition => definition.inIndex(filter) ?? [])

/** A test whether one article passes all filters of a request. */
export function articleTest(filter: ArticleFilter & { sort: Sort }): ArticleTest {
  const tests = DEFINITIONS.flatMap(definition => definition.onArticle(filter) ?? [])
  return (article, names) => tests.every(test => test(article, names))
}

/** Whether a name contains a part, case and accents aside (decision 15). */
function containing(part: string): (name: string) => boolean {
  const folded = foldName(part)
  return name => foldName(name).includes(folded)
}
