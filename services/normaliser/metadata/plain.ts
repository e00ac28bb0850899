import { plainText } from '../../../shared/articles/plain-text.ts'
import { boundMarks } from '../markup/marks.ts'

/**
 * What may be HTML, as a title or a name shows it: tags gone, entities decoded once, on one line.
 */
export function oneLine(source: string): string {
  return collapse(plainText(source) ?? '')
}

/**
 * Whitespace of every kind becomes single spaces; soft hyphens and zero-width marks go, and
 * combining marks beyond all measure.
 */
export function collapse(text: string): string {
  return boundMarks(text)
    .replace(/[\u00AD\u200B\u2060\uFEFF]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
