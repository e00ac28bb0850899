import { foldName } from '../analysis/tokens.ts'
import { type Filterable, TERMS } from '../terms.ts'
import { type Access, COUNTRIES, type Country, type Kind, type Language } from '../vocabulary.ts'
import { or, type QueryNode, term } from './parse.ts'

/*
 * Defines every filter in two forms that mean the same. The first form makes a query for the index,
 * which finds articles in in-memory and stored segments. The second form tests one article, because
 * candidates of semantic search have no posting lists. `FILTERS` has an entry for every field of
 * `ArticleFilter`; the compiler names a missing entry.
 */

/** Filters whose conditions do not depend on the words of an article. */
export interface ArticleFilter {
  /** The plan's countries, or those that the request names among them; never empty. */
  countries: Country[]
  /** null: all. */
  languages: Language[] | null
  /** null: articles with and without an author. */
  hasAuthor: boolean | null
  /** Part of an outlet's name or domain, as the client wrote it (decision 15). */
  outlet: string | null
  /** Exact domains of outlets, in small letters. */
  outlets: string[] | null
  /** Part of an author's name, as the client wrote it. */
  author: string | null
  /** A section, whole, as the client wrote it. Case and accents do not count. */
  section: string | null
  /** null: articles of all kinds, and those of which the outlet says none. */
  kinds: Kind[] | null
  access: Access | null
  reach: Reach
  ingestedAfter: Date | null
  /**
   * An article may have been published at most so many ms before it was ingested; null or absent:
   * at any time. Passes without one of the two times.
   */
  publishedWithin?: number | null
}

/** With these filters, every article within the reach matches. */
export const NO_FILTERS: Omit<ArticleFilter, 'reach'> = {
  countries: [...COUNTRIES],
  languages: null,
  hasAuthor: null,
  outlet: null,
  outlets: null,
  author: null,
  section: null,
  kinds: null,
  access: null,
  ingestedAfter: null,
}

/** Values of a segment's documents, one document at a time. */
export interface DocValues {
  publisherNo(doc: number): number
  eachAuthor(doc: number, visit: (authorNo: number) => void): void
  /** Its place in `sections`; 0: the outlet says none. */
  sectionNo(doc: number): number
  /** The sections of the documents. The first place is empty. */
  readonly sections: readonly string[]
}

/** The fields of an article that a test reads. */
interface FilteredArticle extends Filterable {
  /** ms since 1970; null: the article has no such time. */
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
  /** Makes a query for the index; null: the request does not use the filter. */
  inIndex(filter: ArticleFilter, publishers: readonly number[]): QueryNode | null
  onArticle(
    filter: ArticleFilter & { sort: Sort },
    publishers: readonly number[],
  ): ArticleTest | null
}

/** Makes a filter by values that have terms: a match has one of the wanted values. */
function byTerm<V>(
  wantedOf: (filter: ArticleFilter, publishers: readonly number[]) => readonly V[] | null,
  termOf: (value: V) => string,
  own: (article: Filterable) => V | null,
): FilterDefinition {
  const termsOf = (...asked: Parameters<typeof wantedOf>) => wantedOf(...asked)?.map(termOf) ?? null
  return {
    inIndex(...asked) {
      const terms = termsOf(...asked)
      return terms && or(terms.map(term))
    },
    onArticle(...asked) {
      const terms = termsOf(...asked)
      if (terms === null) return null
      return article => {
        const value = own(article)
        return value !== null && terms.includes(termOf(value))
      }
    },
  }
}

/**
 * Times make no clause for the index. Documents of a segment stand in order of publication, so
 * times are ranges of documents there (`TimeBounds`).
 */
const byTimeBounds = () => null

const FILTERS: Record<keyof ArticleFilter, FilterDefinition> = {
  countries: byTerm(
    ({ countries }) => (countries.length < COUNTRIES.length ? countries : null),
    TERMS.country,
    article => article.country,
  ),
  languages: byTerm(
    filter => filter.languages,
    TERMS.language,
    article => article.language,
  ),
  hasAuthor: byTerm(
    ({ hasAuthor }) => (hasAuthor === null ? null : [hasAuthor]),
    TERMS.hasAuthor,
    ({ authorNos }) => authorNos.length > 0,
  ),
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
  outlets: byTerm(
    ({ outlets }, publishers) => outlets && publishers,
    TERMS.publisher,
    article => article.publisherNo,
  ),
  section: byTerm(
    ({ section }) => (section === null ? null : [section]),
    TERMS.section,
    article => article.section,
  ),
  kinds: byTerm(
    filter => filter.kinds,
    TERMS.kind,
    article => article.kind,
  ),
  access: byTerm(
    ({ access }) => access && [access],
    TERMS.access,
    article => article.access,
  ),
  reach: {
    inIndex: byTimeBounds,
    onArticle(filter) {
      const bounds = timeBoundsOf(filter)
      return ({ published, ingested }) =>
        isWithin(bounds, published ?? Number.NaN, ingested ?? Number.NaN)
    },
  },
  // `timeBoundsOf` reads these filters together with the reach.
  ingestedAfter: { inIndex: byTimeBounds, onArticle: () => null },
  publishedWithin: { inIndex: byTimeBounds, onArticle: () => null },
}

