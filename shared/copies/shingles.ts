import { hashOf, pairHash, words } from '../../search/analysis/index.ts'

/*
 * When two texts are copies. *Shingles* are the runs of five folded words of a body, less the lines
 * that the rules below name. `shared` compares two texts: of the distinct shingles of the text with
 * fewer, it is the part that the other text has, too. Sets of shingles are sorted arrays of hashes
 * of 53 bits. In 1 of 10^10 pairs of articles, two different shingles have the same hash.
 */

/**
 * The version of what decides about groups in this file. With another version, all groups are found
 * again.
 */
export const RULES = 1

/** Times of copies lie at most this many ms apart. */
export const WEEK = 7 * 86_400_000

/** Words of a shingle. */
export const RUN = 5
const FEWEST_WORDS = 60
const FEWEST_SHINGLES = 40

/** Characters. A longer line belongs to the text, whatever it begins with. */
const LONGEST_LINE = 200
const AGENCY =
  '(?:belga|anp|afp|dpa(?:-afx)?|reuters|ap|keystone-sda|sda|ats|apa|pa|novum|bloomberg|efe|ansa)(?![\\p{L}\\d])'
/** Lines that say nothing of the event: who sent the text, what else to read, whose it is. */
const RULED_OUT = [
  new RegExp(
    String.raw`^(?:\(c\)|[©([–—*-]|(?:bron|source|quelle|quell)\s*:|\s)*${AGENCY}(?:[\s,/&+–—-]+${AGENCY})*[\s.,)\]–—-]*$`,
    'iu',
  ),
  /^[\s>→▶►•*–—-]*(?:lees (?:ook|meer|verder)|zie ook|meer over dit onderwerp|(?:à |a )?lire (?:aussi|également)|lisez aussi|voir aussi|(?:lesen sie|lies|siehe) auch|mehr zum thema|lies (?:och|méi)|liest och|kuckt? och|(?:read|see) (?:also|more)|also read)(?![\p{L}\d])/iu,
  /©|\(c\) ?\d{4}|all(?:e)? rechten voorbehouden|tous droits (?:réservés|de reproduction)|alle rechte vorbehalten|all rechter? (?:reservéiert|virbehalen)|all rights reserved/iu,
]

/** The folded words of a body that count. */
export function copyWords(body: string): string[] {
  const isRuledOut = (line: string) => line.length <= LONGEST_LINE && RULED_OUT.some(rule => rule.test(line.trim()))
  return body.split(/[\r\n]+/).flatMap(line => (isRuledOut(line) ? [] : words(line)))
}

/** The shingle that begins at each word, as a hash below 2^53. */
export function shinglesAt(list: readonly string[]): Float64Array {
  const hashes = list.map(hashOf)
  const shingles = new Float64Array(Math.max(0, hashes.length - RUN + 1))
  for (let at = 0; at < shingles.length; at++) {
    let low = hashes[at]!
    let high = low ^ 0x5bd1e995
    for (let next = at + 1; next < at + RUN; next++) {
      low = pairHash(low, hashes[next]!)
      high = pairHash(high, hashes[next]!)
    }
    shingles[at] = (high >>> 11) * 2 ** 32 + low
  }
  return shingles
}

/** The distinct shingles, ascending. */
export function distinct(shingles: Float64Array): Float64Array {
  const sorted = shingles.toSorted()
  let end = 0
  for (let at = 0; at < sorted.length; at++) {
    if (at === 0 || sorted[at] !== sorted[at - 1]) sorted[end++] = sorted[at]!
  }
  return sorted.slice(0, end)
}

/** The distinct shingles of a body; null: it is too short to be compared. */
export function judge(body: string | null): Float64Array | null {
  const list = copyWords(body ?? '')
  if (list.length < FEWEST_WORDS) return null
  const shingles = distinct(shinglesAt(list))
  return shingles.length < FEWEST_SHINGLES ? null : shingles
}

function countCommon(a: Float64Array, b: Float64Array): number {
  let common = 0
  for (let [i, j] = [0, 0]; i < a.length && j < b.length; ) {
    const [left, right] = [a[i]!, b[j]!]
    if (left === right) common++
    if (left <= right) i++
    if (right <= left) j++
  }
  return common
}

/** `shared` of two texts. */
export const sharedOf = (a: Float64Array, b: Float64Array) =>
  countCommon(a, b) / Math.max(1, Math.min(a.length, b.length))

/** Whether a text has a shingle. */
export const hasShingle = (set: Float64Array, shingle: number): boolean => set[placeOf(set, shingle)] === shingle

/** The place of the first number in `sorted` that is not below `number`. */
export function placeOf(sorted: Float64Array, number: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! < number) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Whether two texts are copies, their times aside: `shared ≥ 0.6`. In one outlet, this part of the
 * longer text must be in common. A live blog that grew is therefore no copy of its beginning.
 */
export function areCopies(a: Float64Array, b: Float64Array, isOneOutlet: boolean): boolean {
  const of = isOneOutlet ? Math.max(a.length, b.length) : Math.min(a.length, b.length)
  return 5 * countCommon(a, b) >= 3 * of // in whole numbers: 0.6 has no exact form
}

/** One shingle in this many is in the sample. */
const EACH = 4
const SAMPLED = 2 ** 53 / EACH

/** The leading 32 bits of the shingles with the lowest hashes, ascending; some may be equal. */
export function sampleOf(shingles: Float64Array): Uint32Array {
  const sample = shingles.subarray(0, placeOf(shingles, SAMPLED))
  return new Uint32Array(sample.map(hash => hash / (SAMPLED / 2 ** 32))) // which drops the fractions
}

/** The part of pairs with a `shared` of exactly 0.6 that may be missed. */
const MISSED = 0.001

/**
 * How many common samples two texts must have to be compared. The smaller text has this many
 * shingles, and `shared` is 0.6. Each common shingle has a chance of 1 in 4 to be a sample. So the
 * number of common samples is binomial. The chance that it is lower than the result is at most
 * `MISSED`. For texts of 60 words the result is two, and 0.0007 of their pairs are missed.
 */
export function leastCommon(shingles: number): number {
  LEAST[shingles] ??= leastOf(shingles)
  return LEAST[shingles]
}

/** The results of `leastCommon`, by number of shingles. Few numbers occur. */
const LEAST: number[] = []

function leastOf(shingles: number): number {
  const common = Math.ceil(shingles * 0.6)
  // The powers below are then too small for a number. The normal distribution is near enough.
  if (common > 1_000) return Math.floor(common / EACH - 3.3 * Math.sqrt((common * (EACH - 1)) / EACH ** 2))
  let least = 0
  let missed = 0
  for (let chance = (1 - 1 / EACH) ** common; missed + chance <= MISSED; ) {
    missed += chance
    least++
    chance *= (common - least + 1) / least / (EACH - 1)
  }
  return Math.max(1, least)
}
