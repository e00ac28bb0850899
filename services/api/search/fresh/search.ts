import type { Queryable } from '../../../../shared/postgres/pool.ts'
import type { Bounds } from '../bounds.ts'
import type { Hit } from '../hits.ts'
import type { ArticleQuery, Position } from '../query.ts'
import { countUp, lookUp } from './lookup.ts'
import { readTimelines } from './timeline.ts'
import { type Shared, startWalk } from './walk.ts'

/**
 * The first matches in order among the articles that no segment has yet, and how many there are. Goes through time in
 * stretches from the end where the page begins, each as wide as what was found so far lets expect, and stops when there
 * are enough and the count is at its cap.
 *
 * @param wanted matches, at least one
 * @param cap counted to here; 0: no count is needed
 * @param firstStretch articles in the first stretch
 */
export async function searchFresh(
  db: Queryable,
  query: ArticleQuery,
  position: Position | null,
  bounds: Bounds,
  shared: Shared,
  sizes: { wanted: number; cap: number; firstStretch: number },
): Promise<{ hits: Hit[]; count: number }> {
  const { wanted, cap, firstStretch } = sizes
  const walk = startWalk(query, position, bounds, await readTimelines(db), firstStretch, shared)
  const hits: Hit[] = []
  let count = 0
  for (let stretch = walk.next(); stretch !== null; stretch = walk.next()) {
    let found: number
    if (hits.length < wanted) {
      const page = await lookUp(db, stretch, wanted - hits.length, cap > 0)
      hits.push(...page.hits)
      found = cap > 0 ? page.count : page.hits.length
    } else {
      found = await countUp(db, stretch, cap - count)
    }
    count += found
    if (hits.length >= wanted && count >= cap) break
    walk.learn(found, Math.max(wanted - hits.length, cap - count))
  }
  return { hits, count }
}
