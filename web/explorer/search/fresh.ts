import type { WhatIsNew } from '#clients/typescript/src/index'
import { ask, isListOf, type Outcome } from '#web/parts/request'
import { questionOf, type Search } from './search.ts'

/**
 * The storage key of this device's marks: for each kept search, the place up to which its articles
 * were seen. Colleagues with the same key have marks of their own.
 */
const MARKS = 'perscope.marks'

export const readMarks = (): Record<string, string> =>
  JSON.parse(localStorage.getItem(MARKS) ?? '{}')

export const noteMarks = (marks: Record<string, string>): void =>
  localStorage.setItem(MARKS, JSON.stringify({ ...readMarks(), ...marks }))

export const dropMarks = (): void => localStorage.removeItem(MARKS)

export const askNew = (
  marks: Record<string, string | null>,
  signal?: AbortSignal,
): Promise<Outcome<{ data: WhatIsNew[] }>> =>
  ask('/explore/searches/new', isListOf<WhatIsNew>, { signal, method: 'POST', body: { marks } })

/** Marks the present place of a search that was just kept, so that later articles count as new. */
export async function beginMark(id: string): Promise<void> {
  const answer = await askNew({ [id]: null })
  if (answer.kind === 'ok')
    noteMarks(Object.fromEntries(answer.value.data.map(one => [one.id, one.mark])))
}

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
