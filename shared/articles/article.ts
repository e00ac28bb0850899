import type { Country } from '../../search/types.ts'

export { type ArticleOutlet, COUNTRIES, type Country, LANGUAGES, type Language } from '../../search/vocabulary.ts'

/** Where a date without an offset is read, unless the catalogue says otherwise. */
export const TIME_ZONES: Record<Country, string> = {
  NL: 'Europe/Amsterdam',
  BE: 'Europe/Brussels',
  LU: 'Europe/Luxembourg',
}
