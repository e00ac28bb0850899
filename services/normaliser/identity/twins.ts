import { addressKey, readAddress } from '../../../shared/articles/address.ts'
import { LANGUAGES } from '../../../shared/articles/article.ts'

/** One `<link rel="alternate" hreflang="fr">`: the same article in that language. */
export interface Twin {
  /** A language tag, or `x-default`. */
  language: string
  /** As written. */
  href: string
}

/** What a page says of its languages. */
export interface Languages {
  /** The language of the page's text. */
  own: string
  twins: Twin[]
}

/**
 * Whether an address is the page's article in another language. Some templates name one language as
 * the canonical form of all. These are several articles, because each language is searched for
 * itself. Forms of one language for several countries (`nl-NL`, `nl-BE`) are one article.
 *
 * @param page the addresses of the page itself
 */
export function isInAnotherLanguage(link: URL, page: URL[], { own, twins }: Languages): boolean {
  const stated = statedLanguages(twins, page[0] ?? link)
  const ofLink = stated.get(addressKey(link.href))
  if (ofLink !== undefined) {
    const ofPage = page.map(url => stated.get(addressKey(url.href))).find(found => found !== undefined)
    const mine = ofPage ?? new Set([primaryOf(own)])
    return ![...ofLink].some(language => mine.has(language))
  }
  const marked = markedLanguage(link)
  return marked !== null && page.some(url => (markedLanguage(url) ?? marked) !== marked)
}

/** The languages of each address, by its key. `x-default` is no language. */
function statedLanguages(twins: Twin[], base: URL): Map<string, Set<string>> {
  const stated = new Map<string, Set<string>>()
  for (const { language, href } of twins) {
    const url = readAddress(href, base.href)
    if (url === null || primaryOf(language) === 'x') continue
    const key = addressKey(url.href)
    stated.set(key, (stated.get(key) ?? new Set()).add(primaryOf(language)))
  }
  return stated
}

/** `nl` of `nl-BE` (RFC 5646 §2.2.1). */
const primaryOf = (tag: string) => tag.trim().toLowerCase().split(/[-_]/)[0] ?? ''

const CODES = LANGUAGES.join('|')
const MARKS = {
  host: new RegExp(`^(?:www\\.)?(${CODES})\\.`),
  path: new RegExp(`^/(${CODES})(?:[-_][a-z]{2})?/`, 'i'),
  query: new RegExp(`[?&](?:lang|language|hl|locale|taal|langue|sprache)=(${CODES})\\b`, 'i'),
}

/** The language that an address names: `fr.krant.example`, `/fr/…`, `?lang=fr`. */
function markedLanguage(url: URL): string | null {
  const mark =
    MARKS.path.exec(url.pathname)?.[1] ?? MARKS.query.exec(url.search)?.[1] ?? MARKS.host.exec(url.hostname)?.[1]
  return mark?.toLowerCase() ?? null
}
