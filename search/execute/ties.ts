import { scoreInMemory } from '../memory/scores.ts'
import type { ScoringTerm } from '../query/match.ts'
import type { IndexParts } from './index-parts.ts'
import type { TieBreakers } from './order.ts'
import { scoreStored } from './scores.ts'

/** Reads ids and scores of hits from an opened index. */
export function tieBreakers(
  { source, stored, cache }: Pick<IndexParts, 'source' | 'stored' | 'cache'>,
  scoring: ScoringTerm[],
  version: bigint,
): TieBreakers {
  return {
    async readIds(hits) {
      for (const hit of hits) hit.id ??= stored.knownId(hit.seq)
      const unknown = hits.filter(hit => hit.id === null)
      if (unknown.length === 0) return
      const ids = await source.readIds(unknown.map(hit => hit.seq))
      for (const hit of unknown) hit.id = ids.get(hit.seq)!
    },
    async readScores(hits) {
      const unknown = hits.filter(hit => hit.score === null)
      const inMemory = unknown.flatMap(hit => (hit.address.kind === 'memory' ? [hit.address] : []))
      const inStore = unknown.flatMap(hit => (hit.address.kind === 'stored' ? [hit.address] : []))
      const scores = {
        memory: scoreInMemory(inMemory, scoring),
        stored: inStore.length === 0 ? [] : await scoreStored(cache, inStore, scoring, version),
      }
      const next = { memory: 0, stored: 0 }
      for (const hit of unknown) {
        const { kind } = hit.address
        if (kind !== 'archive') hit.score = scores[kind][next[kind]++]!
      }
    },
  }
}
