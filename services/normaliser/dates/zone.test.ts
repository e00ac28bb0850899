import fc from 'fast-check'
import t from 'tap'
import { offsetAt, offsetFormat } from '../../../shared/articles/time-zone.ts'
import { utcInstant, type WallTime, zonedInstant } from './written.ts'

const wall = (year: number, month: number, day: number, hour: number, minute = 0): WallTime => ({
  year,
  month,
  day,
  hour,
  minute,
  second: 0,
  millisecond: 0,
})
const iso = (instant: number | null) => (instant === null ? null : new Date(instant).toISOString())

t.test('decision 36: a wall clock’s time is read in its zone, summer and winter', async t => {
  t.equal(iso(zonedInstant(wall(2026, 1, 15, 14, 5), 'Europe/Amsterdam')), '2026-01-15T13:05:00.000Z')
  t.equal(iso(zonedInstant(wall(2026, 7, 15, 14, 5), 'Europe/Brussels')), '2026-07-15T12:05:00.000Z')
  t.equal(iso(zonedInstant(wall(2026, 7, 15, 14, 5), 'Europe/London')), '2026-07-15T13:05:00.000Z')
  t.equal(iso(zonedInstant(wall(2026, 7, 15, 14, 5), 'America/Curacao')), '2026-07-15T18:05:00.000Z')
  t.equal(iso(zonedInstant(wall(2026, 7, 15, 14, 5), 'Asia/Kathmandu')), '2026-07-15T08:20:00.000Z')
  t.equal(iso(zonedInstant(wall(2026, 1, 1, 0, 30), 'Pacific/Kiritimati')), '2025-12-31T10:30:00.000Z')
})

t.test(
  'the hour that spring leaves out is read with the offset before; autumn’s doubled hour is its first',
  async t => {
    const zone = 'Europe/Luxembourg'
    t.equal(iso(zonedInstant(wall(2026, 3, 29, 1, 59), zone)), '2026-03-29T00:59:00.000Z')
    t.equal(iso(zonedInstant(wall(2026, 3, 29, 2, 30), zone)), '2026-03-29T01:30:00.000Z')
    t.equal(iso(zonedInstant(wall(2026, 3, 29, 3, 0), zone)), '2026-03-29T01:00:00.000Z')
    t.equal(iso(zonedInstant(wall(2026, 10, 25, 1, 59), zone)), '2026-10-24T23:59:00.000Z')
    t.equal(iso(zonedInstant(wall(2026, 10, 25, 2, 30), zone)), '2026-10-25T00:30:00.000Z')
    t.equal(iso(zonedInstant(wall(2026, 10, 25, 3, 0), zone)), '2026-10-25T02:00:00.000Z')
  },
)

t.test('a day that no calendar has is none', async t => {
  for (const bad of [
    wall(2026, 2, 29, 0),
    wall(2026, 4, 31, 0),
    wall(2026, 13, 1, 0),
    wall(2026, 1, 1, 24),
    wall(2026, 0, 1, 0),
  ]) {
    t.equal(utcInstant(bad), null)
    t.equal(zonedInstant(bad, 'Europe/Brussels'), null)
  }
  t.equal(iso(utcInstant(wall(2028, 2, 29, 12))), '2028-02-29T12:00:00.000Z')
})

t.test('every instant is found again from its wall clock, save the doubled hour’s second', async () => {
  const zones = fc.constantFrom(
    'Europe/Amsterdam',
    'Europe/Brussels',
    'Europe/Luxembourg',
    'America/New_York',
    'Australia/Lord_Howe',
  )
  const minutes = fc.integer({ min: Date.UTC(1991, 0, 1) / 60_000, max: Date.UTC(2036, 0, 1) / 60_000 })
  fc.assert(
    fc.property(minutes, zones, (minute, zone) => {
      const instant = minute * 60_000
      const format = offsetFormat(zone)
      if (format === null) return false
      const shown = new Date(instant + offsetAt(instant, format))
      const found = zonedInstant(
        wall(
          shown.getUTCFullYear(),
          shown.getUTCMonth() + 1,
          shown.getUTCDate(),
          shown.getUTCHours(),
          shown.getUTCMinutes(),
        ),
        zone,
      )
      return found === instant || (found !== null && instant - found <= 3_600_000 && found < instant)
    }),
    { numRuns: 500 },
  )
})
