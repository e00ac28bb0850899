import { stopWordsOf } from '#search/analysis/index'
import type { ArticleQuery } from '#search/index'
import { filterOf } from '#services/api/articles/find'
import { readRequest, readSearch } from '#services/api/contract/request'
import { COUNTRIES, LANGUAGES } from '#shared/articles/article'
import { createRandom, type GeneratedCorpus, type Random, shuffled } from './generator.ts'

/*
 * A class of queries has one kind of match, one scope and one filter. Figures are printed by class,
 * because a mean over all queries would hide the slow classes.
 */

/** A search, as a client asks for it and as the API reads it. */
export interface Search {
  path: string
  query: ArticleQuery
}

/** A kind of match, the scope of the match, and a filter. */
export interface QueryClass {
  name: string
  queries: Search[]
  /** Whether the warm runs ask for a page far after the first. */
  deep: boolean
}

const HISTORY = new Date('2000-01-01T00:00:00Z')
const DAY = 86_400_000

/** The first page of a request with a key for all countries and times. */
export function searchOf(parameters: Record<string, string>): Search {
  const asked = String(new URLSearchParams(parameters))
  const isBeside = parameters.search === 'expression'
  const request = (isBeside ? readSearch : readRequest)(asked, 'articles')
  const { question, order, perPage } = request
  if (question.search === 'semantic') throw new Error('The classes hold no search by meaning.')
  const { match, searchIn, sort } = question
  const filter = filterOf({
    request,
    countries: request.countries ?? [...COUNTRIES],
    historyStart: HISTORY,
  })
  return {
    path: `${isBeside ? '/explore' : '/v1'}/articles?${asked}`,
    query: { ...filter, match, searchIn, sort, order, perPage },
  }
}

/** Makes the parameters of a request's match, or the parameters of its filter. */
type Make = (random: Random) => Record<string, string>

/** Combines each match with each scope and each filter. */
function classesOf(
  matches: Record<string, Make>,
  filters: Record<string, Make>,
  queriesEach: number,
  scopes = ['title', 'title_body'],
): QueryClass[] {
  return Object.entries(matches).flatMap(([matchName, match]) =>
    scopes.flatMap(search_in =>
      Object.entries(filters).map(([filterName, filter]): QueryClass => {
        const random = createRandom(matchName.length * 1_000 + filterName.length)
        const query = () => searchOf({ ...match(random), search_in, ...filter(random) })
        const queries = Array.from({ length: queriesEach }, query)
        return {
          name: `${matchName} · ${search_in} · ${filterName}`,
          queries,
          deep: filterName.endsWith('deep page'),
        }
      }),
    ),
  )
}

/** All classes of matches, scopes and filters, with some queries for each. */
export const queryClasses = (corpus: GeneratedCorpus, queriesEach: number): QueryClass[] =>
  classesOf(matches(corpus), filters(corpus), queriesEach).filter(
    one => !one.name.startsWith('listing · title ·'),
  )

/**
 * Classes that search for parts of names, alone and beside words. A query with a drawn name is
 * rarely asked twice.
 */
export function nameClasses(corpus: GeneratedCorpus, queriesEach: number): QueryClass[] {
  const { outlets } = corpus
  const author = (random: Random) => random.one(random.one(outlets).authors)
  const parts: Record<string, Make> = {
    'a letter of authors': () => ({ author: 'a' }),
    'a common part of authors': () => ({ author: 'van' }),
    'a letter of outlets': () => ({ outlet: 'e' }),
    'letters of both': () => ({ author: 'a', outlet: 'de', has_author: 'true' }),
    'a family name': random => ({ author: author(random).split(' ').at(-1)! }),
    'a whole name': random => ({ author: author(random) }),
    'a whole outlet': random => ({ outlet: random.one(outlets).name }),
  }
  const { listing, rare, 'very common': common } = matches(corpus)
  const words = { listing: listing!, rare: rare!, common: common! }
  return classesOf(words, parts, queriesEach, ['title_body'])
}

