import t from 'tap'
import { createAsking, createShares } from './shares.ts'

t.test('a key that worked much rests while another key asks, and only then', t => {
  const clock = t.intercept(performance, 'now', { value: () => now })
  t.ok(clock)
  let now = 100_000
  const asking = createAsking()
  const shares = createShares(asking)
  const work = (key: string, ms: number) => {
    now += ms
    return shares.charge(key, ms)
  }
  asking.note('much')
  for (let at = 0; at < 100; at++) t.equal(work('much', 10), 0, 'alone it never rests')

  asking.note('other')
  asking.note('much')
  t.notOk(asking.isAlone('much'))
  t.equal(work('much', 10), 30, 'it has worked much')
  t.equal(shares.charge('much', 10), 60, 'its pieces of work rest one after another')
  t.equal(work('other', 10), 0, 'who worked little does not rest')

  let worked = 0
  const start = now
  while (now < start + 10_000) {
    asking.note('other')
    asking.note('much')
    const rest = work('much', 5)
    now += rest
    worked += 5
  }
  const part = worked / (now - start)
  t.ok(part > 0.2 && part < 0.3, `${part} of the time`)

  now += 6_000
  asking.note('much')
  t.ok(asking.isAlone('much'))
  t.equal(work('much', 10), 0, 'the other key asks no more')
  now += 60_000
  asking.note('other')
  asking.note('much')
  t.equal(work('much', 100), 0, 'what was long ago counts no more')
  t.equal(work('much', 400), 1_200)
  t.equal(shares.charge('much', 60_000), 1_200 + 2_000, 'a rest is bounded')
  t.end()
})