const DEFINITIONS = Object.values(FILTERS)

/**
 * The clauses by which the index applies the filters of a request. A match satisfies all clauses.
 *
 * @param publishers numbers of the outlets that `outlets` names; never empty where `outlets` is
 *   given
 */
export const indexFilters = (filter: ArticleFilter, publishers: readonly number[]): QueryNode[] =>
  DEFINITIONS.flatMap(definition => definition.inIndex(filter, publishers) ?? [])

/**
 * Makes a test of whether an article passes all filters of a request.
 *
 * @param publishers numbers of the outlets that `outlets` names
 */
export function articleTest(
  filter: ArticleFilter & { sort: Sort },
  publishers: readonly number[],
): ArticleTest {
  const tests = DEFINITIONS.flatMap(definition => definition.onArticle(filter, publishers) ?? [])
  return (article, names) => tests.every(test => test(article, names))
}

/** Makes a test of whether a name contains a part. Case and accents do not count (decision 15). */
function containing(part: string): (name: string) => boolean {
  const folded = foldName(part)
  return name => foldName(name).includes(folded)
}

/** The times by which lists can be sorted. */
export type Axis = 'published_at' | 'ingested_at'

/** Lists are sorted by a time. Semantic search can also sort by relevance. */
export type Sort = Axis | 'relevance'

/** The parts of a query from which its time bounds follow. */
interface TimeFilter {
  reach: Reach
  ingestedAfter: Date | null
  publishedWithin?: number | null
  sort: Sort
}

/** The times of publication that the plan and the request allow. */
interface Reach {
  historyStart: Date
  publishedAfter: Date | null
  /** The last ms that is let in. */
  publishedBefore: Date | null
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
   * Articles without a date of publication match if they were ingested at this time or later; null:
   * none of them matches.
   */
  undatedSince: number | null
  /** null: the time of ingestion does not count, and may be missing. */
  ingested: TimeSpan | null
  /** ms from publication to ingestion at most, where an article has both times; null: any. */
  within: number | null
}

export function timeBoundsOf({
  reach,
  ingestedAfter,
  publishedWithin = null,
  sort,
}: TimeFilter): TimeBounds {
  const { historyStart, publishedAfter, publishedBefore } = reach
  const from = Math.max(historyStart.getTime(), publishedAfter?.getTime() ?? -Infinity)
  // Times have milliseconds, so "up to and including" is "before the next millisecond".
  const to = publishedBefore === null ? Infinity : publishedBefore.getTime() + 1
  const needsIngested = ingestedAfter !== null || sort === 'ingested_at'
  return {
    published: { from, to },
    undatedSince:
      publishedAfter === null && publishedBefore === null ? historyStart.getTime() : null,
    ingested: needsIngested ? { from: ingestedAfter?.getTime() ?? -Infinity, to: Infinity } : null,
    within: publishedWithin,
  }
}

/**
 * Cuts the bounds to the days that have articles, so that no interval is unbounded.
 *
 * @param days null: no article has this time
 * @returns null: no article can lie within the bounds
 */
export function cutToDays(
  { published, undatedSince, ingested, within }: TimeBounds,
  days: Record<Axis, TimeSpan | null>,
): TimeBounds | null {
  const bounds: TimeBounds = {
    published: cut(published, days.published_at),
    undatedSince,
    ingested: ingested && cut(ingested, days.ingested_at),
    within,
  }
  if (isEmpty(bounds.published) && undatedSince === null) return null
  if (bounds.ingested !== null && isEmpty(bounds.ingested)) return null
  return bounds
}

const cut = (span: TimeSpan, days: TimeSpan | null): TimeSpan =>
  days === null
    ? EMPTY_SPAN
    : { from: Math.max(span.from, days.from), to: Math.min(span.to, days.to) }

/**
 * Whether an article's times lie within the bounds.
 *
 * @param at its time of publication; NaN: it has none. Comparisons with NaN are false.
 * @param entered its time of ingestion; NaN: it has none
 */
export function isWithin(
  { published, undatedSince, ingested, within }: TimeBounds,
  at: number,
  entered: number,
): boolean {
  if (Number.isNaN(at)) {
    if (undatedSince === null || !(entered >= undatedSince)) return false
  } else if (at < published.from || at >= published.to) return false
  if (within !== null && at < entered - within) return false
  return ingested === null || (entered >= ingested.from && entered < ingested.to)
}
