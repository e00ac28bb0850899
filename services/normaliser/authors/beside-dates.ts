import { findDates } from '../dates/written.ts'
import type { PageMetadata } from '../metadata/metadata.ts'

/** Lines behind the headline, and before it, in which such a byline stands. */
const BEHIND_A_DATE = 5
const BEFORE = 2
/** Longest line that holds a name and a date, in characters. */
const LENGTH = 80

/** A full name, each of its words with a capital. */
const NAME = String.raw`\p{Lu}[\p{L}\p{M}.'’-]+(?:\s(?:van|von|de|der|den|le|la|di|ten|ter)){0,2}(?:\s\p{Lu}[\p{L}\p{M}.'’-]*){1,2}`
const ALONE = new RegExp(`^${NAME}$`, 'u')
const AT_START = new RegExp(String.raw`^(${NAME})\s[|·•–—-]\s`, 'u')

/**
 * Names without a label that stand beside the date, right under the headline: "Anna Weber", then
 * "3.11.2026"; "Anna Weber – 3.11.2026". At most one.
 */
export function besideDates({ lines, headline }: PageMetadata): string[] {
  if (headline === null) return []
  const from = Math.max(0, headline - BEFORE)
  for (let at = from; at <= headline + BEHIND_A_DATE && at < lines.length; at += 1) {
    const text = lines[at]?.text ?? ''
    if (at === headline || lines[at]?.aside || text.length > LENGTH) continue
    if (at > headline && ALONE.test(text)) {
      const below = lines[at + 1]
      if (below !== undefined && !below.aside && isDateLine(below.text)) return [text]
    } else if (isDated(text)) {
      const name = AT_START.exec(text)?.[1]
      if (name !== undefined) return [name]
    }
  }
  return []
}

const isDated = (text: string) => /\d/.test(text) && findDates(text).length > 0

/** Whether a line holds a date, perhaps a weekday and a time, and nothing else. */
function isDateLine(text: string): boolean {
  const [date] = text.length > DATE_LENGTH || !/\d/.test(text) ? [] : findDates(text)
  return date !== undefined && date.index <= WEEKDAY && !date.modified
}
const DATE_LENGTH = 45
const WEEKDAY = 20
