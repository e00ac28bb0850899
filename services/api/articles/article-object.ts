import type { ArticleRow } from '../../../search/index.ts'
import type { ArticleObject } from '../contract/resources.ts'

/** The article object of the contract, but for the relevance that a search by meaning adds last. */
export function articleObject(row: ArticleRow): ArticleObject {
  return {
    id: row.id,
    title: row.title,
    url: row.url,
    snippet: row.snippet,
    published_at: row.publishedAt?.toISOString() ?? null,
    ingested_at: row.ingestedAt?.toISOString() ?? null,
    authors: row.authors.map(({ id, name }) => ({ id, name })),
    outlet: { name: row.outlet.name, domain: row.outlet.domain },
    language: row.language,
    country: row.country,
  }
}
