import type { SegmentCache } from '../cache/segment-cache.ts'
import { scoreInMemory } from '../memory/memory-segment.ts'
import type { ArticleQuery, Position } from '../query/article-query.ts'
import type { ScoringTerm } from '../query/match.ts'
import { has } from '../segment/doc-id-set.ts'
import type { SegmentMeta } from '../store/segment-store.ts'
import { TERMS } from '../terms.ts'
import type { IndexParts } from './index-parts.ts'
import { readTerms } from './match-stored.ts'
import type { Hit } from './plan.ts'

/** Reads the scores and ids that decide among hits with equal sort values. */
interface TieBreakers {
  readIds(hits: Hit[]): Promise<void>
  readScores(hits: Hit[]): Promise<void>
}

/**
 * The first `wanted` hits after the page before, in the order of the set: by the sort value, those
 * without one last; among equals the higher score first, then by id (decision 17). Scores and ids
 * are read only of hits that equal another hit, or the last article of the page before.
 */
export async function firstInOrder(
  hits: Hit[],
  wanted: number,
  { order }: Pick<ArticleQuery, 'order'>,
  position: Position | null,
  ties: TieBreakers,
): Promise<Hit[]> {
  const ascending = order === 'asc'
  const last = position?.last
  const groups = firstGroups(groupsInOrder(hits, ascending), wanted, last?.value)
  const tied = groups.filter(group => group.length > 1 || group[0]!.value === last?.value).flat()
  await Promise.all([ties.readIds(tied), ties.readScores(tied)])

  const compare = (a: Pick<Hit, 'score' | 'id'>, b: Pick<Hit, 'score' | 'id'>) => {
    if (a.score !== b.score) return b.score! - a.score!
    if (a.id === b.id) return 0
    return a.id! < b.id! === ascending ? -1 : 1
  }
  const ordered = groups.flatMap(group => {
    const isTied = last !== undefined && group[0]!.value === last.value
    const ahead = isTied ? group.filter(hit => compare(hit, last) > 0) : group
    return ahead.length > 1 ? ahead.toSorted(compare) : ahead
  })
  return ordered.slice(0, wanted)
}

/** Hits with equal sort values together, the groups in order. */
function groupsInOrder(hits: Hit[], ascending: boolean): Hit[][] {
  const sign = ascending ? 1 : -1
  const sorted = hits.toSorted((a, b) => {
    if (a.value === b.value) return 0
    if (a.value === null) return 1
    if (b.value === null) return -1
    return sign * (a.value - b.value)
  })
  const groups: Hit[][] = []
  for (const hit of sorted) {
    const group = groups.at(-1)
    if (group !== undefined && group[0]!.value === hit.value) group.push(hit)
    else groups.push([hit])
  }
  return groups
}

/**
 * The first groups that hold `wanted` hits. The group of the page before's last article does not
 * count, because some of its hits were shown.
 */
function firstGroups(groups: Hit[][], wanted: number, after: number | null | undefined): Hit[][] {
  let count = 0
  const end = groups.findIndex(group => {
    if (count >= wanted) return true
    if (group[0]!.value !== after) count += group.length
    return false
  })
  return end < 0 ? groups : groups.slice(0, end)
}

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
      const inMemory = unknown.flatMap(hit => (hit.address?.kind === 'memory' ? [hit.address] : []))
      const inStore = unknown.flatMap(hit => (hit.address?.kind === 'stored' ? [hit.address] : []))
      const scores = {
        memory: scoreInMemory(inMemory, scoring),
        stored: inStore.length === 0 ? [] : await scoreStored(cache, inStore, scoring, version),
      }
      const next = { memory: 0, stored: 0 }
      for (const hit of unknown) {
        if (hit.address === null) continue
        const { kind } = hit.address
        hit.score = scores[kind][next[kind]++]!
      }
    },
  }
}

/** The scores of some documents of stored segments, in their order. */
async function scoreStored(
  cache: SegmentCache,
  hits: { segment: SegmentMeta; doc: number }[],
  scoring: ScoringTerm[],
  version: bigint,
): Promise<number[]> {
  const terms = [...new Set(scoring.flatMap(one => [one.term, TERMS.language(one.language)]))]
  const segments = [...new Set(hits.map(hit => hit.segment))]
  const lists = await readTerms(cache, segments, terms, version)
  const scorers = new Map(
    segments.map((segment, at) => {
      const own = lists[at]!
      return [
        segment,
        scoring.map(({ language, term, weight }) => ({
          inLanguage: own.get(TERMS.language(language))!,
          withTerm: own.get(term)!,
          weight,
        })),
      ]
    }),
  )
  return hits.map(({ segment, doc }) => {
    let score = 0
    for (const { inLanguage, withTerm, weight } of scorers.get(segment)!) {
      if (has(inLanguage, doc) && has(withTerm, doc)) score += weight
    }
    return score
  })
}
