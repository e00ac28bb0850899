import { READING_PLACE } from '#web/parts/request'
import { addressOf, ONCE, type Search } from './search.ts'

/*
 * Beside the search, the address has whether each text is shown once, the kept search from which
 * the page was opened, and the searches that it compares. So a link, a bookmark and a reload keep
 * these.
 */

/** The parameter with the kept search from which the page was opened. */
export const KEPT = 'kept'
/**
 * The parameter that says that what is new to the kept search is first, for once. It ends when the
 * reader chooses an order.
 */
export const NEWS = 'news'
/** The parameter with a compared search, as `writeSearch` writes it; there may be several. */
export const COMPARED = 'compare'

export const parametersHere = (): URLSearchParams => new URLSearchParams(location.search)

/** The address of a search with what the page shows beside it, as it is now or changed. */
export function viewOf(search: Search, changed: Record<string, string[]> = {}): string {
  const here = parametersHere()
  const view = new URLSearchParams()
  for (const name of [ONCE, KEPT, NEWS, COMPARED])
    for (const value of changed[name] ?? here.getAll(name)) view.append(name, value)
  const address = addressOf(search)
  return view.size === 0 ? address : `${address}${address.includes('?') ? '&' : '?'}${view}`
}

/** Where the reader of results was when another page replaced them. */
export interface ReadingPlace {
  /** The query string of the address. */
  address: string
  /** The number of shown articles; 0: the page was not scrolled. */
  shown: number
  /**
   * The article of the card with the focus, or else of the first card that begins in the window;
   * empty: there is none. If the article is gone, the card at the same position stands for it.
   */
  id: string
  at: number
  /** The distance of that card's top from the window's top, in pixels. */
  top: number
}

/** The fragment with which an article's page leads back to the place. It is where results begin. */
export const RESULTS = '#results'

export const notePlace = (place: ReadingPlace): void =>
  sessionStorage.setItem(READING_PLACE, JSON.stringify(place))

/** The last place in results of this tab; null: it has shown none. */
export const notedPlace = (): ReadingPlace | null =>
  JSON.parse(sessionStorage.getItem(READING_PLACE) ?? 'null')
