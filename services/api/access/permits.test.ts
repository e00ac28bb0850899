import fc from 'fast-check'
import t from 'tap'
import {
  createCountPermits,
  createPermits,
  createQuestionPermits,
  createSearchPermits,
  createStrangerPermits,
  NoPermit,
  type Permits,
} from './permits.ts'

const tick = () => new Promise(resolve => setImmediate(resolve))

t.test('a wait has an end, a line too, and who leaves it makes room', async t => {
  const permits = createPermits({ atOnce: 1, waiting: 1, patience: 20 })
  const held = Promise.withResolvers<void>()
  const first = permits.take('a', () => held.promise)
  const late = permits.take('a', async () => 'never')
  await t.rejects(
    permits.take('a', async () => 'never'),
    NoPermit,
    'the line is full',
  )
  await t.rejects(late, NoPermit, 'the wait is over')
  const leaving = new AbortController()
  const left = permits.take('a', async () => 'never', leaving.signal)
  leaving.abort()
  await t.rejects(left, NoPermit)
  await t.rejects(
    permits.take('a', async () => 'never', AbortSignal.abort()),
    NoPermit,
  )
  held.resolve()
  await first
  t.equal(await permits.take('a', async () => 'again'), 'again')
  await t.rejects(
    permits.take('a', async () => 'never', AbortSignal.abort()),
    NoPermit,
    'nothing is begun for who has left, though a permit is free',
  )
})

t.test('whatever fails, leaves or waits too long, no permit is lost and none is given twice', async () => {
  const step = fc.record({
    name: fc.constantFrom('a', 'b'),
    takes: fc.nat(3),
    fails: fc.boolean(),
    leaves: fc.option(fc.nat(3)),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
      const permits = createPermits({ atOnce: 2, waiting: 5, patience: 2 })
      const active = { a: 0, b: 0 }
      await Promise.allSettled(
        steps.map(async ({ name, takes, fails, leaves }) => {
          const leaving = new AbortController()
          const work = permits.take(
            name,
            async () => {
              if (++active[name] > 2) throw new Error('Too many at once.')
              for (let i = 0; i < takes; i++) await tick()
              active[name]--
              if (fails) throw new Error('It failed.')
            },
            leaving.signal,
          )
          if (leaves !== null)
            void Promise.resolve(leaves)
              .then(tick)
              .then(() => leaving.abort())
          await work.catch((error: Error) => {
            if (error.message === 'Too many at once.') throw error
          })
        }),
      ).then(results => {
        const broken = results.find(result => result.status === 'rejected')
        if (broken) throw broken.reason
      })
      const patient = [1, 2].map(() => permits.take('a', tick))
      await Promise.all(patient)
    }),
    { numRuns: 100 },
  )
})

t.test('who asks at once is begun, waits or is refused, by the size of the pool', async t => {
  const begun = async (permits: Permits, callers: string[]) => {
    const held = Promise.withResolvers<void>()
    let count = 0
    const works = callers.map(caller => permits.take(caller, () => ++count && held.promise))
    await tick()
    const atOnce = count
    held.resolve()
    const ended = await Promise.allSettled(works)
    return [atOnce, ended.filter(({ status }) => status === 'rejected').length]
  }
  const SEARCH_TIMEOUT = 10_000
  const ofOne = Array.from({ length: 1_006 }, () => 'a')
  const ofMany = ofOne.slice(0, 9).map((_, at) => `${at}`)
  for (const [name, permits, callers, expected] of [
    ...[
      [12, ofOne, [2, 4]] as const,
      [8, ofOne, [1, 5]] as const,
      [1, ofOne, [1, 5]] as const,
      [12, ofMany, [3, 0]] as const,
      [1, ofMany, [1, 0]] as const,
    ].map(([pool, ...row]) => ['strangers', createStrangerPermits({ DATABASE_POOL: pool }), ...row] as const),
    ['searches', createSearchPermits({ DATABASE_POOL: 12, SEARCH_TIMEOUT }), ofOne, [3, 3]],
    ['searches', createSearchPermits({ DATABASE_POOL: 1, SEARCH_TIMEOUT }), ofOne, [1, 5]],
    ['questions', createQuestionPermits({ SEARCH_TIMEOUT }), ofOne, [4, 2]],
    ['counts', createCountPermits({ SEARCH_TIMEOUT }), ofOne, [2, 0]],
  ] as const)
    t.strictSame(await begun(permits, [...callers]), expected, name)
})
