import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { repeatEvery } from './repeat.ts'

t.test('runs follow one another, also after one that failed, until they are closed', async t => {
  const told: string[] = []
  const outage = { met: (error: unknown) => void told.push(String(error)), over: () => void told.push('over') }
  const third = Promise.withResolvers<void>()
  let runs = 0
  let inHand = 0
  const repeated = repeatEvery(
    1,
    async closing => {
      t.equal(++inHand, 1, 'no two at a time')
      runs += 1
      if (runs === 3) third.resolve()
      if (runs >= 3) await pause(60_000, undefined, { signal: closing }).catch(() => {})
      inHand -= 1
      if (runs === 1) throw new Error('out of reach')
    },
    { outage },
  )
  await third.promise
  t.same(told, ['Error: out of reach', 'over'])
  await repeated.close()
  t.equal(inHand, 0, 'the run under way has ended')
  await pause(20)
  t.equal(runs, 3)
})

t.test('the first run may wait, and never comes when it is closed before', async t => {
  let runs = 0
  const repeated = repeatEvery(1, async () => void runs++, { first: 60_000, outage: { met() {}, over() {} } })
  await repeated.close()
  t.equal(runs, 0)
})