/** Classes of expressions with parts of words. Each query draws its own part, of four letters. */
export function partClasses(corpus: GeneratedCorpus, queriesEach: number): QueryClass[] {
  const { words } = corpus.vocabularies.nl
  const long = words.filter(word => /^[a-z]{8,}$/.test(word))
  const part = (random: Random) => {
    const word = random.one(long)
    const at = random.below(word.length - 4)
    return { first: word.slice(0, 4), last: word.slice(-4), inner: word.slice(at, at + 4) }
  }
  const forms: Record<string, (random: Random) => string> = {
    'a beginning': random => `${part(random).first}*`,
    'an end': random => `*${part(random).last}`,
    'a part': random => `*${part(random).inner}*`,
    'a phrase with a part': random => `"${words[20 + random.below(40)]!} *${part(random).inner}*"`,
    'a part near a word': random =>
      `*${part(random).inner}* NEAR/5 ${words[160 + random.below(80)]!}`,
  }
  const expressions = Object.entries(forms).map(([name, make]): [string, Make] => [
    name,
    random => ({ search: 'expression', q: make(random) }),
  ])
  return classesOf(Object.fromEntries(expressions), { 'first page': () => ({}) }, queriesEach, [
    'title_body',
  ])
}

/**
 * Ranks of words in a vocabulary of 60,000. The notes say how many articles of the language have
 * such a word in the body.
 */
const RANKS: Record<string, [number, number]> = {
  STOP: [0, 40], // nearly all articles
  COMMON: [160, 240], // a fifth of the articles
  MEDIUM: [1_200, 3_000], // some percent
  RARE: [30_000, 55_000], // one article in some thousand
}

/** Keyword queries. A word in capitals stands for a word of that rank. */
const ANY = {
  rare: 'RARE',
  medium: 'MEDIUM',
  'very common': 'COMMON',
  'stop word': 'STOP',
  'any of 3': 'MEDIUM COMMON RARE',
  'any of 3, 1 stop': 'MEDIUM STOP RARE',
}
const BOOLEAN = {
  'rare + rare': 'RARE RARE',
  'rare + medium': 'RARE MEDIUM',
  'medium + medium': 'MEDIUM MEDIUM',
  'medium + very common': 'MEDIUM COMMON',
  'very common + very common': 'COMMON COMMON',
  'stop + medium': 'STOP MEDIUM',
  'stop + stop': 'STOP STOP',
  'phrase, a name': '"NAME"',
  'phrase of ordinary words': '"COMMON COMMON"',
  'phrase with a stop word': '"STOP COMMON"',
  'phrase of stop words': '"STOP STOP STOP"',
  'very common − medium': 'COMMON -MEDIUM',
  'medium − stop': 'MEDIUM -STOP',
}

function matches({ vocabularies }: GeneratedCorpus): Record<string, Make> {
  const written = (pattern: string, random: Random) => {
    // The shares of Dutch, French and German are about their shares of the articles.
    const { words, names } = vocabularies[random.one(['nl', 'nl', 'nl', 'fr', 'fr', 'de'] as const)]
    return pattern.replace(/[A-Z]+/g, rank => {
      const [from, to] = RANKS[rank] ?? [0, 0]
      return rank === 'NAME' ? random.one(names).join(' ') : words[from + random.below(to - from)]!
    })
  }
  const all: Record<string, Make> = { listing: () => ({}) }
  for (const [name, pattern] of Object.entries(ANY))
    all[name] = random => keyword(written(pattern, random))
  for (const [name, pattern] of Object.entries(BOOLEAN))
    all[name] = random => boolean(written(pattern, random))
  return all
}

