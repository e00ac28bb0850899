import {
  hashWords,
  pairHash,
  placeOf,
  rulesOn,
  sortHashes,
  WORD_RULES,
  wordListOf,
} from '#search/analysis/index'

/*
 * Decides when two texts are copies. *Shingles* are the runs of five folded words of a body. Lines
 * that `RULED_OUT` matches do not count. `shared` is a fraction of the distinct shingles of the
 * text with fewer: those that the other text also has. Sets of shingles are sorted arrays of hashes
 * of 53 bits. In 1 of 10^10 pairs of articles, two different shingles have the same hash.
 */

/**
 * The version of the rules for groups in this file. When it changes, the pass finds all groups
 * again.
 */
export const RULES: number = rulesOn(1, WORD_RULES)

/** The times of two copies are at most this many ms apart. */
export const WEEK: number = 7 * 86_400_000

/** How many words a shingle has. */
export const RUN = 5
const FEWEST_WORDS = 60
const FEWEST_SHINGLES = 40

/** In characters. A longer line always counts, whatever it begins with. */
const LONGEST_LINE = 200
const AGENCY =
  '(?:belga|anp|afp|dpa(?:-afx)?|reuters|ap|keystone-sda|sda|ats|apa|pa|novum|bloomberg|efe|ansa)(?![\\p{L}\\d])'
/**
 * Lines that do not tell about the event: who sent the text, what else to read, who has the rights.
 */
const RULED_OUT = [
  new RegExp(
    String.raw`^(?:\(c\)|[©([–—*-]|(?:bron|source|quelle|quell)\s*:|\s)*${AGENCY}(?:[\s,/&+–—-]+${AGENCY})*[\s.,)\]–—-]*$`,
    'iu',
  ),
  /^[\s>→▶►•*–—-]*(?:lees (?:ook|meer|verder)|zie ook|meer over dit onderwerp|(?:à |a )?lire (?:aussi|également)|lisez aussi|voir aussi|(?:lesen sie|lies|siehe) auch|mehr zum thema|lies (?:och|méi)|liest och|kuckt? och|(?:read|see) (?:also|more)|also read)(?![\p{L}\d])/iu,
  /©|\(c\) ?\d{4}|all(?:e)? rechten voorbehouden|tous droits (?:réservés|de reproduction)|alle rechte vorbehalten|all rechter? (?:reservéiert|virbehalen)|all rights reserved/iu,
]

/** The hashes of the folded words of a body, without the lines that do not count. */
export function copyWords(body: string): Uint32Array {
  const isRuledOut = (line: string) =>
    line.length <= LONGEST_LINE && RULED_OUT.some(rule => rule.test(line.trim()))
  const lines = body.split(/[\r\n]+/).filter(line => !isRuledOut(line))
  const { hashes, count } = hashWords(wordListOf(lines.join('\n')))
  return hashes.slice(0, count)
}

/** By word: the shingle that begins there, as a hash below 2^53. */
export function shinglesAt(words: Uint32Array): Float64Array<ArrayBuffer> {
  const shingles = new Float64Array(Math.max(0, words.length - RUN + 1))
  for (let at = 0; at < shingles.length; at++) {
    let low = words[at]!
    let high = low ^ 0x5bd1e995
    for (let next = at + 1; next < at + RUN; next++) {
      const word = words[next]!
      low = pairHash(low, word)
      high = pairHash(high, word)
    }
    shingles[at] = (high >>> 11) * 2 ** 32 + low
  }
  return shingles
}

/**
 * The distinct shingles, in ascending order. Sorts the given array, and returns it if no shingle
 * stands there twice.
 */
export function distinct(shingles: Float64Array<ArrayBuffer>): Float64Array {
  const sorted = sortHashes(shingles)
  let end = 0
  for (let at = 0; at < sorted.length; at++) {
    if (at === 0 || sorted[at] !== sorted[at - 1]) sorted[end++] = sorted[at]!
  }
  return end === sorted.length ? sorted : sorted.slice(0, end)
}

/** The distinct shingles of a body; null: the body is too short to be compared. */
export function judge(body: string | null): Float64Array | null {
  const list = copyWords(body ?? '')
  if (list.length < FEWEST_WORDS) return null
  const shingles = distinct(shinglesAt(list))
  return shingles.length < FEWEST_SHINGLES ? null : shingles
}

function countCommon(a: Float64Array, b: Float64Array): number {
  let common = 0
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const left = a[i]!
    const right = b[j]!
    if (left === right) common++
    if (left <= right) i++
    if (right <= left) j++
  }
  return common
}

/** The `shared` of two texts. */
export const sharedOf = (a: Float64Array, b: Float64Array): number =>
  countCommon(a, b) / Math.max(1, Math.min(a.length, b.length))

/** Whether a text has a shingle. */
export const hasShingle = (set: Float64Array, shingle: number): boolean =>
  set[placeOf(set, shingle)] === shingle

/**
 * Whether two texts are copies, without a look at their times: `shared ≥ 0.6`. Two texts of one
 * outlet need this fraction of the longer text. So a live blog that has grown is no copy of its
 * beginning.
 */
export function areCopies(a: Float64Array, b: Float64Array, isOneOutlet: boolean): boolean {
  const of = isOneOutlet ? Math.max(a.length, b.length) : Math.min(a.length, b.length)
  return 5 * countCommon(a, b) >= 3 * of // uses whole numbers: 0.6 has no exact form
}

/** The sample of a text has about one in `EACH` of its shingles. */
const EACH = 4
const SAMPLED = 2 ** 53 / EACH

/**
 * The sample: the leading 32 bits of the lowest hashes of shingles, ascending. Some of them may be
 * equal.
 */
export function sampleOf(shingles: Float64Array): Uint32Array {
  const sample = new Uint32Array(placeOf(shingles, SAMPLED))
  // Storing drops the fractions.
  for (let at = 0; at < sample.length; at++) sample[at] = shingles[at]! / (SAMPLED / 2 ** 32)
  return sample
}

/** The fraction of pairs with a `shared` of exactly 0.6 that may be missed. */
const MISSED = 0.001

/**
 * How many common hashes the samples of two texts must have before the texts are compared. The
 * smaller text has `shingles` shingles, and `shared` is 0.6. Each common shingle is in the samples
 * with a chance of 1 in 4, so the number of common hashes is binomial. It is lower than the result
 * with a chance of at most `MISSED`. For texts of 60 words the result is two, and 0.0007 of their
 * pairs are missed.
 */
export function leastCommon(shingles: number): number {
  LEAST[shingles] ??= leastOf(shingles)
  return LEAST[shingles]
}

/** The results of `leastCommon` by number of shingles. Only few different numbers occur. */
const LEAST: number[] = []

function leastOf(shingles: number): number {
  const common = Math.ceil(shingles * 0.6)
  // The powers below would become too small for a float. For such numbers, the normal distribution
  // is close enough.
  if (common > 1_000)
    return Math.floor(common / EACH - 3.3 * Math.sqrt((common * (EACH - 1)) / EACH ** 2))
  let least = 0
  let missed = 0
  for (let chance = (1 - 1 / EACH) ** common; missed + chance <= MISSED; ) {
    missed += chance
    least++
    chance *= (common - least + 1) / least / (EACH - 1)
  }
  return Math.max(1, least)
}
