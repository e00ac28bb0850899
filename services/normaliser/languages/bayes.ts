/** The evidence of a text for each language. */
export interface Evidence {
  /** Log-likelihoods, up to a constant that all languages share. */
  likelihoods: ReadonlyMap<string, number>
  words: number
  /** How many of the words are common in the language. */
  knownWords(language: string): number
  trigrams: number
  /** How many of the trigrams the language's sample holds. */
  knownTrigrams(language: string): number
}

/** A text of a language to learn from, and common words, which count several times each. */
export interface Sample {
  text: string
  words: string
}

/**
 * Weights of 1- to 4-grams, and of whole words. Whole words weigh most, because small words such as
 * "the" and "of" identify a language better than its letters do.
 */
const ORDER_WEIGHTS = [0, 0.5, 1, 1, 3]
const WORD_ORDER = 4
const TRIGRAM_ORDER = 2

/** In a text with words in lower case, capitalised words are often names from any language. */
const CAPITALISED_WEIGHT = 0.4
const COMMON_WORD_COUNT = 4
const SMOOTHING = 0.1

/** A word is common in a language when the language's sample holds it this many times. */
const COMMON = 2

/**
 * A tolerance, because values of the table have single precision, and are compared with doubles.
 */
const ROUNDING = 1e-3

/**
 * Trains a naive Bayes classifier on the letters of words: Cavnar & Trenkle's n-grams, with
 * probabilities instead of ranks.
 */
export function learn(samples: ReadonlyMap<string, Sample>): (text: string) => Evidence {
  const table = count(samples)
  const { languages, rows, values } = table
  for (const [gram, row] of rows) {
    for (let index = 0; index < languages.length; index += 1) {
      const at = row * languages.length + index
      values[at] = logarithm(table, values[at]!, orderOf(gram), index)
    }
  }
  return text => weigh(text, table)
}

/**
 * One row of values per n-gram, one value per language. The values are counts at first; `learn`
 * replaces them by logarithms of probabilities.
 */
interface Table {
  languages: string[]
  rows: Map<string, number>
  values: Float32Array
  /** By order and language: the number of n-grams counted. */
  totals: Float64Array[]
  /** By order: the number of different n-grams. */
  kinds: number[]
}

function count(samples: ReadonlyMap<string, Sample>): Table {
  const languages = [...samples.keys()]
  const size = languages.length
  const rows = new Map<string, number>()
  const totals = ORDER_WEIGHTS.map(() => new Float64Array(size))
  const kinds = ORDER_WEIGHTS.map(() => 0)
  let values = new Float32Array(size * 4096)
  for (const [index, { text, words }] of [...samples.values()].entries()) {
    for (const [word, times] of countWords(text, words)) {
      eachGram(word, (gram, order) => {
        let row = rows.get(gram)
        if (row === undefined) {
          row = rows.size
          rows.set(gram, row)
          kinds[order]! += 1
          if (rows.size * size > values.length) values = enlarged(values)
        }
        values[row * size + index]! += times
        totals[order]![index]! += times
      })
    }
  }
  return { languages, rows, values: values.slice(0, rows.size * size), totals, kinds }
}

function enlarged(values: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  const larger = new Float32Array(values.length * 2)
  larger.set(values)
  return larger
}

function logarithm(
  table: Pick<Table, 'totals' | 'kinds'>,
  times: number,
  order: number,
  index: number,
): number {
  const total = table.totals[order]![index]! + SMOOTHING * table.kinds[order]!
  return Math.log((times + SMOOTHING) / total)
}

/** The n-grams of one text that the table holds. */
interface Weighed {
  /** By language: log-likelihood. */
  sums: Float64Array
  wordRows: number[]
  trigramRows: number[]
  /** All trigrams of the text, also those that no model knows. */
  trigrams: number
}

function weigh(text: string, table: Table): Evidence {
  const { languages } = table
  const words = wordsOf(text)
  const weighed: Weighed = {
    sums: new Float64Array(languages.length),
    wordRows: [],
    trigramRows: [],
    trigrams: 0,
  }
  const mixed = words.some(word => word === word.toLowerCase())
  for (const word of words) {
    const weight = mixed && word !== word.toLowerCase() ? CAPITALISED_WEIGHT : 1
    eachGram(word.toLowerCase(), (gram, order) => weighGram(weighed, table, gram, order, weight))
  }
  const { sums, wordRows, trigramRows, trigrams } = weighed
  return {
    likelihoods: new Map(languages.map((language, index) => [language, sums[index]!])),
    words: words.length,
    knownWords: language => countedAtLeast(table, wordRows, COMMON, WORD_ORDER, language),
    trigrams,
    knownTrigrams: language => countedAtLeast(table, trigramRows, 1, TRIGRAM_ORDER, language),
  }
}

/** @param weight of the word that holds the n-gram */
function weighGram(
  weighed: Weighed,
  { rows, values }: Table,
  gram: string,
  order: number,
  weight: number,
): void {
  if (order === TRIGRAM_ORDER) weighed.trigrams += 1
  const row = rows.get(gram)
  if (row === undefined) return
  if (order === WORD_ORDER) weighed.wordRows.push(row)
  if (order === TRIGRAM_ORDER) weighed.trigramRows.push(row)
  const factor = weight * ORDER_WEIGHTS[order]!
  if (factor === 0) return
  const { sums } = weighed
  const start = row * sums.length
  for (let index = 0; index < sums.length; index += 1)
    sums[index]! += factor * values[start + index]!
}

/** How many of the rows have a count of at least `times` in the sample of the language. */
function countedAtLeast(
  table: Table,
  found: number[],
  times: number,
  order: number,
  language: string,
): number {
  const { languages, values } = table
  const index = languages.indexOf(language)
  const least = logarithm(table, times, order, index) - ROUNDING
  return found.filter(row => values[row * languages.length + index]! >= least).length
}

function countWords(text: string, common: string): Map<string, number> {
  const counts = new Map<string, number>()
  const add = (words: string[], times: number) => {
    for (const word of words)
      counts.set(word.toLowerCase(), (counts.get(word.toLowerCase()) ?? 0) + times)
  }
  add(wordsOf(text), 1)
  add(wordsOf(common), COMMON_WORD_COUNT)
  return counts
}

/**
 * The words of a text. A word keeps an apostrophe, because `d'` and `l'` distinguish languages.
 * Runs of more than 40 letters are cut, because they are no words.
 */
export const wordsOf = (text: string): string[] =>
  text
    .normalize('NFC')
    .replace(/[’´`]/g, "'")
    .match(/\p{L}{1,40}'?/gu) ?? []

/**
 * Calls `visit` for the n-grams of a word with its borders, in runs of 1 to 4 letters (orders 0 to
 * 3), then for the whole word (order 4).
 */
function eachGram(word: string, visit: (gram: string, order: number) => void) {
  const letters = ` ${word} `
  for (let length = 1; length <= 4; length += 1) {
    for (let start = 0; start + length <= letters.length; start += 1)
      visit(letters.slice(start, start + length), length - 1)
  }
  visit(`#${letters}`, WORD_ORDER)
}

const orderOf = (gram: string): number => (gram.startsWith('#') ? WORD_ORDER : gram.length - 1)
