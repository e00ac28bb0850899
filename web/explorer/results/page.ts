import type { ArticleObject } from '../../../services/api/contract/resources.ts'
import { COUNTRIES, LANGUAGES } from '../../../shared/articles/article.ts'
import { isRecord } from '../../parts/request.ts'

export type Article = ArticleObject

export interface ResultsPage {
  total: number
  /** Counting stopped there. */
  estimate: boolean
  next: string | null
  articles: Article[]
}

/** Reads a page of `/v1/articles`; null: it is none. */
export function readPage(json: unknown): ResultsPage | null {
  if (!isRecord(json) || !Array.isArray(json.articles) || typeof json.total_results !== 'number') return null
  return {
    total: json.total_results,
    estimate: json.total_results_is_estimate === true,
    next: typeof json.next_cursor === 'string' ? json.next_cursor : null,
    articles: json.articles.map(readArticle).filter(article => article !== null),
  }
}

function readArticle(json: unknown): Article | null {
  if (!isRecord(json) || !isRecord(json.outlet)) return null
  const language = LANGUAGES.find(one => one === json.language)
  const country = COUNTRIES.find(one => one === json.country)
  if (typeof json.id !== 'string' || language === undefined || country === undefined) return null
  return {
    id: json.id,
    title: textOf(json.title) ?? '',
    url: textOf(json.url) ?? '',
    snippet: textOf(json.snippet),
    published_at: textOf(json.published_at),
    ingested_at: textOf(json.ingested_at),
    authors: readAuthors(json.authors),
    outlet: { name: textOf(json.outlet.name), domain: textOf(json.outlet.domain) },
    language,
    country,
    ...(typeof json.relevance === 'number' ? { relevance: json.relevance } : {}),
  }
}

function readAuthors(json: unknown): Article['authors'] {
  if (!Array.isArray(json)) return []
  return json.flatMap(one =>
    isRecord(one) && typeof one.id === 'string' && typeof one.name === 'string' ? [{ id: one.id, name: one.name }] : [],
  )
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : null)

/** An address that a link may have: a page of the web, and no script. */
export const safeAddress = (url: string) => (/^https?:\/\//i.test(url) ? url : null)
