import type { Origin, Source } from '#shared/outlets/origins'

/**
 * One value for a field of an article, from one source. Lists of candidates are in order of rank.
 * The article gets the first candidate without an objection (`against`).
 */
export interface Candidate<T> {
  source: Source
  value: T
  /** The objection to the value, as a sentence for people; null: none. */
  against: string | null
}

/** The value of a field, with its origin. */
export interface Choice<T> {
  value: T
  origin: Origin
}

export function bestOf<T>(candidates: Iterable<Candidate<T>>): Candidate<T> | null {
  for (const candidate of candidates) if (candidate.against === null) return candidate
  return null
}

/**
 * Sources that state a value: data that an outlet writes for machines, and texts that it publishes
 * as the article's.
 */
const STATED = new Set<Source>(['json-ld', 'meta', 'microdata', 'feed', 'page'])

/** @param confirmed another source gives the same value */
export const originOf = (source: Source, confirmed: boolean): Origin => ({
  source,
  sure: confirmed ? 'confirmed' : STATED.has(source) ? 'stated' : 'guessed',
})

export const NO_ORIGIN: Origin = { source: 'none', sure: 'guessed' }

/**
 * The best candidate as a choice. It is confirmed when one of `others` from another source has the
 * same value.
 */
export function choiceOf<T>(
  best: Candidate<T>,
  others: readonly Candidate<T>[],
  isSame: (a: T, b: T) => boolean,
): Choice<T> {
  const confirmed = others.some(
    other =>
      other.source !== best.source && other.against === null && isSame(other.value, best.value),
  )
  return { value: best.value, origin: originOf(best.source, confirmed) }
}
