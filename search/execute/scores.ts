import type { Queryable } from '../../shared/postgres/pool.ts'
import { shelfOf } from '../cache/segment-cache.ts'
import type { Probe } from '../query/match.ts'
import { has } from '../segment/doc-id-set.ts'
import type { Segment } from '../store/segment-store.ts'
import { LEXEMES } from '../terms.ts'

/** How closely each of some documents matches, in their order. */
export async function rankSegmented(
  db: Queryable,
  places: { segment: Segment; doc: number }[],
  probes: Probe[],
  version: bigint,
): Promise<number[]> {
  const shelf = shelfOf(db)
  const lexemes = [...new Set(probes.flatMap(probe => [probe.lexeme, LEXEMES.language(probe.language)]))]
  const segments = [...new Set(places.map(place => place.segment))]
  const lists = new Map(
    segments.map(segment => [segment, new Map(lexemes.map(lexeme => [lexeme, shelf.list(segment, lexeme)]))]),
  )
  const unread = segments.flatMap(segment =>
    lexemes.filter(lexeme => lists.get(segment)!.get(lexeme) === undefined).map(lexeme => ({ segment, lexeme })),
  )
  const read = unread.length === 0 ? [] : await shelf.readLists(db, unread, version)
  unread.forEach(({ segment, lexeme }, at) => void lists.get(segment)!.set(lexeme, read[at]!))

  const signs = new Map(
    segments.map(segment => {
      const own = lists.get(segment)!
      return [
        segment,
        probes.map(({ language, lexeme, weight }) => ({
          speaks: own.get(LEXEMES.language(language))!,
          holds: own.get(lexeme)!,
          weight,
        })),
      ]
    }),
  )
  return places.map(({ segment, doc }) =>
    signs
      .get(segment)!
      .reduce((rank, { speaks, holds, weight }) => (has(speaks, doc) && has(holds, doc) ? rank + weight : rank), 0),
  )
}
