/** A time during which the clocks of a zone keep one offset; ms since 1970, `to` exclusive. */
export interface OffsetSpan {
  from: number
  to: number
  /** ms to add to UTC. */
  offset: number
}

/** A time zone of the IANA database, as Node knows it. */
export interface TimeZone {
  /** As the database writes it. */
  name: string
  /** The offsets that hold between two times, in order, without gaps; at least one. */
  spans(from: number, to: number): OffsetSpan[]
}

const UTC: TimeZone = { name: 'UTC', spans: (from, to) => [{ from, to, offset: 0 }] }

/** The database has some 600 names, most of them aliases. */
const MOST_LETTERS = 64
const IANA_NAME = /^[A-Za-z]+([/_+-][A-Za-z0-9]+)*$/

/** Zones that were asked for, by their canonical name: the database bounds their number. */
const zones = new Map<string, TimeZone>()

/** @returns null: there is no zone of this name */
export function timeZoneNamed(name: string): TimeZone | null {
  if (name.length > MOST_LETTERS || !IANA_NAME.test(name)) return null
  const format = formatOf(name)
  if (format === null) return null
  const canonical = format.resolvedOptions().timeZone
  if (canonical === 'UTC') return UTC
  const zone = zones.get(canonical) ?? createTimeZone(canonical, format)
  zones.set(canonical, zone)
  return zone
}

function formatOf(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  } catch {
    return null
  }
}

const DAY = 86_400_000
/** Clocks are never changed twice within so many ms. */
const STEP = 4 * DAY

/** Changes of the offset are looked for a year at a time, and kept. */
function createTimeZone(name: string, format: Intl.DateTimeFormat): TimeZone {
  const years = new Map<number, OffsetSpan[]>()
  const offsetAt = (time: number) => readOffset(format.format(time))

  const spansOfYear = (year: number): OffsetSpan[] => {
    const known = years.get(year)
    if (known !== undefined) return known
    const [start, end] = [Date.UTC(year, 0), Date.UTC(year + 1, 0)]
    const spans: OffsetSpan[] = [{ from: start, to: end, offset: offsetAt(start) }]
    for (let at = start; at < end; at += STEP) {
      const next = Math.min(at + STEP, end - 1)
      const last = spans.at(-1)!
      const offset = offsetAt(next)
      if (offset === last.offset) continue
      last.to = firstTime(at, next, time => offsetAt(time) === offset)
      spans.push({ from: last.to, to: end, offset })
    }
    years.set(year, spans)
    return spans
  }
  return {
    name,
    spans(from, to) {
      const spans: OffsetSpan[] = []
      const last = new Date(to).getUTCFullYear()
      for (let year = new Date(from).getUTCFullYear(); year <= last; year++) {
        for (const span of spansOfYear(year)) {
          const before = spans.at(-1)
          if (before?.offset === span.offset) before.to = span.to
          else spans.push({ ...span })
        }
      }
      return spans
    },
  }
}

/** The first ms after `from`, at most `to`, that passes a test which all later ones pass too. */
function firstTime(from: number, to: number, passes: (time: number) => boolean): number {
  let [low, high] = [from, to]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (passes(middle)) high = middle
    else low = middle
  }
  return high
}

/** Reads the offset at the end of a text such as `11/23/2026, GMT+01:00`; `GMT` alone is 0. */
function readOffset(text: string): number {
  const [, sign, hours, minutes, seconds] = /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(text) ?? []
  const offset = ((Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0)) * 1_000
  return sign === '-' ? -offset : offset
}
