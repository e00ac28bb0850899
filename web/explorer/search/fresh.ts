import { questionOf, type Search } from './search.ts'

/**
 * The storage key of this device's visits: for what a kept search asks, the time since which
 * articles were new when it was opened. So its list marks them, also when the reader comes back or
 * chooses another order.
 */
const FRESH = 'perscope.fresh'
/** The most searches that are remembered: as many as a key keeps. */
const MOST = 200

const read = (): Record<string, string> => JSON.parse(localStorage.getItem(FRESH) ?? '{}')

/** @param since ISO 8601 */
export function noteFresh(search: Search, since: string): void {
  const address = questionOf(search)
  const { [address]: _before, ...others } = read()
  const kept = [...Object.entries(others), [address, since]].slice(-MOST)
  localStorage.setItem(FRESH, JSON.stringify(Object.fromEntries(kept)))
}

/** @returns null: the search is not kept, or nothing was new to it */
export const freshSince = (search: Search): string | null => read()[questionOf(search)] ?? null
