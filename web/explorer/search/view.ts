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
