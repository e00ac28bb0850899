/*
 * The languages and countries that the index knows, and the fields of an outlet. To add a language
 * or country, begin here: the compiler then names most other places that need it. CONTRIBUTING.md
 * names the rest.
 */

export const COUNTRIES = ['NL', 'BE', 'LU'] as const
export type Country = (typeof COUNTRIES)[number]

export const LANGUAGES = ['nl', 'fr', 'de', 'lb', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

/** What an outlet may say of an article, and who may read it. */
export const KINDS = ['news', 'opinion', 'live', 'analysis', 'review'] as const
export type Kind = (typeof KINDS)[number]
export const ACCESSES = ['free', 'paid'] as const
export type Access = (typeof ACCESSES)[number]

/** The outlet in an article object, as it was when the article was indexed (decision 24). */
export interface ArticleOutlet {
  name: string | null
  domain: string | null
}
