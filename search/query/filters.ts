import { foldName } from '../analysis/tokens.ts'
import { type Filterable, TERMS } from '../terms.ts'
import { COUNTRIES, type Country, type Language } from '../vocabulary.ts'
import { or, type QueryNode, term } from './parse.ts'

/*
 * Every filter is defined here, in two forms that mean the same. By one the index finds articles in
 * in-memory and stored segments. The other tests one article, because candidates of semantic search
 * have no posting lists. `FILTERS` has an entry for every field of `ArticleFilter`; the compiler
 * names a missing one.
 */

/** Filters that do not look at the words. */
export interface ArticleFilter {
  /** The plan's countries, or those of them that the request names; never empty. */
  countries: Country[]
  /** null: all. */
  languages: Language[] | null
  /** null: articles with an author and without. */
  hasAuthor: boolean | null
  /** Part of an outlet's name or domain, as the client wrote it (decision 15). */
  outlet: string | null
  /** Exact domains of outlets, in small letters. */
  outlets: string[] | null
  /** Part of an author's name. */
  author: string | null
  reach: Reach
  ingestedAfter: Date | null
}

/** With these filters, all articles of a reach match. */
export const NO_FILTERS: Omit<ArticleFilter, 'reach'> = {
  countries: [...COUNTRIES],
  languages: null,
  hasAuthor: null,
  outlet: null,
  outlets: null,
  author: null,
  ingestedAfter: null,
}

/** Values of a segment's documents that collectors look at one by one. */
export interface DocValues {
  publisherNo(doc: number): number
  eachAuthor(doc: number, visit: (authorNo: number) => void): void
}

/** The fields of an article that a test reads. */
interface FilteredArticle extends Filterable {
  /** ms since 1970; null: none. */
  published: number | null
  ingested: number | null
}

/** Names of outlets and authors by number. */
interface NamesByNo {
  outlet(publisherNo: number): { name: string | null; domain: string | null }
  author(authorNo: number): { name: string }
}

type ArticleTest = (article: FilteredArticle, names: NamesByNo) => boolean

interface FilterDefinition {
  /** null: the request does not use the filter. */
  inIndex(filter: ArticleFilter, publishers: readonly number[]): QueryNode | null
  onArticle(filter: ArticleFilter & { sort: Sort }): ArticleTest | null
}

/**
 * Documents of a segment stand in order of publication, so times are ranges there (`TimeBounds`),
 * not terms.
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
  outlets: {
    inIndex: ({ outlets }, publishers) => outlets && or(publishers.map(no => term(TERMS.publisher(no)))),
    onArticle({ outlets }) {
      if (outlets === null) return null
      return (article, names) => outlets.includes(names.outlet(article.publisherNo).domain?.toLowerCase() ?? '')
    },
  },
  reach: {
    inIndex: byTimeBounds,
    onArticle(filter) {
      const bounds = timeBoundsOf(filter)
      return ({ published, ingested }) => isWithin(bounds, published ?? Number.NaN, ingested ?? Number.NaN)
    },
  },
  // `timeBoundsOf` reads it together with the reach.
  ingestedAfter: { inIndex: byTimeBounds, onArticle: () => null },
}

const DEFINITIONS = Object.values(FILTERS)

/**
 * The clauses by which the index applies the filters of a request. A match fulfils all of them.
 *
 * @param publishers numbers of the outlets of `outlets`, at least one where `outlets` is given
 */
export const indexFilters = (filter: ArticleFilter, publishers: readonly number[]): QueryNode[] =>
  DEFINITIONS.flatMap(definition => definition.inIndex(filter, publishers) ?? [])

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

/** The times that lists are sorted by. */
export type Axis = 'published_at' | 'ingested_at'

/** Semantic search sorts by relevance too. */
export type Sort = Axis | 'relevance'

/** The parts of a query that bound its times. */
interface TimeFilter {
  reach: Reach
  ingestedAfter: Date | null
  sort: Sort
}

/** The times of publication that the plan and the request allow. */
interface Reach {
  historyStart: Date
  publishedAfter: Date | null
  publishedBefore: { at: Date; exclusive: boolean } | null
}

/** A half-open interval of time, in ms since 1970. */
export interface TimeSpan {
  from: number
  to: number
}

export const EMPTY_SPAN: TimeSpan = { from: 0, to: 0 }

const isEmpty = ({ from, to }: TimeSpan) => from >= to

/** The times that the request and the plan allow (decisions 12 to 14). */
export interface TimeBounds {
  published: TimeSpan
  /**
   * Articles without a date of publication match when they were ingested since then; null: none
   * matches.
   */
  undatedSince: number | null
  /** null: articles match with any time of ingestion, and also without one. */
  ingested: TimeSpan | null
}

export function timeBoundsOf({ reach, ingestedAfter, sort }: TimeFilter): TimeBounds {
  const { historyStart, publishedAfter, publishedBefore } = reach
  const from = Math.max(historyStart.getTime(), publishedAfter?.getTime() ?? -Infinity)
  // Times have milliseconds, so "up to and including" is "before the next millisecond".
  const to = publishedBefore === null ? Infinity : publishedBefore.at.getTime() + (publishedBefore.exclusive ? 0 : 1)
  const needsIngested = ingestedAfter !== null || sort === 'ingested_at'
  return {
    published: { from, to },
    undatedSince: publishedAfter === null && publishedBefore === null ? historyStart.getTime() : null,
    ingested: needsIngested ? { from: ingestedAfter?.getTime() ?? -Infinity, to: Infinity } : null,
  }
}

/**
 * The bounds cut to the days that have articles, so that no interval is unbounded.
 *
 * @param days null: no article has the time
 * @returns null: no article can lie within
 */
export function cutToDays(
  { published, undatedSince, ingested }: TimeBounds,
  days: Record<Axis, TimeSpan | null>,
): TimeBounds | null {
  const bounds: TimeBounds = {
    published: cut(published, days.published_at),
    undatedSince,
    ingested: ingested && cut(ingested, days.ingested_at),
  }
  if (isEmpty(bounds.published) && undatedSince === null) return null
  if (bounds.ingested !== null && isEmpty(bounds.ingested)) return null
  return bounds
}

const cut = (span: TimeSpan, days: TimeSpan | null): TimeSpan =>
  days === null ? EMPTY_SPAN : { from: Math.max(span.from, days.from), to: Math.min(span.to, days.to) }

/**
 * Whether an article's times lie within the bounds. `at` is its time of publication and `entered`
 * that of ingestion; NaN: it has none. Comparisons with NaN are false.
 */
export function isWithin({ published, undatedSince, ingested }: TimeBounds, at: number, entered: number): boolean {
  if (Number.isNaN(at)) {
    if (undatedSince === null || !(entered >= undatedSince)) return false
  } else if (at < published.from || at >= published.to) return false
  return ingested === null || (entered >= ingested.from && entered < ingested.to)
}
