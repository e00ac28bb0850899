import fc from 'fast-check'
import t from 'tap'
import { offsetAt, offsetFormat } from '#search/query/calendar'
import { type WallTime, zonedInstant } from './written.ts'

/** Reads the time that a clock shows, as in `2026-01-15T14:05`. */
function wall(shown: string): WallTime {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = shown.split(/\D/).map(Number)
  return { year, month, day, hour, minute, second: 0, millisecond: 0 }
}
const instants = (zone: string, ...shown: string[]) =>
  shown.map(clock => new Date(zonedInstant(wall(clock), zone)).toISOString())

t.test('decision 36: a wall clock’s time is read in its zone, summer and winter', async t => {
  const winter = '2026-01-15T14:05'
  const summer = '2026-07-15T14:05'
  for (const [zone, shown, instant] of [
    ['Europe/Amsterdam', winter, '2026-01-15T13:05:00.000Z'],
    ['Europe/Brussels', summer, '2026-07-15T12:05:00.000Z'],
    ['Europe/London', summer, '2026-07-15T13:05:00.000Z'],
    ['America/Curacao', summer, '2026-07-15T18:05:00.000Z'],
    ['Asia/Kathmandu', summer, '2026-07-15T08:20:00.000Z'],
    ['Pacific/Kiritimati', '2026-01-01T00:30', '2025-12-31T10:30:00.000Z'],
  ] as const)
    t.same(instants(zone, shown), [instant], zone)
})

t.test(
  'the hour that spring leaves out has the offset before; autumn’s doubled hour is its first',
  async t => {
    t.same(
      instants('Europe/Luxembourg', '2026-03-29T01:59', '2026-03-29T02:30', '2026-03-29T03:00'),
      ['2026-03-29T00:59:00.000Z', '2026-03-29T01:30:00.000Z', '2026-03-29T01:00:00.000Z'],
    )
    t.same(
      instants('Europe/Luxembourg', '2026-10-25T01:59', '2026-10-25T02:30', '2026-10-25T03:00'),
      ['2026-10-24T23:59:00.000Z', '2026-10-25T00:30:00.000Z', '2026-10-25T02:00:00.000Z'],
    )
  },
)

t.test(
  'every instant is found again from its wall clock, save the doubled hour’s second',
  async () => {
    const zones = fc.constantFrom(
      'Europe/Amsterdam',
      'Europe/Brussels',
      'America/New_York',
      'Australia/Lord_Howe',
    )
    const minutes = fc.integer({
      min: Date.UTC(1991, 0, 1) / 60_000,
      max: Date.UTC(2036, 0, 1) / 60_000,
    })
    fc.assert(
      fc.property(minutes, zones, (minute, zone) => {
        const instant = minute * 60_000
        const format = offsetFormat(zone)
        if (format === null) return false
        const found = zonedInstant(
          wall(new Date(instant + offsetAt(instant, format)).toISOString()),
          zone,
        )
        return found === instant || (instant - found <= 3_600_000 && found < instant)
      }),
      { numRuns: 500 },
    )
  },
)
