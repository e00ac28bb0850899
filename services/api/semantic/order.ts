import type { Found } from './filter.ts'
import type { SemanticPosition, SemanticQuery } from './query.ts'

/** A candidate with what its place is told by. */
export interface Placed {
  seq: bigint
  id: string
  /** × 10,000 */
  relevance: number
  /** What is sorted by: relevance × 10,000, or ms since 1970; null sorts last in both orders (decision 14). */
  value: number | null
}

type Order = Pick<SemanticQuery, 'sort' | 'order'>

/** All articles of the set in the order asked for. */
export function inOrder(found: Found[], relevances: Map<bigint, number>, order: Order): Placed[] {
  return found
    .map(({ seq, id, time }) => {
      const relevance = relevances.get(seq) ?? 0
      return { seq, id, relevance, value: order.sort === 'relevance' ? relevance : time }
    })
    .sort((a, b) => compare(a, b, order))
}

/** What follows a position; everything without one. */
export function after(placed: Placed[], position: SemanticPosition | null, order: Order): Placed[] {
  return position === null ? placed : placed.filter(one => compare(one, position.last, order) > 0)
}

type Key = Pick<Placed, 'value' | 'id'>

/**
 * Equal relevances order by id (decision 27), in both orders; equal times as in the other modes, the ids in the order's own
 * direction. Ids compare as Postgres does under "C", byte by byte.
 */
function compare(a: Key, b: Key, { sort, order }: Order): number {
  if (a.value !== b.value) {
    if (a.value === null) return 1
    if (b.value === null) return -1
    return order === 'asc' ? a.value - b.value : b.value - a.value
  }
  const byId = Buffer.compare(Buffer.from(a.id), Buffer.from(b.id))
  return sort === 'relevance' || order === 'asc' ? byId : -byId
}
