import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { STOP_WORDS } from '../../../search/analysis/index.ts'
import {
  type ArticleQuery,
  NO_FILTERS,
  openIndex,
  parseBoolean,
  parseKeyword,
  SEARCH_SETTINGS,
  type SearchIndex,
} from '../../../search/index.ts'
import { createPool, type Pool } from '../../../shared/postgres/pool.ts'
import type { QueryClass } from '../classes.ts'
import { type Archive, createRandom, type Random, type Vocabulary } from '../generator.ts'
import { quantile } from '../measure.ts'
import { rounded } from './rounded.ts'

/** A hard query, asked when none of its words is in memory, and again when they are. */
interface HardTimes {
  name: string
  firstMs: number
  againMs: number
  /** Longest that the event loop was held during the first time, ms. */
  stallMs: number
  statements: number
  /** ms of the light queries that ran meanwhile. */
  beside: number[]
}

interface HardBench {
  url: string
  hard: QueryClass[]
  /** Classes of light queries that run beside. */
  light: QueryClass[]
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * Times hard queries whose words are asked for the first time. An index without room for posting
 * lists asks them: to it, each time is the first. Another one keeps its lists.
 */
export async function measureHard({ url, hard, light, signal, say }: HardBench): Promise<Record<string, number>> {
  const pool = createPool(url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  const { db, statements } = counted(pool)
  const forgetful = openIndex(db, { caches: { postings: 1, verified: 1, counts: 1 } })
  const keeping = openIndex(pool)
  const beside = light.flatMap(one => one.queries)
  try {
    for (const index of [forgetful, keeping]) await index.warm()
    for (const query of beside) await keeping.search(query)
    const alone = await lightTimes(keeping, beside, pause(3_000))
    const all: HardTimes[] = []
    for (const { name, queries } of hard) {
      for (const query of queries) {
        signal.throwIfAborted()
        const before = statements()
        const first = await stalled(() => forgetful.search(query))
        const asked = statements() - before
        await keeping.search(query)
        const again = await stalled(() => keeping.search(query))
        const times = await lightTimes(keeping, beside, forgetful.search(query))
        all.push({
          name,
          firstMs: first.ms,
          againMs: again.ms,
          stallMs: first.stallMs,
          statements: asked,
          beside: times,
        })
      }
    }
    report(all, say)
    return figuresOf(all, alone)
  } finally {
    await forgetful.close()
    await keeping.close()
    await pool.end()
  }
}

function counted(pool: Pool): { db: Pool; statements(): number } {
  let statements = 0
  const db: Pool = Object.create(pool, {
    query: {
      value: (...asked: Parameters<Pool['query']>) => {
        statements++
        return pool.query(...asked)
      },
    },
  })
  return { db, statements: () => statements }
}

function figuresOf(all: HardTimes[], alone: number[]): Record<string, number> {
  const first = all.map(one => one.firstMs)
  const during = all.flatMap(one => one.beside)
  return {
    hard_first_p50_ms: rounded(quantile(first, 0.5)),
    hard_first_p95_ms: rounded(quantile(first, 0.95)),
    hard_first_worst_ms: worst(all, one => one.firstMs),
    hard_again_worst_ms: worst(all, one => one.againMs),
    hard_stall_worst_ms: worst(all, one => one.stallMs),
    hard_statements_worst: worst(all, one => one.statements),
    light_p50_ms: rounded(quantile(alone, 0.5)),
    light_p95_ms: rounded(quantile(alone, 0.95)),
    light_beside_hard_p50_ms: rounded(quantile(during, 0.5)),
    light_beside_hard_p95_ms: rounded(quantile(during, 0.95)),
  }
}

const worst = (all: HardTimes[], of: (one: HardTimes) => number) => rounded(Math.max(...all.map(of)))

/** Runs work, and tells the longest time for which nothing else could run. */
async function stalled(work: () => Promise<unknown>): Promise<{ ms: number; stallMs: number }> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  // The first look of the histogram takes place before the work begins.
  await pause(5)
  delay.reset()
  const start = performance.now()
  await work()
  const ms = performance.now() - start
  await pause(3)
  delay.disable()
  return { ms, stallMs: delay.max / 1e6 }
}

/** ms of light queries, one after the other, until something ends. */
async function lightTimes(
  index: SearchIndex,
  queries: QueryClass['queries'],
  until: Promise<unknown>,
): Promise<number[]> {
  const times: number[] = []
  let ended = false
  const end = until.finally(() => {
    ended = true
  })
  for (let at = 0; !ended; at = (at + 1) % queries.length) {
    const start = performance.now()
    await index.search(queries[at]!)
    times.push(performance.now() - start)
  }
  await end
  return times
}

/** One line a class, slowest first. */
function report(all: HardTimes[], say: (line: string) => void): void {
  const byName = Map.groupBy(all, one => one.name)
  const lines = [...byName].map(([name, own]) => {
    const most = (of: (one: HardTimes) => number) => Math.max(...own.map(of))
    return { name, first: most(o => o.firstMs), again: most(o => o.againMs), own, stall: most(o => o.stallMs) }
  })
  say('   first    again    stall  statements  (worst of each class, ms)')
  for (const { name, first, again, stall, own } of lines.toSorted((a, b) => b.first - a.first)) {
    const column = (ms: number) => ms.toFixed(1).padStart(8)
    const statements = Math.max(...own.map(one => one.statements))
    say(`${column(first)} ${column(again)} ${column(stall)}  ${String(statements).padStart(10)}  ${name}`)
  }
}

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
