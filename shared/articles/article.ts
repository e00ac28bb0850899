/** The vocabulary of the contract: countries, languages, articles. */

export const COUNTRIES = ['NL', 'BE', 'LU'] as const
export type Country = (typeof COUNTRIES)[number]
/** Where a date without an offset is read, unless the catalogue says otherwise. */
export const TIME_ZONES: Record<Country, string> = {
  NL: 'Europe/Amsterdam',
  BE: 'Europe/Brussels',
  LU: 'Europe/Luxembourg',
}

export const LANGUAGES = ['nl', 'fr', 'de', 'lb', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

/** The outlet in an article object, as it was when the article was indexed (decision 24). */
export interface ArticleOutlet {
  name: string | null
  domain: string | null
}
