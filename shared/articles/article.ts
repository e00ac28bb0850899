/** The vocabulary of the contract: countries, languages, and what an article is. */

export const COUNTRIES = ['NL', 'BE', 'LU'] as const
export type Country = (typeof COUNTRIES)[number]

export const LANGUAGES = ['nl', 'fr', 'de', 'lb', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

/** First so many code points of the body make the snippet (contract, "Article object"). */
export const SNIPPET_LENGTH = 200

/** The outlet as it stands on an article, stamped when the article is indexed (decision 24). */
export interface ArticleOutlet {
  name: string | null
  domain: string | null
}
