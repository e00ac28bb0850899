/** What a text says for each language, and how much of it that language knows. */
export interface Evidence {
  /** Log-likelihoods, up to a constant that they share. */
  likelihoods: ReadonlyMap<string, number>
  words: number
  /** Of the words, those that are common in the language. */
  knownWords(language: string): number
  trigrams: number
  /** Of the trigrams, those that the language's texts hold. */
  knownTrigrams(language: string): number
}

/** A language's text to learn from, and words that count several times over. */
export interface Sample {
  text: string
  words: string
}

/**
 * Weights of 1- to 4-grams, and of whole words: the words of a sentence's frame tell more than any
 * letters.
 */
const ORDER_WEIGHTS = [0, 0.5, 1, 1, 3]
const WORD_ORDER = 4
const TRIGRAM_ORDER = 2

/** Capitalised words among others are names and nouns of any language. */
const CAPITALISED_WEIGHT = 0.4
const COMMON_WORD_COUNT = 4
const SMOOTHING = 0.1

/** A word that a language's sample holds as often is common in it. */
const COMMON = 2

/** Between the table's single and the comparison's double precision. */
const ROUNDING = 1e-3

/**
 * A naive Bayes classifier over the letters of words (Cavnar & Trenkle's n-grams, with
 * probabilities for ranks) that weighs each word by how much it can tell. Some 50,000 n-grams for
 * 27 languages; 10 MB, half a second to learn.
 */
export function learn(samples: ReadonlyMap<string, Sample>): (text: string) => Evidence {
  const table = count(samples)
  const { languages, rows, values } = table
  for (const [gram, row] of rows) {
    for (let index = 0; index < languages.length; index += 1) {
      const at = row * languages.length + index
      values[at] = logarithm(table, values[at] ?? 0, orderOf(gram), index)
    }
  }
  return text => weigh(text, table)
}

/**
 * One row of values per n-gram, one value per language: counts first, their logarithms of
 * probability then.
 */
interface Table {
  languages: string[]
  rows: Map<string, number>
  values: Float32Array
  /** By order and language: how many n-grams were counted. */
  totals: Float64Array[]
  /** By order: how many different ones. */
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
          kinds[order] = (kinds[order] ?? 0) + 1
          if (rows.size * size > values.length) values = enlarged(values)
        }
        values[row * size + index] = (values[row * size + index] ?? 0) + times
        const total = totals[order]
        if (total !== undefined) total[index] = (total[index] ?? 0) + times
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

function logarithm(table: Pick<Table, 'totals' | 'kinds'>, times: number, order: number, index: number): number {
  const total = (table.totals[order]?.[index] ?? 0) + SMOOTHING * (table.kinds[order] ?? 0)
  return Math.log((times + SMOOTHING) / total)
}

function weigh(text: string, table: Table): Evidence {
  const { languages, rows, values } = table
  const size = languages.length
  const sums = new Float64Array(size)
  const words = wordsOf(text)
  const mixed = words.some(word => word === word.toLowerCase())
  const wordRows: number[] = []
  const trigramRows: number[] = []
  let trigrams = 0
  for (const word of words) {
    const weight = mixed && word !== word.toLowerCase() ? CAPITALISED_WEIGHT : 1
    eachGram(word.toLowerCase(), (gram, order) => {
      if (order === TRIGRAM_ORDER) trigrams += 1
      const row = rows.get(gram)
      if (row === undefined) return
      if (order === WORD_ORDER) wordRows.push(row)
      if (order === TRIGRAM_ORDER) trigramRows.push(row)
      const factor = weight * (ORDER_WEIGHTS[order] ?? 0)
      if (factor === 0) return
      const start = row * size
      for (let index = 0; index < size; index += 1)
        sums[index] = (sums[index] ?? 0) + factor * (values[start + index] ?? 0)
    })
  }
  const countedAtLeast = (found: number[], times: number, order: number, language: string) => {
    const index = languages.indexOf(language)
    const least = logarithm(table, times, order, index) - ROUNDING
    return found.reduce((known, row) => known + ((values[row * size + index] ?? least - 1) >= least ? 1 : 0), 0)
  }
  return {
    likelihoods: new Map(languages.map((language, index) => [language, sums[index] ?? 0])),
    words: words.length,
    knownWords: language => countedAtLeast(wordRows, COMMON, WORD_ORDER, language),
    trigrams,
    knownTrigrams: language => countedAtLeast(trigramRows, 1, TRIGRAM_ORDER, language),
  }
}

function countWords(text: string, common: string): Map<string, number> {
  const counts = new Map<string, number>()
  const add = (words: string[], times: number) => {
    for (const word of words) counts.set(word.toLowerCase(), (counts.get(word.toLowerCase()) ?? 0) + times)
  }
  add(wordsOf(text), 1)
  add(wordsOf(common), COMMON_WORD_COUNT)
  return counts
}

/**
 * Words keep an apostrophe: `d'` and `l'` are words that languages share or not. Longer ones are
 * cut: they are none.
 */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFC')
      .replace(/[’´`]/g, "'")
      .match(/\p{L}{1,40}'?/gu) ?? []
  )
}

/**
 * The letters of a word with its borders, in runs of 1 to 4, each with its order; then the whole
 * word (order 4).
 */
function eachGram(word: string, visit: (gram: string, order: number) => void) {
  const letters = ` ${word} `
  for (let length = 1; length <= 4; length += 1) {
    for (let start = 0; start + length <= letters.length; start += 1)
      visit(letters.slice(start, start + length), length - 1)
  }
  visit(`#${letters}`, WORD_ORDER)
}

function orderOf(gram: string): number {
  return gram.startsWith('#') ? WORD_ORDER : gram.length - 1
}
