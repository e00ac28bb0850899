import { setTimeout as pause } from 'node:timers/promises'
import type { ArticleQuery, SearchIndex } from '../../../search/index.ts'
import { createRandom } from '../random.ts'

/**
 * Searches at fixed moments until the signal, the queries at random but always in the same order.
 * A search that takes long delays none, so whatever holds up searches is measured in all that fall
 * due meanwhile.
 *
 * @returns ms of each search, from the moment when it was due
 */
export async function readSteadily(
  index: SearchIndex,
  queries: ArticleQuery[],
  perSecond: number,
  signal: AbortSignal,
): Promise<number[]> {
  const times: number[] = []
  const asked: Promise<void>[] = []
  const random = createRandom(1)
  const start = performance.now()
  for (let number = 0; !signal.aborted; number++) {
    const due = start + (number * 1_000) / perSecond
    const wait = due - performance.now()
    if (wait > 0) await pause(wait, undefined, { signal }).catch(() => {})
    if (signal.aborted) break
    const search = async () => {
      await index.search(random.one(queries))
      times.push(performance.now() - due)
    }
    asked.push(search())
  }
  await Promise.all(asked)
  return times
}
