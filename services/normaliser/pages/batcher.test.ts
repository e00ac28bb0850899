import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createBatcher } from './batcher.ts'

const limits = { items: 3, weight: 10, wait: 20 }
const weigh = (item: number) => item

t.test('items that come together go together, at most so many', async t => {
  const batches: number[][] = []
  const batcher = createBatcher(
    limits,
    weigh,
    async (items: number[]) => {
      batches.push(items)
      await sleep(5)
      return items.map(item => item * 2)
    },
    () => false,
  )
  t.same(await Promise.all([1, 2, 1, 2, 1].map(item => batcher.add(item))), [2, 4, 2, 4, 2])
  t.same(batches, [
    [1, 2, 1],
    [2, 1],
  ])
})

t.test('a lone item does not wait for ever, and a heavy one goes alone', async t => {
  const batches: number[][] = []
  const batcher = createBatcher(
    limits,
    weigh,
    async (items: number[]) => {
      batches.push(items)
      return items
    },
    () => false,
  )
  t.equal(await batcher.add(100), 100)
  await Promise.all([batcher.add(6), batcher.add(6), batcher.add(4)])
  t.same(batches, [[100], [6], [6, 4]])
})

t.test('one bad item harms no other; a failure of the whole batch fails all of it', async t => {
  const batcher = createBatcher(
    limits,
    weigh,
    async (items: number[]) => {
      if (items.includes(3)) throw new Error('bad item')
      if (items.includes(9)) throw new Error('no database')
      return items
    },
    error => error instanceof Error && error.message === 'no database',
  )
  const bad = await Promise.allSettled([1, 3, 2].map(item => batcher.add(item)))
  t.same(
    bad.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  const lost = await Promise.allSettled([9, 1].map(item => batcher.add(item)))
  t.same(
    lost.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
})