function filters(corpus: GeneratedCorpus): Record<string, Make> {
  const outlet = (random: Random) => corpus.outlets[random.below(60)]!
  return {
    'first page': () => ({}),
    'deep page': () => ({}),
    ascending: () => ({ order: 'asc' }),
    'country + language': random =>
      random.one([
        { country: 'BE', language: 'nl' },
        { country: 'LU', language: 'fr,de' },
        { country: 'NL', language: 'nl' },
      ]),
    outlet: random => ({ outlet: outlet(random).name }),
    author: random => ({ author: random.one(outlet(random).authors) }),
    has_author: random => ({ has_author: String(random.chance(0.5)) }),
    'one day': random => {
      const day = dayOf(corpus.start + random.next() * (corpus.end - corpus.start))
      return { published_after: day, published_before: day }
    },
    'five years': () => ({
      published_after: dayOf(corpus.start),
      published_before: dayOf(corpus.end),
    }),
    'by ingested_at': () => ({ sort: 'ingested_at' }),
    'polling the last day': () => ({
      sort: 'ingested_at',
      order: 'asc',
      per_page: '100',
      ingested_after: new Date(corpus.end - DAY).toISOString(),
    }),
    'nothing left': () => ({ country: 'NL', language: 'lb' }),
  }
}

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)

/**
 * The hardest queries that the contract allows: as many words, phrases or exclusions as fit into
 * `q`, alone and beside a part of a name. Each query draws its own words.
 */
export function hardClasses(corpus: GeneratedCorpus, queriesEach: number): QueryClass[] {
  const from = (random: Random) =>
    corpus.vocabularies[random.one(['nl', 'nl', 'fr', 'de'] as const)].words
  /**
   * Sixty words of a language between two ranks, each once, in random order. They are more than fit
   * into `q`.
   */
  const drawn = (random: Random, lowest: number, highest: number) =>
    shuffled(from(random).slice(lowest, highest), random).slice(0, 60)
  const stopWords = (random: Random) =>
    shuffled([...new Set(LANGUAGES.flatMap(language => [...stopWordsOf(language)]))], random)
  const letters = (random: Random) => shuffled([...LETTERS], random)
  const pairs = (words: string[]) =>
    words.flatMap((word, at) => (at % 2 === 1 ? [`"${words[at - 1]} ${word}"`] : []))
  const without = (random: Random, parts: string[]) => [
    random.one(from(random)),
    ...parts.map(part => `-${part}`),
  ]
  const hard: Record<string, Make> = {
    'any of the common words': random => keyword(fitted(drawn(random, 100, 600))),
    'any of the rare words': random => keyword(fitted(drawn(random, 5_000, 55_000))),
    'any of the letters': random => keyword(fitted(letters(random))),
    'all of the stop words': random => boolean(fitted(stopWords(random))),
    'a phrase of stop words': random => boolean(`"${fitted(stopWords(random), LONGEST - 2)}"`),
    'phrases of two common words': random => boolean(fitted(pairs(drawn(random, 40, 240)))),
    'a word without letters': random => boolean(fitted(without(random, letters(random)))),
    'a word without phrases': random =>
      boolean(fitted(without(random, pairs(drawn(random, 0, 240))))),
  }
  return classesOf(
    hard,
    { alone: () => ({}), 'part of a name': () => ({ author: 'jan' }) },
    queriesEach,
  )
}

/** The length of the longest `q` that the contract allows, in characters. */
const LONGEST = 191
/** Words of one letter from four scripts. Folded, no two of them are equal. */
const LETTERS =
  '0123456789abcdefghijklmnopqrstuvwxyzαβγδεζηθικλμνξοπρστυφχψωабвгдежзиклмнопрстуфхцчшщъыьэюяאבגדהוזחטיכל'

/** Joins as many parts as fit into `q`. */
function fitted(parts: string[], longest = LONGEST): string {
  let q = parts[0] ?? ''
  for (const part of parts.slice(1)) {
    if (q.length + 1 + part.length > longest) break
    q += ` ${part}`
  }
  return q
}

const keyword = (q: string) => ({ q })
const boolean = (q: string) => ({ q, search: 'boolean' })
