import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { noteWait, waitFor, withLogContext } from '#shared/log/context'
import { createSemaphore } from './semaphore.ts'
import { unlessAborted, withTimeLimit } from './time-limit.ts'

const never = new Promise<never>(() => {})

t.test('work in time gives its result or its error, and the limit is never called', async t => {
  const late = () => t.fail('it was in time')
  const timers = () =>
    process.getActiveResourcesInfo().filter(resource => resource === 'Timeout').length
  const before = timers()
  t.equal(await withTimeLimit(sleep(5, 'done'), 60_000, late), 'done')
  await t.rejects(withTimeLimit(Promise.reject(new Error('failed')), 60_000, late), {
    message: 'failed',
  })
  t.equal(timers(), before, 'none is left')
})

t.test('at the limit the caller goes on, with another result or with an error', async t => {
  t.equal(await withTimeLimit(never, 5, () => 'late'), 'late')
  const tooLate = () => {
    throw new Error('it took too long')
  }
  await t.rejects(withTimeLimit(never, 5, tooLate), { message: 'it took too long' })
})

t.test('work that fails after its limit does not end the process', async t => {
  const failing = Promise.withResolvers<void>()
  t.equal(await withTimeLimit(failing.promise, 5, () => 'late'), 'late')
  failing.reject(new Error('later'))
  await sleep(5)
})

t.test('an abort ends the wait at once with its reason, before it or during it', async t => {
  const leaving = new AbortController()
  const waiting = unlessAborted(never, leaving.signal)
  leaving.abort(new Error('closing'))
  await t.rejects(waiting, { message: 'closing' })
  await t.rejects(unlessAborted(Promise.resolve('done'), leaving.signal), { message: 'closing' })
  await t.rejects(unlessAborted(Promise.reject(new Error('later')), leaving.signal), {
    message: 'closing',
  })
  const { signal } = new AbortController()
  t.equal(await unlessAborted(Promise.resolve('done'), signal), 'done')
  t.same(getEventListeners(signal, 'abort'), [])
})

t.test(
  'waits are noted by name; a semaphore lets callers in one by one, without those that gave up',
  async t => {
    const waits = new Map<string, number>()
    await withLogContext({}, () => waitFor('a', sleep(5)), waits)
    for (const ms of [1, 2]) withLogContext({}, () => noteWait('b', ms), waits)
    t.same([waits.has('a'), waits.get('b')], [true, 3])
    const semaphore = createSemaphore(1)
    const entered = ['']
    const failed = ['']
    const leaving = new AbortController()
    const late = new AbortController()
    let inside = 0
    const ask = (name: string, signal?: AbortSignal) => {
      const work = async () => {
        entered.push(inside++ === 0 ? name : `${name} beside another`)
        await sleep(1)
        if (name === 'b') late.abort()
        inside--
      }
      return semaphore.run(work, signal).catch(error => failed.push(`${name}: ${error.message}`))
    }
    const first = [ask('a'), ask('b', late.signal), ask('c', leaving.signal), ask('d')]
    leaving.abort(new Error('leaves'))
    await Promise.all(first)
    await Promise.all([ask('e', leaving.signal), ask('f')])
    t.same([entered.join(''), failed.join(' ')], ['abdf', ' c: leaves e: leaves'])
  },
)
