import type { Collector } from './collectors/collector.ts'
import type { Visit } from './visit.ts'

/**
 * A part of the index that is stored, ready for one search: the segments, or the archive. The parts
 * of a search have no article in common.
 */
export interface StoredPart {
  /**
   * The sort value with which its matches begin, in the order of the search; ±Infinity: it only has
   * matches without a value. null: it can have no match.
   */
  startsAt: number | null
  /** Hands its matches to collectors. Stops when every collector is complete. */
  match(collectors: readonly Collector[]): Promise<void>
}

/**
 * Matches parts one after the other, in the order of the search. Stops when every collector is
 * complete.
 */
export async function matchParts(
  parts: StoredPart[],
  { order }: Pick<Visit, 'order'>,
  collectors: readonly Collector[],
): Promise<void> {
  const sign = order === 'asc' ? 1 : -1
  const ahead = parts
    .flatMap(({ startsAt, match }) => (startsAt === null ? [] : [{ startsAt, match }]))
    .sort((a, b) => (a.startsAt === b.startsAt ? 0 : sign * (a.startsAt - b.startsAt)))
  for (const [at, { startsAt, match }] of ahead.entries()) {
    if (at > 0 && collectors.every(collector => collector.isComplete(startsAt))) return
    await match(collectors)
  }
}
