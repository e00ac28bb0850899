import type { Queryable } from '../../shared/postgres/pool.ts'
import { rankFresh } from '../memory/scores.ts'
import type { ArticleQuery, Position } from '../query/article-query.ts'
import type { Probe } from '../query/match.ts'
import { knownId } from '../store/stored-articles.ts'
import type { FreshPlace, Hit, SegmentPlace } from './hit.ts'
import { rankSegmented } from './scores.ts'

/**
 * The first `wanted` hits after the page before, in the order of the set: by the sort value, those without one last; among
 * equals the closer match first, then by id (decision 17). Ranks and ids are read only of hits that equal another, or the
 * last article of the page before.
 */
export async function firstInOrder(
  db: Queryable,
  hits: Hit[],
  wanted: number,
  { order }: Pick<ArticleQuery, 'order'>,
  position: Position | null,
  probes: Probe[],
  version: bigint,
): Promise<Hit[]> {
  const ascending = order === 'asc'
  const groups = groupsInOrder(hits, ascending)
  const last = position?.last
  // Of the page before's last group some may be shown already, so it does not count towards those wanted.
  const needed: Hit[][] = []
  for (let count = 0; needed.length < groups.length && count < wanted; ) {
    const group = groups[needed.length]!
    if (group[0]!.value !== last?.value) count += group.length
    needed.push(group)
  }
  const unclear = needed.filter(group => group.length > 1 || group[0]!.value === last?.value).flat()
  await Promise.all([readIds(db, unclear), readRanks(db, unclear, probes, version)])

  const compare = (a: Pick<Hit, 'rank' | 'id'>, b: Pick<Hit, 'rank' | 'id'>) => {
    if (a.rank !== b.rank) return b.rank! - a.rank!
    if (a.id === b.id) return 0
    return a.id! < b.id! === ascending ? -1 : 1
  }
  const ordered = needed.flatMap(group => {
    const ahead =
      last !== undefined && group[0]!.value === last.value ? group.filter(hit => compare(hit, last) > 0) : group
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

async function readIds(db: Queryable, hits: Hit[]): Promise<void> {
  for (const hit of hits) hit.id ??= knownId(db, hit.seq)
  const open = hits.filter(hit => hit.id === null)
  if (open.length === 0) return
  const { rows } = await db.query<{ seq: bigint; id: string }>({
    name: 'search-ids',
    text: IDS,
    values: [open.map(hit => hit.seq)],
  })
  const ids = new Map(rows.map(row => [row.seq, row.id]))
  for (const hit of open) hit.id = ids.get(hit.seq)!
}

// $1 seqs. Index: the primary key.
const IDS = 'select seq, id from articles where seq = any ($1::bigint[])'

async function readRanks(db: Queryable, hits: Hit[], probes: Probe[], version: bigint): Promise<void> {
  const fresh: { hit: Hit; place: FreshPlace }[] = []
  const segmented: { hit: Hit; place: SegmentPlace }[] = []
  for (const hit of hits) {
    if (hit.rank !== null) continue
    if (hit.place.kind === 'fresh') fresh.push({ hit, place: hit.place })
    else segmented.push({ hit, place: hit.place })
  }
  const ranks = [
    ...rankFresh(
      fresh.map(one => one.place),
      probes,
    ),
    ...(segmented.length === 0
      ? []
      : await rankSegmented(
          db,
          segmented.map(one => one.place),
          probes,
          version,
        )),
  ]
  for (const [index, { hit }] of [...fresh, ...segmented].entries()) hit.rank = ranks[index]!
}
