import type { ArticleOutlet, ArticleRow, Country, Language } from '#search/types'

export {
  ACCESSES,
  type Access,
  type ArticleOutlet,
  COUNTRIES,
  type Country,
  KINDS,
  type Kind,
  LANGUAGES,
  type Language,
} from '#search/vocabulary'

/**
 * A date without an offset is read in the time zone of its country, unless the catalogue gives
 * another time zone.
 */
export const TIME_ZONES: Record<Country, string> = {
  NL: 'Europe/Amsterdam',
  BE: 'Europe/Brussels',
  LU: 'Europe/Luxembourg',
}

/**
 * The id of an article; an import may bring its own. A cursor of at most 255 characters holds the
 * id of the last article shown.
 */
export const ARTICLE_ID: RegExp = /^[\x21-\x7e]{1,128}$/

/** The name of each language in that language, so that its speakers recognise it. */
export const OWN_NAMES = {
  en: 'English',
  nl: 'Nederlands',
  fr: 'Français',
  de: 'Deutsch',
  lb: 'Lëtzebuergesch',
} as const

export interface ArticleObject {
  id: string
  title: string
  url: string
  snippet: string | null
  published_at: string | null
  ingested_at: string | null
  authors: { id: string; name: string }[]
  outlet: ArticleOutlet
  language: Language
  country: Country
}

/** The article object of the contract. Search by meaning adds the relevance afterwards. */
export const articleObject = (row: ArticleRow): ArticleObject => ({
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
})

/** Ends a cut snippet after its last whole word, without a comma or dash at the end. */
function upToWord(snippet: string): string {
  // Snippets are cut after 200 characters, or before a grapheme that does not fit (decision 33).
  if ([...snippet].length < 190 || /[.!?…][”"’»)]?$/.test(snippet)) return snippet
  return /^(.*[^\s,;:–—(-])[\s,;:–—(-]+\S*$/s.exec(snippet)?.[1] ?? snippet
}

/** A snippet for people: a cut one ends after a whole word, and says that the text goes on. */
export function snippetText(snippet: string): string {
  const short = upToWord(snippet)
  return short === snippet ? snippet : `${short}\u00A0…`
}
