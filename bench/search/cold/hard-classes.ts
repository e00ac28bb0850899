import { STOP_WORDS } from '../../../search/analysis/index.ts'
import type { ArticleQuery } from '../../../search/index.ts'
import { NO_FILTERS, parseBoolean, parseKeyword } from '../../../search/index.ts'
import type { QueryClass } from '../classes.ts'
import type { Archive, Vocabulary } from '../generator.ts'
import { createRandom, type Random } from '../random.ts'

/** Characters of the longest `q` that the contract allows. */
const LONGEST = 191

/**
 * The hardest queries that the contract allows: as many words, phrases or exclusions as `q` holds,
 * alone and beside names. Each query has words of its own.
 */
export function hardClasses(archive: Archive, queriesEach: number): QueryClass[] {
  return Object.entries(FORMS).flatMap(([form, write], row) =>
    (['title', 'title_body'] as const).flatMap(searchIn =>
      Object.entries(filters(archive)).map(([filter, choose]) => {
        const random = createRandom(row * 1_000 + filter.length * 10 + searchIn.length)
        const queries = Array.from({ length: queriesEach }, () => {
          const query: ArticleQuery = {
            ...BASE,
            searchIn,
            match: write(random, vocabularyOf(archive, random)),
            ...choose(random),
          }
          return query
        })
        return { name: `${form} · ${searchIn} · ${filter}`, queries, deep: false }
      }),
    ),
  )
}

const BASE: Omit<ArticleQuery, 'match' | 'searchIn'> = {
  ...NO_FILTERS,
  coverage: { historyStart: new Date('2000-01-01T00:00:00Z'), publishedAfter: null, publishedBefore: null },
  sort: 'published_at',
  order: 'desc',
  perPage: 25,
}

const vocabularyOf = (archive: Archive, random: Random) =>
  archive.vocabularies[random.one(['nl', 'nl', 'fr', 'de'] as const)]

const FORMS: Record<string, (random: Random, vocabulary: Vocabulary) => ArticleQuery['match']> = {
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

function filters(archive: Archive): Record<string, (random: Random) => Partial<ArticleQuery>> {
  return {
    alone: () => ({}),
    'author and outlet': random => {
      const outlet = archive.outlets[random.below(20)]!
      return { outlet: outlet.name, author: random.one(outlet.authors) }
    },
    'part of a name': () => ({ author: 'jan' }),
  }
}

/** Words of a language by rank, each once, in random order. */
function* drawn(random: Random, { words }: Vocabulary, from: number, to: number): Generator<string> {
  const seen = new Set<string>()
  while (seen.size < to - from) {
    const word = words[from + random.below(to - from)]!
    if (!seen.has(word)) yield word
    seen.add(word)
  }
}

function stopWords(random: Random): string[] {
  return shuffled(random, [...new Set(Object.values(STOP_WORDS).flatMap(words => [...words]))])
}

/** One-letter words: Latin, Greek, Cyrillic, Hebrew and Arabic letters, and digits. */
function letters(random: Random): string[] {
  const ranges = [
    ['0', '9'],
    ['a', 'z'],
    ['α', 'ω'],
    ['а', 'я'],
    ['א', 'ת'],
    ['ا', 'ي'],
  ] as const
  const all = ranges.flatMap(([first, last]) =>
    Array.from({ length: last.charCodeAt(0) - first.charCodeAt(0) + 1 }, (_, at) =>
      String.fromCharCode(first.charCodeAt(0) + at),
    ),
  )
  return shuffled(
    random,
    all.filter(letter => /[\p{L}\p{Nd}]/u.test(letter)),
  )
}

function* pairs(words: Iterable<string>, quote: '"' | '-"'): Generator<string> {
  let first: string | null = null
  for (const word of words) {
    if (first === null) first = word
    else {
      yield `${quote}${first} ${word}"`
      first = null
    }
  }
}

/** As many parts as `q` holds, at most `most`. */
function fitted(parts: Iterable<string>, most: number, kept = 0): string {
  const taken: string[] = []
  let length = kept
  for (const part of parts) {
    if (taken.length === most || length + part.length > LONGEST) break
    taken.push(part)
    length += part.length + 1
  }
  return taken.join(' ')
}

function shuffled<T>(random: Random, values: T[]): T[] {
  return values
    .map(value => ({ value, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(one => one.value)
}

const keyword = (q: string) => read(parseKeyword(q))
const boolean = (q: string) => read(parseBoolean(q))

function read(parsed: ReturnType<typeof parseKeyword>): ArticleQuery['match'] {
  if (!parsed.ok) throw new Error(parsed.errors.join(' '))
  return parsed.match
}
