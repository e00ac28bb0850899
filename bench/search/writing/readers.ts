import type { ArticleQuery, SearchIndex } from '../../../search/index.ts'
import { createRandom } from '../random.ts'

const CLIENTS = 2

/** ms of each search of the clients, the queries at random but always in the same order. */
export async function readFor(
  index: SearchIndex,
  queries: ArticleQuery[],
  seconds: number,
  signal: AbortSignal,
): Promise<number[]> {
  const times: number[] = []
  const end = performance.now() + seconds * 1_000
  const client = async (number: number) => {
    const random = createRandom(number)
    while (!signal.aborted && performance.now() < end) {
      const start = performance.now()
      await index.search(random.one(queries))
      times.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number + 1)))
  return times
}
