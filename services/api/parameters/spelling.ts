import { DEFAULT_SORT, PARAMETERS, type ParameterName } from '../contract/parameters.ts'
import { ceilMs, type Instant, nextMidnight } from './instants.ts'
import type { ArticlesRequest } from './request.ts'

/** A parameter of a request. Requests that mean the same have the same spelling. */
export interface Spelling {
  /** The value that a cursor is bound to (decision 21); null: the request does not give it. */
  bound: unknown
  /**
   * The text in the feed's title (decision 32). null: it is absent, at its default, or no filter.
   */
  written: string | null
}

/** Every parameter but the cursor itself: the compiler asks for those that are added. */
export type Spellings = Record<Exclude<ParameterName, 'cursor'>, Spelling>

export function spellingsOf(request: ArticlesRequest): Spellings {
  const { question } = request
  const searchIn = question.search === 'semantic' ? null : question.searchIn
  return {
    search: choice(question.search, PARAMETERS.search.default),
    q: text(request.q),
    search_in: choice(searchIn, PARAMETERS.search_in.default),
    sort: choice(question.sort, DEFAULT_SORT[question.search]),
    order: choice(request.order, PARAMETERS.order.default),
    per_page: { bound: request.perPage, written: null },
    country: list(request.countries),
    language: list(request.languages),
    has_author: flag(request.hasAuthor),
    outlet: text(request.outlet),
    author: text(request.author),
    published_after: instant(request.publishedAfter, ceilMs),
    published_before: instant(request.publishedBefore, lastMs),
    ingested_after: instant(request.ingestedAfter, ceilMs),
  }
}

const text = (value: string | null): Spelling => ({ bound: value, written: value })
const list = (values: string[] | null): Spelling => ({ bound: values, written: values?.join(',') ?? null })
const flag = (value: boolean | null): Spelling => ({ bound: value, written: value === null ? null : String(value) })

const choice = (value: string | null, fallback: string): Spelling => ({
  bound: value,
  written: value === fallback ? null : value,
})

const instant = (value: Instant | null, toMs: (value: Instant) => number): Spelling => ({
  bound: value && toMs(value),
  written: value && writtenInstant(value),
})

/** The last millisecond that an upper bound lets in. */
function lastMs(instant: Instant): number {
  return instant.day ? nextMidnight(instant) - 1 : instant.ms
}

/** A day as a day, a time in UTC, with its fraction as far as it has one. */
function writtenInstant({ ms, beyond, day }: Instant): string {
  const iso = new Date(ms).toISOString()
  if (day) return iso.slice(0, 10)
  const fraction = (iso.slice(20, 23) + beyond).replace(/0+$/, '')
  return `${iso.slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}Z`
}
