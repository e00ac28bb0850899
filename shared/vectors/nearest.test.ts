import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createSecondTry } from '#shared/vectors/nearest'

const MINUTE = 60_000
const hangs = (signal: AbortSignal) => pause(MINUTE, 'late', { signal })

t.test('an answer in time is taken, and asked for once', async t => {
  let asked = 0
  const ask = createSecondTry({ after: MINUTE, limit: MINUTE, most: 1, again: () => false })
  t.equal(await ask(async () => ++asked), 1)
  await t.rejects(
    ask(() => Promise.reject(new Error('refused'))),
    { message: 'refused' },
    'so is an error',
  )
  t.equal(asked, 1)
})

t.test('a question without an answer is asked again, and the first one is given up', async t => {
  const signals: AbortSignal[] = []
  const ask = createSecondTry({ after: 10, limit: MINUTE, most: 1, again: () => false })
  const answer = await ask(signal => {
    signals.push(signal)
    return signals.length === 1 ? hangs(signal) : Promise.resolve('second')
  })
  t.equal(answer, 'second')
  t.ok(signals[0]?.aborted)
})

t.test('a question that fails is asked again, unless the answer would be the same', async t => {
  let asked = 0
  const ask = createSecondTry({
    after: MINUTE,
    limit: MINUTE,
    most: 1,
    again: error => error !== 'no',
  })
  const failing = (error: unknown) => () =>
    ++asked === 1 ? Promise.reject(error) : Promise.resolve(asked)
  t.equal(await ask(failing('lost')), 2)
  asked = 0
  t.equal(await ask(failing('no')).catch(error => error), 'no')
  t.equal(asked, 1)
})

t.test('the first answer counts when the second question fails', async t => {
  const first = Promise.withResolvers<string>()
  let asked = 0
  const ask = createSecondTry({ after: 10, limit: MINUTE, most: 1, again: () => false })
  const answer = ask(() => {
    asked += 1
    if (asked === 1) return first.promise
    first.resolve('first')
    return Promise.reject(new Error('refused'))
  })
  t.equal(await answer, 'first')
})

t.test('both end at the limit, and there are no more second questions than allowed', async t => {
  let asked = 0
  const ask = createSecondTry({ after: 10, limit: 300, most: 1, again: () => false })
  const work = (signal: AbortSignal) => {
    asked += 1
    return hangs(signal)
  }
  const ends = await Promise.allSettled([ask(work), ask(work), ask(work)])
  const statuses = ends.map(({ status }) => status)
  t.same(statuses, ['rejected', 'rejected', 'rejected'])
  t.equal(asked, 4)
})
