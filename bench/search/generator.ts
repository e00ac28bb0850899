import { stopWordsOf } from '#search/analysis/index'
import type { NewArticle } from '#search/types'
import type { Country, Language } from '#shared/articles/article'

/**
 * Articles such as a crawl brings in five years. The same seed gives the same articles.
 * - Each language has a vocabulary in which words follow Zipf's law. The most frequent words are
 *   its stop words.
 * - Names have two or three words that stand together.
 * - Some outlets publish far more than others.
 * - An article is ingested minutes to hours after its publication.
 * - Some authors work for the outlet. Most authors have one or two articles, so that a million
 *   articles have about half a million authors.
 */
export interface GeneratedCorpus {
  articles(from: number, to: number): NewArticle[]
  vocabularies: Record<Language, Vocabulary>
  outlets: Outlet[]
  /** When the first article was published and when the last, ms since 1970. */
  start: number
  end: number
}

export interface Vocabulary {
  /** The most frequent word comes first. */
  words: string[]
  /** Names of several words. */
  names: string[][]
  draw(random: Random): string
}

interface Outlet {
  name: string
  domain: string
  country: Country
  language: Language
  /** Authors who work for the outlet. */
  authors: string[]
}

const OUTLETS = 300
const WORDS = 60_000
const NAMES = 4_000
const YEARS = 5
/** Mean number of words in a body. That is about 2,000 characters. */
export const BODY_WORDS = 340

/** The share of the articles that each language has. */
const LANGUAGE_SHARES: [Language, number][] = [
  ['nl', 0.45],
  ['fr', 0.3],
  ['de', 0.12],
  ['en', 0.08],
  ['lb', 0.05],
]
const COUNTRIES_OF: Record<Language, Country[]> = {
  nl: ['NL', 'NL', 'BE'],
  fr: ['BE', 'BE', 'LU'],
  de: ['LU', 'BE'],
  en: ['NL', 'BE', 'LU'],
  lb: ['LU'],
}

/** @param bodyWords words of a body, on average */
export function createCorpus(rows: number, bodyWords: number = BODY_WORDS): GeneratedCorpus {
  const end = Date.UTC(2026, 10, 1)
  const start = end - YEARS * 365 * 86_400_000
  const vocabularies = {
    nl: makeVocabulary('nl', 11),
    fr: makeVocabulary('fr', 12),
    de: makeVocabulary('de', 13),
    en: makeVocabulary('en', 14),
    lb: makeVocabulary('lb', 15),
  }
  const outlets = makeOutlets()
  const people = makePeople()
  // Outlet number n publishes in proportion to 1 / (n + 8).
  const diligence = cumulative(outlets.map((_, index) => 1 / (index + 8)))
  const article = (number: number): NewArticle => {
    const random = createRandom(number + 1)
    const outlet = outlets[drawn(diligence, random.next())]!
    const vocabulary = vocabularies[outlet.language]
    const published = Math.floor(start + ((number + random.next()) / rows) * (end - start))
    const body = text(random, vocabulary, Math.round(bodyWords * (0.4 + random.next() * 1.2)))
    return {
      url: `https://${outlet.domain}/${number}`,
      addresses: [`${outlet.domain}/${number}`],
      title: text(random, vocabulary, 6 + random.below(7)),
      body: random.chance(0.03) ? null : body,
      publishedAt: random.chance(0.005) ? null : new Date(published),
      ingestedAt: new Date(published + Math.floor(600_000 + random.next() ** 3 * 6 * 3_600_000)),
      authors: random.chance(0.55) ? authors(random, outlet, people) : [],
      outlet: { name: outlet.name, domain: outlet.domain },
      language: outlet.language,
      country: outlet.country,
    }
  }
  return {
    articles: (from, to) => Array.from({ length: to - from }, (_, index) => article(from + index)),
    vocabularies,
    outlets,
    start,
    end,
  }
}

function text(random: Random, vocabulary: Vocabulary, words: number): string {
  const parts: string[] = []
  while (parts.length < words) {
    if (random.chance(0.02)) parts.push(...random.one(vocabulary.names))
    else parts.push(vocabulary.draw(random))
    if (random.chance(0.07)) parts[parts.length - 1] += random.one([',', '.', '.\n\n', ':'])
  }
  return parts.join(' ')
}

