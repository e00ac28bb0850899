import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createFairQueue } from './fair-queue.ts'

/** A turn that lasts until it is ended by hand, so that no clock of a busy machine decides. */
function byHand(turns: ReturnType<typeof createFairQueue>, key: string, begun: string[], name = key) {
  const end = Promise.withResolvers<void>()
  const done = turns.take(key, () => {
    begun.push(name)
    return end.promise
  })
  return { end: end.resolve, done }
}

t.test('a key with many turns waits behind a key with one', async t => {
  const turns = createFairQueue(1)
  const begun: string[] = []
  const first = byHand(turns, 'greedy', begun)
  const others = Array.from({ length: 5 }, () => byHand(turns, 'greedy', begun))
  const honest = byHand(turns, 'honest', begun)
  await sleep(20)
  first.end()
  await first.done
  await sleep(1)
  t.same(begun, ['greedy', 'honest'])
  honest.end()
  for (const other of others) other.end()
  await Promise.all(others.map(({ done }) => done))
  t.equal(begun.length, 7)
})

t.test('turns go by time: many short ones pass between two long ones', async t => {
  const turns = createFairQueue(1)
  const order: string[] = []
  const take = (key: string, ms: number) => turns.take(key, () => sleep(ms).then(() => void order.push(key)))
  await Promise.all([
    ...Array.from({ length: 3 }, () => take('long', 600)),
    ...Array.from({ length: 8 }, () => take('short', 5)),
  ])
  t.equal(order.lastIndexOf('short') < order.indexOf('long', order.indexOf('long') + 1), true, order.join(' '))
})

t.test('of two threads, one is kept from keys whose turns are slow', { timeout: 60_000 }, async t => {
  const turns = createFairQueue(2)
  await Promise.all(['a', 'b'].map(key => turns.take(key, () => sleep(2_100))))
  const begun: string[] = []
  const slow = ['a', 'b', 'a', 'b'].map(key => byHand(turns, key, begun))
  await sleep(1)
  t.equal(begun.length, 1)
  await turns.take('honest', async () => begun.push('honest'))
  t.equal(begun[1], 'honest')
  for (const { end } of slow) end()
  await Promise.all(slow.map(({ done }) => done))
  t.equal(begun.length, 5)
})

t.test('a caller that stops waiting takes no turn, and leaves none behind', async t => {
  const turns = createFairQueue(1)
  const begun: string[] = []
  const first = byHand(turns, 'a', begun)
  const leaving = new AbortController()
  const second = turns.take('b', async () => begun.push('b'), leaving.signal)
  leaving.abort(new Error('closing'))
  await t.rejects(second, { message: 'closing' })
  first.end()
  await first.done
  await turns.take('c', async () => begun.push('c'))
  t.same(begun, ['a', 'c'])
})

t.test('short turns between do not hide that a key is slow', async t => {
  const turns = createFairQueue(2)
  await turns.take('sly', () => sleep(2_100))
  await turns.take('sly', async () => {})
  const begun: string[] = []
  const slow = ['sly', 'sly'].map(key => byHand(turns, key, begun))
  await sleep(1)
  t.equal(begun.length, 1)
  await turns.take('honest', async () => begun.push('honest'))
  for (const { end } of slow) end()
  await Promise.all(slow.map(({ done }) => done))
  t.same(begun, ['sly', 'honest', 'sly'])
})
