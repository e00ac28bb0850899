import { STOP_WORDS } from '../../search/analysis/index.ts'
import { type ArticleQuery, type Match, NO_FILTERS, parseBoolean, parseKeyword } from '../../search/index.ts'
import { type Archive, createRandom, type Random, shuffled, type Vocabulary } from './generator.ts'

/** One cell of the table: a kind of match, where it looks, and what else is asked. */
export interface QueryClass {
  name: string
  queries: ArticleQuery[]
  /** Whether to measure a page far behind the first. */
  deep: boolean
}

const HISTORY = new Date('2000-01-01T00:00:00Z')
const DAY = 86_400_000

/** A query without words: the newest articles. */
export const BASE: Omit<ArticleQuery, 'match' | 'searchIn'> = {
  ...NO_FILTERS,
  coverage: { historyStart: HISTORY, publishedAfter: null, publishedBefore: null },
  sort: 'published_at',
  order: 'desc',
  perPage: 25,
}

type MakeMatch = (random: Random) => Match
type MakeFilter = (random: Random) => Partial<ArticleQuery>

/** Each match in each scope beside each filter. @param seed of the random choices of a class */
function classesOf(
  matches: Record<string, MakeMatch>,
  filters: Record<string, MakeFilter>,
  queriesEach: number,
  seed: (match: string, filter: string, scope: ArticleQuery['searchIn']) => number,
): QueryClass[] {
  return Object.entries(matches).flatMap(([matchName, match]) =>
    (['title', 'title_body'] as const).flatMap(searchIn =>
      Object.entries(filters).map(([filterName, filter]): QueryClass => {
        const random = createRandom(seed(matchName, filterName, searchIn))
        const query = () => ({ ...BASE, searchIn, match: match(random), ...filter(random) })
        const queries = Array.from({ length: queriesEach }, query)
        return { name: `${matchName} · ${searchIn} · ${filterName}`, queries, deep: filterName.endsWith('deep page') }
      }),
    ),
  )
}

/** All classes: matches × scope × what else is asked, some queries each. */
export function queryClasses(archive: Archive, queriesEach: number): QueryClass[] {
  const seed = (match: string, filter: string) => match.length * 1_000 + filter.length
  return classesOf(matches(archive), filters(archive), queriesEach, seed).filter(
    one => !one.name.startsWith('listing · title ·'),
  )
}

/** Classes with a part of a name, each beside the words and filters that weigh most. */
export function nameClasses(archive: Archive, queriesEach: number): QueryClass[] {
  const beside = Object.entries(filters(archive)).filter(([name]) =>
    ['first page', 'deep page', 'ascending', 'one day', 'polling the last day'].includes(name),
  )
  const both = Object.entries(nameParts(archive)).flatMap(([part, name]) =>
    beside.map(([filter, other]): [string, MakeFilter] => [
      `${part} · ${filter}`,
      random => ({ ...other(random), ...name(random) }),
    ]),
  )
  const { listing, rare, 'very common': common } = matches(archive)
  const words = { listing: listing!, rare: rare!, common: common! }
  const seed = (match: string, filter: string) => match.length * 1_000 + filter.length
  return classesOf(words, Object.fromEntries(both), queriesEach, seed).filter(
    ({ name }) => name.includes('· title_body ·') && (name.startsWith('listing') || name.endsWith('first page')),
  )
}

/** Parts of names by their class. Those that are drawn are rarely asked for twice. */
export function nameParts({ outlets }: Archive): Record<string, MakeFilter> {
  const author = (random: Random) => random.one(random.one(outlets).authors)
  const fixed: Partial<ArticleQuery>[] = [
    ...['a', 'an', 'van', 'jan', 'van de'].map(part => ({ author: part })),
    ...['e', '.example', 'de'].map(part => ({ outlet: part })),
    { author: 'a', outlet: 'de', hasAuthor: true },
  ]
  return {
    ...Object.fromEntries(fixed.map(part => [JSON.stringify(part), () => part])),
    'a family name': random => ({ author: author(random).split(' ').at(-1)! }),
    'a whole name': random => ({ author: author(random) }),
    'the middle of names': random => ({ author: author(random).slice(2, 7).trim() }),
    'a whole outlet': random => ({ outlet: random.one(outlets).name }),
  }
}

/**
 * Ranks in a vocabulary of 60,000; beside them the share of the language's articles that hold such
 * a word in the body.
 */