function makeVocabulary(language: Language, seed: number): Vocabulary {
  const random = createRandom(seed * 7_919)
  const words = [...stopWordsOf(language)]
  const seen = new Set(words)
  while (words.length < WORDS) {
    const word = inventWord(random, words.length)
    if (!seen.has(word)) words.push(word)
    seen.add(word)
  }
  // Mandelbrot's form of Zipf's law. In news, the most frequent words differ less in frequency than
  // 1/rank says.
  const chances = cumulative(words.map((_, rank) => 1 / (rank + 2.7) ** 1.05))
  const names = Array.from({ length: NAMES }, () =>
    Array.from({ length: 2 + random.below(2) }, () => words[200 + random.below(20_000)]!),
  )
  return { words, names, draw: source => words[drawn(chances, source.next())]! }
}

const SYLLABLES =
  'ba be bi bo da de di do fa fe ga ge ha he ja ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe po ra re ri ro sa se si so ta te ti to va ve wa we za ze an en in on er ar or el al is es'.split(
    ' ',
  )

function inventWord(random: Random, rank: number): string {
  let word = ''
  for (let at = 0; at < (rank < 2_000 ? 2 : 3) + random.below(2); at++)
    word += random.one(SYLLABLES)
  return random.chance(0.3) ? `${word}${random.one(['n', 's', 't', 'en', 'er'])}` : word
}

function makeOutlets(): Outlet[] {
  const random = createRandom(99)
  const shares = cumulative(LANGUAGE_SHARES.map(([, share]) => share))
  return Array.from({ length: OUTLETS }, (_, number) => {
    const [language] = LANGUAGE_SHARES[drawn(shares, random.next())]!
    const title = `${random.one(['De', 'Le', 'Het', 'La', 'Der'])} ${inventWord(random, 9_999)} ${number}`
    return {
      name: title,
      domain: `${title.toLowerCase().replaceAll(' ', '-')}.example`,
      country: random.one(COUNTRIES_OF[language]),
      language,
      authors: Array.from(
        { length: 40 },
        () => `${inventWord(random, 0)} ${inventWord(random, 9_999)}`,
      ),
    }
  })
}

/** Parts of which the names of people are made. */
interface People {
  /** The most frequent name comes first. */
  given: string[]
  family: string[]
  chances: Float64Array
}

const COMMON_GIVEN =
  'Jan Anna Marie Peter Jean Johan Sophie Luc Emma Thomas Julie Mark Laura Paul Lisa Tom Nina Marc Eva Pierre'.split(
    ' ',
  )
const PARTICLES = ['van', 'van', 'van de', 'van den', 'de', 'de', 'le', 'ten', 'da', 'von']

function makePeople(): People {
  const random = createRandom(77)
  const given = [
    ...COMMON_GIVEN,
    ...Array.from({ length: 1_500 }, () => capital(inventWord(random, 0))),
  ]
  return {
    given,
    family: Array.from({ length: 40_000 }, () => capital(inventWord(random, 9_999))),
    chances: cumulative(given.map((_, rank) => 1 / (rank + 20))),
  }
}

/** Draws one to three authors, some of them from the outlet's own authors. */
function authors(random: Random, outlet: Outlet, people: People): string[] {
  const count = random.chance(0.7) ? 1 : random.chance(0.75) ? 2 : 3
  const names = Array.from({ length: count }, () =>
    random.chance(0.3) ? random.one(outlet.authors) : person(random, people),
  )
  return [...new Set(names)]
}

function person(random: Random, { given, family, chances }: People): string {
  const particle = random.chance(0.25) ? `${random.one(PARTICLES)} ` : ''
  return `${given[drawn(chances, random.next())]} ${particle}${random.one(family)}`
}

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

function cumulative(weights: number[]): Float64Array {
  const sums = new Float64Array(weights.length)
  let sum = 0
  weights.forEach((weight, index) => {
    sum += weight
    sums[index] = sum
  })
  return sums.map(value => value / sum)
}

function drawn(sums: Float64Array, chance: number): number {
  let low = 0
  let high = sums.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sums[middle]! < chance) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Random numbers that are the same for the same seed. The algorithm is splitmix32; its numbers for
 * seeds that are close to each other do not resemble each other.
 */
export interface Random {
  /** At least 0, and less than 1. */
  next(): number
  below(limit: number): number
  chance(part: number): boolean
  one<T>(list: readonly T[]): T
}

export function createRandom(seed: number): Random {
  let state = seed | 0
  const next = () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return { next, below, chance: part => next() < part, one: list => list[below(list.length)]! }
}

/** The list in a random order, which is the same in every run. */
export function shuffled<T>(list: readonly T[], random: Random = createRandom(1)): T[] {
  return list
    .map(one => ({ one, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one)
}
