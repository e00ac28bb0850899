import { STOP_WORDS } from './stopwords.ts'

/**
 * Words so frequent that a phrase of them has nearly every article as its candidate, each of whose positions would have
 * to be read. Neighbours that are both in this list become a lexeme of their own, and the phrase a look-up.
 * Changing the list needs a `reindex`.
 */
const FREQUENT: ReadonlySet<string> = new Set(Object.values(STOP_WORDS).flatMap(list => [...list]))

/** Whether two neighbouring words have a lexeme of their own. */
export function isPair(first: string, second: string): boolean {
  return FREQUENT.has(first) && FREQUENT.has(second)
}
