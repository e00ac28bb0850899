import { type TimeZone, timeZoneNamed } from '#search/query/calendar'

const DAY = 86_400_000

/** The days of a weekly digest, as `when` names them. 1 January 1970 was a Thursday. */
const WEEKDAYS = [
  'thursday',
  'friday',
  'saturday',
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
] as const

const DIGEST = new RegExp(`^(?:(${WEEKDAYS.join('|')}) )?([01]\\d|2[0-3]):([0-5]\\d)$`)

/** Whether this is a time at which an alert can look. */
export const isWhen = (when: string): boolean => when === 'at once' || DIGEST.test(when)

/**
 * The next time at which an alert looks for new articles. A daily alert looks at its local time of
 * day, a weekly one on its local day, and the result is later than `after`. For `at once` the
 * result is `after` itself.
 */
export function nextTime(when: string, zoneName: string, after: Date): Date {
  const [digest, weekday, hour, minute] = DIGEST.exec(when) ?? []
  // To make a time zone takes longer than all else here.
  const zone = digest === undefined ? null : timeZoneNamed(zoneName)
  if (zone === null) return after
  const ofDay = (Number(hour) * 60 + Number(minute)) * 60_000
  const today = Math.floor(after.getTime() / DAY)
  const days = Array.from({ length: 10 }, (_, at) => today - 1 + at).filter(
    day => weekday === undefined || WEEKDAYS[day % 7] === weekday,
  )
  const times = days.map(day => instantOf(day * DAY + ofDay, zone))
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
