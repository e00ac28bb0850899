/** Writes times with the offset of an IANA zone, for `offsetAt`; null: there is no such zone. */
export function offsetFormat(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  } catch {
    return null
  }
}

/**
 * A zone's offset from UTC at an instant, in milliseconds, east positive. It stands at the end of a
 * text such as `11/23/2026, GMT+01:00`; `GMT` alone is 0.
 */
export function offsetAt(instant: number, format: Intl.DateTimeFormat): number {
  const [, sign, hours, minutes, seconds] = /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(format.format(instant)) ?? []
  const offset = ((Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0)) * 1_000
  return sign === '-' ? -offset : offset
}
