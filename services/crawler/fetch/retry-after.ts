/** Longest that a server may send us away, in ms. */
export const LONGEST_PAUSE = 86_400_000

/**
 * ms of a Retry-After header (RFC 9110 §10.2.3): seconds, or a date, read on the server's own clock
 * when it shows it. Null: none, or nothing that can be read.
 */
export function readRetryAfter(headers: Record<string, string>, now: number = Date.now()): number | null {
  const text = headers['retry-after']?.trim()
  if (text === undefined || text === '') return null
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, LONGEST_PAUSE)
  // The parser takes "-5" for a month.
  const date = /[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(date)) return null
  const theirs = Date.parse(headers.date ?? '')
  return Math.min(Math.max(0, date - (Number.isNaN(theirs) ? now : theirs)), LONGEST_PAUSE)
}
