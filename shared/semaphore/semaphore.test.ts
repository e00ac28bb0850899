import t from 'tap'
import { createSemaphore } from './semaphore.ts'

t.test('no more run at a time than there are permits, and the others follow in their order', async t => {
  const semaphore = createSemaphore(2)
  let running = 0
  let most = 0
  const order: number[] = []
  const work = async (number: number) => {
    most = Math.max(most, ++running)
    order.push(number)
    await new Promise(resolve => setImmediate(resolve))
    running--
  }
  await Promise.all([0, 1, 2, 3, 4, 5, 6].map(number => semaphore.run(() => work(number))))
  t.equal(most, 2)
  t.same(order, [0, 1, 2, 3, 4, 5, 6])
})

t.test('work that fails gives its permit back', async t => {
  const semaphore = createSemaphore(1)
  await t.rejects(semaphore.run(() => Promise.reject(new Error('failed'))))
  t.equal(await semaphore.run(async () => 'done'), 'done')
})

t.test('a caller who stops waiting leaves at once, and the next one takes the permit', async t => {
  const semaphore = createSemaphore(1)
  const holder = Promise.withResolvers<void>()
  const held = semaphore.run(() => holder.promise)
  const patience = new AbortController()
  const impatient = semaphore.run(async () => 'too late', patience.signal)
  const next = semaphore.run(async () => 'next')
  patience.abort(new Error('gave up'))
  await t.rejects(impatient, { message: 'gave up' }, 'before the holder is done')
  await t.rejects(
    semaphore.run(async () => 'too late', patience.signal),
    { message: 'gave up' },
  )
  holder.resolve()
  await held
  t.equal(await next, 'next')
})
