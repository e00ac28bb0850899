import t from 'tap'
import { createBrake } from './pace.ts'

t.test('works for its part of the time', async t => {
  const brake = createBrake(0.25)
  const begun = performance.now()
  const before = process.cpuUsage()
  while (performance.now() - begun < 1_000) brake()
  const { user, system } = process.cpuUsage(before)
  const part = (user + system) / 1_000 / (performance.now() - begun)
  t.comment(`${part.toFixed(2)} of the time`)
  t.ok(part < 0.6, 'it rests')
})
