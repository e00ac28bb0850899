/*
 * The languages and countries that the index knows, and what it says of an outlet. A new one begins
 * here: the compiler then names most of the places that need it, and CONTRIBUTING.md the others.
 */

export const COUNTRIES = ['NL', 'BE', 'LU'] as const
export type Country = (typeof COUNTRIES)[number]

export const LANGUAGES = ['nl', 'fr', 'de', 'lb', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

/** The outlet in an article object, as it was when the article was indexed (decision 24). */
export interface ArticleOutlet {
  name: string | null
  domain: string | null
}
