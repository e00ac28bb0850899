import t from 'tap'
import { isWhen, nextTime } from './times.ts'

t.test('a time is at once, of a day, or of a day of the week', async t => {
  for (const when of ['at once', '00:00', '23:59', 'sunday 19:30']) t.ok(isWhen(when), when)
  for (const when of ['', 'now', '8:00', '24:00', '08:60', 'someday 08:00', 'monday', ' 08:00'])
    t.notOk(isWhen(when), when)
})

t.test('a digest comes once in a local day or week, also when clocks change', async t => {
  for (const [when, zone, from, times] of [
    [
      '02:30',
      'Europe/Brussels',
      '2026-03-27T12:00',
      ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30'],
    ],
    [
      '02:30',
      'Europe/Brussels',
      '2026-10-23T12:00',
      ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30'],
    ],
    [
      'monday 02:30',
      'Europe/Brussels',
      '2026-10-19T00:30',
      ['2026-10-26T01:30', '2026-11-02T01:30'],
    ],
    // The day is the local one.
    ['sunday 23:30', 'Pacific/Apia', '2026-01-01T09:00', ['2026-01-04T10:30']],
    ['00:00', 'Pacific/Apia', '2026-01-01T09:00', ['2026-01-01T11:00', '2026-01-02T11:00']],
    ['00:00', 'America/Los_Angeles', '2026-01-02T07:59', ['2026-01-02T08:00', '2026-01-03T08:00']],
    ['23:59', 'America/Los_Angeles', '2026-01-02T07:58', ['2026-01-02T07:59']],
    ['03:00', 'Europe/Brussels', '2026-10-24T12:00', ['2026-10-25T02:00']],
    ['at once', 'UTC', '2026-01-01T09:00', ['2026-01-01T09:00']],
    ['00:00', 'Mars', '2026-01-01T09:00', ['2026-01-01T09:00']],
  ] as const) {
    let at = new Date(`${from}Z`)
    for (const time of times) {
      at = nextTime(when, zone, at)
      t.equal(at.toISOString(), `${time}:00.000Z`, `${when} in ${zone}`)
    }
  }
})
