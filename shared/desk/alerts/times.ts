import { type TimeZone, timeZoneNamed } from '../../../search/query/calendar.ts'

const DAY = 86_400_000

/**
 * The next time at which an alert looks for new articles. A daily alert looks at its local time of
 * day, and the result is later than `after`. For `at once` the result is `after` itself.
 */
export function nextTime(when: string, zoneName: string, after: Date): Date {
  const zone = timeZoneNamed(zoneName)
  const clock = /^(\d\d):(\d\d)$/.exec(when)
  if (clock === null || zone === null) return after
  const ofDay = (Number(clock[1]) * 60 + Number(clock[2])) * 60_000
  const today = Math.floor(after.getTime() / DAY) * DAY
  const times = [-1, 0, 1, 2].map(day => instantOf(today + day * DAY + ofDay, zone))
  return new Date(times.find(time => time > after.getTime())!)
}

/**
 * The first instant at which the clocks of a time zone show a time. If the clocks are set forward
 * and skip that time, the result is the instant when they are set.
 *
 * @param local ms since 1970, as if the clocks showed UTC
 */
function instantOf(local: number, zone: TimeZone): number {
  const spans = zone.spans(local - 2 * DAY, local + 2 * DAY)
  for (const { from, to, offset } of spans) {
    if (local - offset < to) return Math.max(from, local - offset)
  }
  return local
}
