/** A local time without its zone: months from 1, seconds to 59. */
export interface WallTime {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
  millisecond: number
}

/** The instant of a time in UTC, in milliseconds; null when no calendar has such a day. */
export function utcInstant(wall: WallTime): number | null {
  const { year, month, day, hour, minute, second, millisecond } = wall
  if (hour > 23 || minute > 59 || second > 59 || millisecond > 999 || month < 1 || day < 1) return null
  const instant = Date.UTC(year, month - 1, day, hour, minute, second, millisecond)
  const read = new Date(instant)
  return read.getUTCFullYear() === year && read.getUTCMonth() === month - 1 && read.getUTCDate() === day
    ? instant
    : null
}

/**
 * The instant of a local time in an IANA zone. In autumn's doubled hour the first instant counts. A
 * time that spring skips is read with the offset before the change: 02:30 becomes 03:30, as in
 * ECMAScript and RFC 5545.
 */
export function zonedInstant(wall: WallTime, timeZone: string): number | null {
  const asUtc = utcInstant(wall)
  if (asUtc === null) return null
  // No zone is more than a day from UTC. So the offsets a day before and a day after bracket any
  // change of clocks.
  const before = offsetAt(asUtc - DAY, timeZone)
  const after = offsetAt(asUtc + DAY, timeZone)
  const candidates = [asUtc - before, asUtc - after].filter(instant => instant + offsetAt(instant, timeZone) === asUtc)
  return candidates.length > 0 ? Math.min(...candidates) : asUtc - before
}

/** The zone's offset from UTC at an instant, in milliseconds, east positive. */
export function offsetAt(instant: number, timeZone: string): number {
  const second = Math.floor(instant / 1000) * 1000
  const parts = new Map(
    clock(timeZone)
      .formatToParts(second)
      .map(part => [part.type, Number(part.value)]),
  )
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
  const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
  return shown - second
}

const DAY = 86_400_000
const clocks = new Map<string, Intl.DateTimeFormat>()

/** One formatter per zone: making one takes longer than a thousand uses. */
function clock(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  clocks.set(timeZone, made)
  return made
}
