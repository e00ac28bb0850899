import { createRandom } from './random.ts'

/** In random order, the same in every run. */
export function shuffled<T>(list: readonly T[]): T[] {
  const random = createRandom(1)
  return list
    .map(one => ({ one, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one)
}
