import type { ArticleQuery, Position } from '../query/article-query.ts'
import type { Hit } from './hit.ts'

/** Reads the scores and ids that decide among hits with equal sort values. */
export interface TieBreakers {
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
