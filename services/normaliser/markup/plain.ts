import { boundMarks } from '#search/analysis/text'
import { plainText, withoutControls } from '#shared/articles/plain-text'

/** Converts a text that may be HTML to one line: without tags, entities decoded once. */
export const oneLine = (source: string): string => lineOf(plainText(source) ?? '')

/** A name or a title as one line, without soft hyphens. */
export const lineOf = (text: string): string => collapse(text.replaceAll('\u00AD', ''))

/**
 * Replaces every run of whitespace by one space and trims the ends. Removes zero-width marks and
 * control characters, and bounds combining marks.
 */
export const collapse = (text: string): string =>
  withoutControls(boundMarks(text))
    .replace(/[\u200B\u2060\uFEFF]/g, '')
    .replace(/\s+/g, ' ')
    .trim()

/**
 * Folds a text for comparing names and titles: lower case, no accents, only words with single
 * spaces between them.
 */
export const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** Some names, folded, with and without their spaces. */
export function foldedNames(names: string[]): Set<string> {
  const folded = names.map(fold)
  const joined = folded.map(name => name.replaceAll(' ', ''))
  return new Set([...folded, ...joined].filter(name => name !== ''))
}
