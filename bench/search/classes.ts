import { type ArticleQuery, type Match, NO_FILTERS, parseBoolean, parseKeyword } from '../../search/index.ts'
import { type Archive, createRandom, type Random, type Vocabulary } from './generator.ts'

/** One cell of the table: a kind of match, where it looks, and what else is asked. */
export interface QueryClass {
  name: string
  queries: ArticleQuery[]
  /** Whether to measure a page far behind the first. */
  deep: boolean
}

const HISTORY = new Date('2000-01-01T00:00:00Z')
const DAY = 86_400_000

/**
 * All classes of issue "Search that stays fast": matches × scope × what else is asked, some queries
 * each.
 */
export function queryClasses(archive: Archive, queriesEach: number): QueryClass[] {
  const classes: QueryClass[] = []
  for (const [matchName, match] of Object.entries(matches(archive))) {
    for (const searchIn of ['title', 'title_body'] as const) {
      if (matchName === 'listing' && searchIn === 'title') continue
      for (const [filterName, filter] of Object.entries(filters(archive))) {
        const random = createRandom(matchName.length * 1_000 + filterName.length)
        const queries = Array.from({ length: queriesEach }, () => ({
          ...BASE,
          searchIn,
          match: match(random),
          ...filter(random),
        }))
        classes.push({ name: `${matchName} · ${searchIn} · ${filterName}`, queries, deep: filterName === 'deep page' })
      }
    }
  }
  return classes
}

/** A query without words: the newest articles. */
const BASE: Omit<ArticleQuery, 'match' | 'searchIn'> = {
  ...NO_FILTERS,
  coverage: { historyStart: HISTORY, publishedAfter: null, publishedBefore: null },
  sort: 'published_at',
  order: 'desc',
  perPage: 25,
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

function matches(archive: Archive): Record<string, (random: Random) => Match> {
  // As many queries in a language as it has articles, roughly.
  const vocabulary = (random: Random): Vocabulary =>
    archive.vocabularies[random.one(['nl', 'nl', 'nl', 'fr', 'fr', 'de'] as const)]
  const word = (random: Random, from: Vocabulary, kind: Commonness) => {
    const [low, high] = RANKS[kind]
    return from.words[low + random.below(high - low)]!
  }
  const any =
    (...kinds: Commonness[]) =>
    (random: Random) => {
      const from = vocabulary(random)
      return read(parseKeyword(kinds.map(kind => word(random, from, kind)).join(' ')))
    }
  const both =
    (form: (words: string[]) => string, ...kinds: Commonness[]) =>
    (random: Random) => {
      const from = vocabulary(random)
      return read(parseBoolean(form(kinds.map(kind => word(random, from, kind)))))
    }
  const all = (words: string[]) => words.join(' ')
  const phrase = (words: string[]) => `"${words.join(' ')}"`
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
    'phrase, a name': random => read(parseBoolean(phrase(random.one(vocabulary(random).names)))),
    'phrase of ordinary words': both(phrase, 'veryCommon', 'veryCommon'),
    'phrase with a stop word': both(phrase, 'stop', 'veryCommon'),
    'phrase of stop words': both(phrase, 'stop', 'stop', 'stop'),
    'very common − medium': both(([a, b]) => `${a} -${b}`, 'veryCommon', 'medium'),
    'medium − stop': both(([a, b]) => `${a} -${b}`, 'medium', 'stop'),
  }
}

function filters(archive: Archive): Record<string, (random: Random) => Partial<ArticleQuery>> {
  const day = (random: Random) =>
    Math.floor((archive.start + random.next() * (archive.end - archive.start)) / DAY) * DAY
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
      const from = day(random)
      return coverageOf(from, from + DAY)
    },
    'five years': () => coverageOf(archive.start, archive.end + DAY),
    'by ingested_at': () => ({ sort: 'ingested_at' }),
    'polling the last day': () => ({
      sort: 'ingested_at',
      order: 'asc',
      ingestedAfter: new Date(archive.end - DAY),
      perPage: 100,
    }),
    'nothing left': () => ({ countries: ['NL'], languages: ['lb'] }),
  }
}

/** Articles that were published between two times, ms; the second is excluded. */
const coverageOf = (publishedAfter: number, publishedBefore: number) => ({
  coverage: {
    historyStart: HISTORY,
    publishedAfter: new Date(publishedAfter),
    publishedBefore: { at: new Date(publishedBefore), exclusive: true },
  },
})

function read(parsed: ReturnType<typeof parseKeyword>): Match {
  if (!parsed.ok) throw new Error(parsed.errors.join(' '))
  return parsed.match
}
