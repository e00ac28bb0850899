import t from 'tap'
import { forgetOldest } from './robots.ts'
import type { RobotsKnown } from './robots-rules.ts'

t.test('a thousand hosts with the longest robots.txt do not fill the memory; ordinary ones stay', async t => {
  const known = (rules: number): RobotsKnown => ({
    ...{ kind: 'known', until: 0 },
    rules: Array.from({ length: rules }, () => ({ allow: true, pattern: '/' })),
  })
  const recent = new Map<string, RobotsKnown>()
  const large = known(60_000)
  for (let host = 0; host < 1_000; host += 1) {
    recent.set(`large-${host}`, large)
    forgetOldest(recent)
  }
  t.same([...recent.keys()], ['large-997', 'large-998', 'large-999'])
  const small = known(50)
  for (let host = 0; host < 400; host += 1) {
    recent.set(`small-${host}`, small)
    forgetOldest(recent)
  }
  t.equal(recent.size, 403)
})
