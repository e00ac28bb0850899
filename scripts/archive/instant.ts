const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?\s?(Z|[+-]\d{2}:?\d{2})?)?$/i

/**
 * Reads an ISO 8601 date or date-time, from the year 1 on. A time without an offset is in UTC.
 * Fractions of a millisecond are cut. Returns null for anything else.
 */
export function readInstant(text: string): Date | null {
  const match = TIME.exec(text.trim())
  if (match === null) return null
  const [, day = '', time = '00:00', seconds = ':00', offset = 'Z'] = match
  const at = new Date(`${day}T${time}${seconds}${offset.toUpperCase().replace(/(\d\d)(\d\d)$/, '$1:$2')}`)
  // Date carries 30 February over into March.
  const exists = Number(day.slice(8)) <= 28 || new Date(`${day}T00:00Z`).toJSON()?.startsWith(day) === true
  return exists && at.getUTCFullYear() >= 1 ? at : null
}
