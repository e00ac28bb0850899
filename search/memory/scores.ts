import type { Probe } from '../query/match.ts'
import { type DocSet, has } from '../segment/doc-id-set.ts'
import type { Chunk } from './memory-segment.ts'

/** How closely each of some fresh articles matches, in their order. */
export function rankFresh(places: { chunk: Chunk; doc: number }[], probes: Probe[]): number[] {
  const known = new Map<Chunk, DocSet[]>()
  const listsOf = (chunk: Chunk) => {
    const lists = known.get(chunk) ?? probes.map(probe => chunk.list(probe.lexeme))
    known.set(chunk, lists)
    return lists
  }
  return places.map(({ chunk, doc }) => {
    const { language } = chunk.documents[doc]!
    const lists = listsOf(chunk)
    return probes.reduce(
      (rank, probe, at) => (probe.language === language && has(lists[at]!, doc) ? rank + probe.weight : rank),
      0,
    )
  })
}
