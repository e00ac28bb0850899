/**
 * Keeps at most 30 combining marks in a row, as in Unicode's Stream-Safe Text Format (UAX #15, 13).
 * Normalising sorts the marks of a letter, in time quadratic in their number: 100,000 of them took
 * five seconds.
 */
export function boundMarks(text: string): string {
  return text.replace(MANY_MARKS, '$1')
}

const MANY_MARKS = /(\p{M}{30})\p{M}+/gu
