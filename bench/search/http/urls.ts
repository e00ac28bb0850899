import type { ArticleQuery } from '../../../search/index.ts'
import { COUNTRIES } from '../../../shared/articles/article.ts'

/** The request of a client that asks a query's first page. */
export function pathOf(query: ArticleQuery): string {
  const given = new URLSearchParams()
  const { match, coverage } = query
  if (match.kind === 'keyword') given.set('q', match.words.join(' '))
  if (match.kind === 'boolean') {
    given.set('search', 'boolean')
    const phrase = (words: string[]) => (words.length === 1 ? words[0]! : `"${words.join(' ')}"`)
    given.set('q', [...match.required.map(phrase), ...match.excluded.map(words => `-${phrase(words)}`)].join(' '))
  }
  given.set('search_in', query.searchIn)
  if (query.countries.length < COUNTRIES.length) given.set('country', query.countries.join(','))
  if (query.languages !== null) given.set('language', query.languages.join(','))
  if (query.hasAuthor !== null) given.set('has_author', String(query.hasAuthor))
  if (query.outlet !== null) given.set('outlet', query.outlet)
  if (query.author !== null) given.set('author', query.author)
  if (coverage.publishedAfter !== null) given.set('published_after', coverage.publishedAfter.toISOString())
  if (coverage.publishedBefore !== null) {
    // The bounds of the bench end at midnight, and a day as a bound includes all of that day.
    const last = new Date(coverage.publishedBefore.at.getTime() - 1)
    given.set('published_before', last.toISOString().slice(0, 10))
  }
  if (query.ingestedAfter !== null) given.set('ingested_after', query.ingestedAfter.toISOString())
  given.set('sort', query.sort)
  given.set('order', query.order)
  given.set('per_page', String(query.perPage))
  return `/v1/articles?${given}`
}
