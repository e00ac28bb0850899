import { LANGUAGE_RULES } from '../languages/index.ts'

const MONTHS = new Map<string, number>()
for (const { dates } of Object.values(LANGUAGE_RULES)) {
  for (const [index, names] of dates.months.entries()) {
    for (const name of names.split(/\s+/)) MONTHS.set(name, index + 1)
  }
}

/**
 * The number of a month, 1 to 12, by its name or abbreviation in any of the languages; null for any
 * other word.
 */
export function monthOf(word: string): number | null {
  return MONTHS.get(foldWord(word)) ?? null
}

/** Lower case, without accents and dots. */
function foldWord(word: string): string {
  return word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\./g, '')
}
