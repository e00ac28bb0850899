import t from 'tap'
import DIGESTS from './digests.json' with { type: 'json' }
import { isWhen, nextTime } from './times.ts'

t.test('a time is at once, of a day, or of a day of the week', async t => {
  for (const when of ['at once', '00:00', '23:59', 'sunday 19:30']) t.ok(isWhen(when), when)
  for (const when of ['', 'now', '8:00', '24:00', '08:60', 'someday 08:00', 'monday', ' 08:00'])
    t.notOk(isWhen(when), when)
})

t.test('a digest comes once in a local day or week, also when clocks change', async t => {
  for (const { when, zone, from, times } of DIGESTS) {
    let at = new Date(`${from}Z`)
    for (const time of times) {
      at = nextTime(when, zone, at)
      t.equal(at.toISOString(), `${time}:00.000Z`, `${when} in ${zone}`)
    }
  }
})