const RANKS = {
  stop: [0, 40], // nearly all
  veryCommon: [160, 240], // a fifth
  medium: [1_200, 3_000], // some per cent
  rare: [30_000, 55_000], // one in thousands
} as const

type Commonness = keyof typeof RANKS

function matches(archive: Archive): Record<string, MakeMatch> {
  // As many queries in a language as it has articles, roughly.
  const vocabulary = (random: Random): Vocabulary =>
    archive.vocabularies[random.one(['nl', 'nl', 'nl', 'fr', 'fr', 'de'] as const)]
  const wordsOf = (random: Random, kinds: Commonness[]) => {
    const from = vocabulary(random)
    return kinds.map(kind => from.words[RANKS[kind][0] + random.below(RANKS[kind][1] - RANKS[kind][0])]!)
  }
  const any =
    (...kinds: Commonness[]): MakeMatch =>
    random =>
      keyword(wordsOf(random, kinds).join(' '))
  const both =
    (form: (words: string[]) => string, ...kinds: Commonness[]): MakeMatch =>
    random =>
      boolean(form(wordsOf(random, kinds)))
  const all = (words: string[]) => words.join(' ')
  const phrase = (words: string[]) => `"${words.join(' ')}"`
  const without = ([a, b]: string[]) => `${a} -${b}`
  return {
    listing: () => ({ kind: 'all' }),
    rare: any('rare'),
    medium: any('medium'),
    'very common': any('veryCommon'),
    'stop word': any('stop'),
    'any of 3': any('medium', 'veryCommon', 'rare'),
    'any of 3, 1 stop': any('medium', 'stop', 'rare'),
    'rare + rare': both(all, 'rare', 'rare'),
    'rare + medium': both(all, 'rare', 'medium'),
    'medium + medium': both(all, 'medium', 'medium'),
    'medium + very common': both(all, 'medium', 'veryCommon'),
    'very common + very common': both(all, 'veryCommon', 'veryCommon'),
    'stop + medium': both(all, 'stop', 'medium'),
    'stop + stop': both(all, 'stop', 'stop'),
    'phrase, a name': random => boolean(phrase(random.one(vocabulary(random).names))),
    'phrase of ordinary words': both(phrase, 'veryCommon', 'veryCommon'),
    'phrase with a stop word': both(phrase, 'stop', 'veryCommon'),
    'phrase of stop words': both(phrase, 'stop', 'stop', 'stop'),
    'very common − medium': both(without, 'veryCommon', 'medium'),
    'medium − stop': both(without, 'medium', 'stop'),
  }
}

function filters(archive: Archive): Record<string, MakeFilter> {
  const outlet = (random: Random) => archive.outlets[random.below(60)]!
  return {
    'first page': () => ({}),
    'deep page': () => ({}),
    ascending: () => ({ order: 'asc' }),
    'country + language': random =>
      random.one([
        { countries: ['BE'], languages: ['nl'] },
        { countries: ['LU'], languages: ['fr', 'de'] },
        { countries: ['NL'], languages: ['nl'] },
      ]),
    outlet: random => ({ outlet: outlet(random).name }),
    author: random => ({ author: random.one(outlet(random).authors) }),
    has_author: random => ({ hasAuthor: random.chance(0.5) }),
    'one day': random => {
      const from = Math.floor((archive.start + random.next() * (archive.end - archive.start)) / DAY) * DAY
      return coverageOf(from, from + DAY)
    },
    'five years': () => coverageOf(archive.start, archive.end + DAY),
    'by ingested_at': () => ({ sort: 'ingested_at' }),
    'polling the last day': () => ({
      ...{ sort: 'ingested_at', order: 'asc', perPage: 100, ingestedAfter: new Date(archive.end - DAY) },
    }),
    'nothing left': () => ({ countries: ['NL'], languages: ['lb'] }),
  }
}

/** Articles that were published between two times, ms; the second is excluded. */
const coverageOf = (after: number, before: number) => ({
  coverage: {
    ...{ historyStart: HISTORY, publishedAfter: new Date(after) },
    publishedBefore: { at: new Date(before), exclusive: true },
  },
})

/** Characters of the longest `q` that the contract allows. */
const LONGEST = 191

/**
 * The hardest queries that the contract allows: as many words, phrases or exclusions as `q` holds,
 * alone and beside names. Each query has words of its own.
 */
