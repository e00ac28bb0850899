import { LANGUAGE_RULES } from '../languages/index.ts'

const MONTHS = new Map<string, number>()
for (const { dates } of Object.values(LANGUAGE_RULES)) {
  for (const [index, names] of dates.months.entries()) {
    for (const name of names.split(/\s+/)) MONTHS.set(name, index + 1)
  }
}

/** 1 to 12 for a month's name or abbreviation in any of the languages; null for any other word. */
export function monthOf(word: string): number | null {
  return MONTHS.get(fold(word)) ?? null
}

/** Lower case, without accents and dots. */
export function fold(word: string): string {
  return word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\./g, '')
}

/**
 * Offsets from UTC in minutes, for the zone names that feeds and pages write (RFC 822, and the
 * habits of Europe).
 */
const ZONES: Record<string, number> = {
  z: 0,
  utc: 0,
  gmt: 0,
  ut: 0,
  wet: 0,
  west: 60,
  bst: 60,
  cet: 60,
  mez: 60,
  met: 60,
  cest: 120,
  mesz: 120,
  mest: 120,
  eet: 120,
  eest: 180,
  msk: 180,
  est: -300,
  edt: -240,
  cst: -360,
  cdt: -300,
  mst: -420,
  mdt: -360,
  pst: -480,
  pdt: -420,
}

/**
 * Minutes east of UTC; null for a name that is unknown or ambiguous: then the outlet's own zone
 * holds.
 */
export function zoneOffset(name: string): number | null {
  return ZONES[name.toLowerCase()] ?? null
}
