import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import {
  createCountPermits,
  createNamePermits,
  createPermits,
  createQuestionPermits,
  createSearchPermits,
  createStrangerPermits,
  NoPermit,
  type Permits,
} from './permits.ts'

// The time limit of a wait does not keep the process alive. A server does, and this timer stands
// for one.
const server = setInterval(() => {}, 1_000)
t.teardown(() => clearInterval(server))

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
  await t.rejects(left, /caller has left/)
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

t.test(
  'whatever fails, leaves or waits too long, no permit is lost and none is given twice',
  async () => {
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
            if (takes === 3) await tick()
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
  },
)

t.test('who asks at once is begun, waits or is refused, by the size of the pool', async t => {
  const begun = async (permits: Permits, callers: string[]) => {
    const held = Promise.withResolvers<void>()
    let count = 0
    const works = callers.map(caller =>
      permits.take(caller, () => held.promise.finally(void count++)),
    )
    const settled = Promise.allSettled(works)
    await tick()
    const atOnce = count
    held.resolve()
    return [atOnce, (await settled).filter(({ status }) => status === 'rejected').length]
  }
  const SEARCH_TIMEOUT = 10_000
  const limits = t.capture(globalThis, 'setTimeout', setTimeout)
  const ofOne = ['a', 'a', 'a', 'a', 'a', 'a']
  const ofMany = ['a', 'b', 'c', 'd', 'e', 'f']
  const strangers = (pool: number) => createStrangerPermits({ DATABASE_POOL: pool })
  const searches = (pool: number) => createSearchPermits({ DATABASE_POOL: pool, SEARCH_TIMEOUT })
  const questions = createQuestionPermits({ SEARCH_TIMEOUT }, { charge: () => 0 })
  for (const [permits, callers, atOnce] of [
    [strangers(24), ofOne, 2] as const,
    [strangers(8), ofOne, 1] as const,
    [strangers(1), ofOne, 1] as const,
    [strangers(12), ofMany, 3] as const,
    [strangers(1), ofMany, 1] as const,
    [searches(12), ofOne, 3] as const,
    [searches(1), ofOne, 1] as const,
    [questions, ofOne, 4] as const,
    [createCountPermits({ SEARCH_TIMEOUT }), ofOne, 2] as const,
    [createNamePermits(), ofOne, 1] as const,
    [createNamePermits(), ofMany, 4] as const,
  ])
    t.strictSame(await begun(permits, callers), [atOnce, 0])
  t.same(
    [...new Set(limits().map(({ args: [, ms] }) => ms))],
    [2_000, 3 * SEARCH_TIMEOUT, SEARCH_TIMEOUT],
  )
  const crowd = Array.from({ length: 1_006 }, () => 'a')
  t.strictSame(await begun(questions, crowd), [4, 2])
})

t.test('keys that wait for the permits of all take turns', async t => {
  const permits = createPermits({ atOnce: 2, together: 2, waiting: 100, patience: 60_000 })
  const order: string[] = []
  const work = (name: string) =>
    permits.take(name, async () => {
      order.push(name)
      await tick()
    })
  await Promise.all([
    ...Array.from({ length: 8 }, () => work('many')),
    ...Array.from({ length: 3 }, () => work('few')),
  ])
  t.same(order.filter(name => name === 'few').length, 3)
  t.ok(order.lastIndexOf('few') <= 7, order.join(' '))
  t.equal(await permits.take('many', async () => 'again'), 'again', 'no permit is lost')
})

t.test(
  'a permit rests after its work as long as the shares say; the shared place is free',
  async t => {
    const charged: number[] = []
    const shares = {
      charge(name: string, ms: number) {
        if (name === 'other') return 0
        charged.push(ms)
        return 600
      },
    }
    const limits = { atOnce: 1, together: 1, waiting: 100, patience: 60_000, charged: 50, shares }
    const permits = createPermits(limits)
    const start = performance.now()
    const since = async () => performance.now() - start
    const working = permits.take('much', () => pause(100))
    const next = permits.take('much', since)
    const other = permits.take('other', since)
    await working
    t.ok((await other) < 600, 'the shared place is free at once')
    t.ok((await next) > 690, 'its own place rests')
    t.same(charged[0], 50, 'so much is charged at most')
    const two = createPermits({ ...limits, atOnce: 2, together: 2, charged: Infinity })
    await Promise.all([two.take('a', () => pause(100)), two.take('a', () => pause(100))])
    t.ok(charged.at(-2)! < 90, 'work side by side shares its time')
  },
)
