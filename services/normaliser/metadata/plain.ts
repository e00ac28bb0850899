import { plainText } from '../../../shared/articles/plain-text.ts'
import { boundMarks } from '../markup/tree.ts'

/** Makes one line of a text that may be HTML: without tags, entities decoded once. */
export function oneLine(source: string): string {
  return collapse(plainText(source) ?? '')
}

/**
 * Replaces whitespace by single spaces. Removes soft hyphens and zero-width marks, and bounds
 * combining marks (`boundMarks`).
 */
export function collapse(text: string): string {
  return boundMarks(text)
    .replace(/[\u00AD\u200B\u2060\uFEFF]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/**
 * Folds a text, to compare names and titles: lower case, no accents, only words with single spaces
 * between them.
 */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
