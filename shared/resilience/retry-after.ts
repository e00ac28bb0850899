/** The longest wait that a server may ask for, in ms: one day. */
export const LONGEST_RETRY_AFTER = 86_400_000

/**
 * The wait that a Retry-After header demands, in ms (RFC 9110 §10.2.3): seconds, or a date.
 *
 * @param value the header's value, if the answer has one
 * @param date the answer's Date header. A date in `value` is then compared with the server's own
 *   clock.
 * @returns at most `LONGEST_RETRY_AFTER`; 0 for a date in the past; null without a readable header
 */
export function readRetryAfter(
  value: string | null | undefined,
  date: string | null | undefined = null,
  now: number = Date.now(),
): number | null {
  const text = value?.trim() ?? ''
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, LONGEST_RETRY_AFTER)
  // `Date.parse` would read "-5" as a month. An HTTP date has the name of its month in letters.
  const until = /[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(until)) return null
  const serverTime = Date.parse(date ?? '')
  return Math.min(
    Math.max(0, until - (Number.isNaN(serverTime) ? now : serverTime)),
    LONGEST_RETRY_AFTER,
  )
}