export function hardClasses(archive: Archive, queriesEach: number): QueryClass[] {
  const vocabulary = (random: Random) => archive.vocabularies[random.one(['nl', 'nl', 'fr', 'de'] as const)]
  const forms = Object.entries(HARD).map(([form, write]): [string, MakeMatch] => [
    form,
    random => write(random, vocabulary(random)),
  ])
  const beside: Record<string, MakeFilter> = {
    alone: () => ({}),
    'author and outlet': random => {
      const outlet = archive.outlets[random.below(20)]!
      return { outlet: outlet.name, author: random.one(outlet.authors) }
    },
    'part of a name': () => ({ author: 'jan' }),
  }
  const row = (form: string) => Object.keys(HARD).indexOf(form) * 1_000
  return classesOf(Object.fromEntries(forms), beside, queriesEach, (form, filter, scope) => {
    return row(form) + filter.length * 10 + scope.length
  })
}

const HARD: Record<string, (random: Random, vocabulary: Vocabulary) => Match> = {
  'any of 30 common words': (random, from) => keyword(fitted(drawn(random, from, 100, 600), 30)),
  'any of 40 rare words': (random, from) => keyword(fitted(drawn(random, from, 5_000, 55_000), 40)),
  'any of 95 letters': random => keyword(fitted(letters(random), 95)),
  'any of 40 stop words': random => keyword(fitted(stopWords(random), 95)),
  'all of 30 common words': (random, from) => boolean(fitted(drawn(random, from, 100, 600), 30)),
  'all of 95 letters': random => boolean(fitted(letters(random), 95)),
  'all of 40 stop words': random => boolean(fitted(stopWords(random), 95)),
  'phrase of 40 stop words': random => boolean(`"${fitted(stopWords(random), 40, 2)}"`),
  'phrase of common words': (random, from) => boolean(`"${fitted(drawn(random, from, 0, 300), 40, 2)}"`),
  'phrases of two stop words': random => boolean(fitted(pairs(stopWords(random), '"'), 40)),
  'phrases of two common words': (random, from) => boolean(fitted(pairs(drawn(random, from, 40, 240), '"'), 40)),
  'a word without 60 letters': (random, from) =>
    boolean(fitted([from.words[200 + random.below(2_000)]!, ...letters(random).map(one => `-${one}`)], 61)),
  'a word without 40 stop words': (random, from) =>
    boolean(fitted([from.words[200 + random.below(2_000)]!, ...stopWords(random).map(one => `-${one}`)], 61)),
  'a word without phrases': (random, from) =>
    boolean(fitted([from.words[40 + random.below(200)]!, ...pairs(drawn(random, from, 0, 240), '-"')], 40)),
}

/** Sixty words of a language by rank, each once, in random order: more than a query holds. */
const drawn = (random: Random, { words }: Vocabulary, from: number, to: number): string[] => {
  const seen = new Set<string>()
  while (seen.size < 60) seen.add(words[from + random.below(to - from)]!)
  return [...seen]
}

const stopWords = (random: Random): string[] =>
  shuffled([...new Set(Object.values(STOP_WORDS).flatMap(words => [...words]))], random)

/** One-letter words: digits, Latin, Greek, Cyrillic, Hebrew and Arabic letters. */
function letters(random: Random): string[] {
  const all = ['09', 'az', 'αω', 'ая', 'את', 'اي'].flatMap(([first = '', last = '']) => {
    const length = last.charCodeAt(0) - first.charCodeAt(0) + 1
    return Array.from({ length }, (_, at) => String.fromCharCode(first.charCodeAt(0) + at))
  })
  return shuffled(
    all.filter(letter => /[\p{L}\p{Nd}]/u.test(letter)),
    random,
  )
}

const pairs = (words: string[], quote: '"' | '-"'): string[] =>
  words.flatMap((word, at) => (at % 2 === 1 ? [`${quote}${words[at - 1]} ${word}"`] : []))

/** As many parts as `q` holds, at most `most`. */
function fitted(parts: string[], most: number, kept = 0): string {
  const taken: string[] = []
  let length = kept
  for (const part of parts.slice(0, most)) {
    if (length + part.length > LONGEST) break
    taken.push(part)
    length += part.length + 1
  }
  return taken.join(' ')
}

const keyword = (q: string) => read(parseKeyword(q))
const boolean = (q: string) => read(parseBoolean(q))

function read(parsed: ReturnType<typeof parseKeyword>): Match {
  if (!parsed.ok) throw new Error(parsed.errors.join(' '))
  return parsed.match
}
