/**
 * The storage key of this device's visits: for the address of a kept search, the time since which
 * articles were new when it was opened. So its list marks them, also when the reader comes back.
 */
const FRESH = 'perscope.fresh'
/** The most searches that are remembered: as many as a key keeps. */
const MOST = 200

const read = (): Record<string, string> => JSON.parse(localStorage.getItem(FRESH) ?? '{}')

/** @param since ISO 8601 */
export function noteFresh(address: string, since: string): void {
  const { [address]: _before, ...others } = read()
  const kept = [...Object.entries(others), [address, since]].slice(-MOST)
  localStorage.setItem(FRESH, JSON.stringify(Object.fromEntries(kept)))
}

/** @returns null: the search is not kept, or nothing was new to it */
export const freshSince = (address: string): string | null => read()[address] ?? null
