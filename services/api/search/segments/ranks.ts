import type { Language } from '../../../../shared/articles/article.ts'
import type { Queryable } from '../../../../shared/postgres/pool.ts'
import { type DocSet, has } from '../../../../shared/segments/doc-set.ts'
import { LEXEMES } from '../../../../shared/text/lexemes.ts'
import type { Probe } from '../matching.ts'
import type { Segment } from './catalogue.ts'
import { shelfOf } from './shelf.ts'

/** How closely each of some documents matches, in their order. */
export async function rankSegmented(
  db: Queryable,
  places: { segment: Segment; doc: number }[],
  probes: Probe[],
  version: bigint,
): Promise<number[]> {
  const shelf = shelfOf(db)
  const segments = [...new Set(places.map(place => place.segment))]
  const lexemes = [...new Set(probes.flatMap(probe => [probe.lexeme, LEXEMES.language(probe.language)]))]
  const wanted = segments.flatMap(segment => lexemes.map(lexeme => ({ segment, lexeme })))
  const unread = wanted.filter(({ segment, lexeme }) => shelf.list(segment, lexeme) === undefined)
  const read = unread.length === 0 ? [] : await shelf.readLists(db, unread, version)
  const lists = new Map<string, DocSet>()
  unread.forEach(({ segment, lexeme }, index) => void lists.set(`${segment.no} ${lexeme}`, read[index]!))
  const listOf = (segment: Segment, lexeme: string) =>
    lists.get(`${segment.no} ${lexeme}`) ?? shelf.list(segment, lexeme)!
  const speaks = (segment: Segment, doc: number, language: Language) =>
    has(listOf(segment, LEXEMES.language(language)), doc)
  return places.map(({ segment, doc }) => {
    let rank = 0
    for (const { language, lexeme, weight } of probes) {
      if (speaks(segment, doc, language) && has(listOf(segment, lexeme), doc)) rank += weight
    }
    return rank
  })
}
