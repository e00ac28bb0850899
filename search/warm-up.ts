import { setTimeout as pause } from 'node:timers/promises'
import type { SegmentCache } from './cache/segment-cache.ts'
import type { IndexParts, SearchSizes } from './execute/index-parts.ts'
import { searchPage } from './execute/search.ts'
import { createPace } from './pace.ts'
import type { ArticleQuery } from './query/article-query.ts'
import { NO_FILTERS } from './query/filters.ts'
import type { Match } from './query/parse.ts'
import { type Reader, readVarint } from './segment/arrays.ts'
import { type IndexMeta, SegmentsChanged, type TermDictionary } from './store/segment-store.ts'
import { parseWordTerm, TERMS } from './terms.ts'
import { LANGUAGES } from './vocabulary.ts'

/*
 * The first search after a start would wait for posting lists, connections and compiled code. So a
 * process reads ahead and runs some searches before clients come. After that it keeps reading new
 * articles.
 */

export interface WarmUp {
  /**
   * Resolves when the first round has ended: new articles, columns, prefetched dictionaries and
   * the most frequent lists were read, and some searches were run.
   */
  warm: Promise<void>
  stop(): Promise<void>
}

/**
 * ms between two looks for new articles. A search itself has to read at most the articles that came
 * during this time.
 */
const INTERVAL = 200

/**
 * Runs work again and again, and waits `rest` ms after each run. It reports to `outage` whether a
 * run failed, and goes on.
 */
export type Repeat = (
  rest: number,
  work: (closing: AbortSignal) => Promise<unknown>,
  options: { outage: { met(error: unknown): void; over(): void } },
) => { close(): Promise<void> }

/**
 * Reads ahead the data that every search needs, so that no search has to wait for it.
 *
 * @param onFailure called with the error of a read, which is tried again
 * @param gently leaves processors to other processes
 */
export function startWarmUp(
  index: IndexParts,
  sizes: SearchSizes,
  {
    repeat,
    onFailure,
    gently,
  }: { repeat: Repeat; onFailure(error: unknown): void; gently: boolean },
): WarmUp {
  const first = Promise.withResolvers<void>()
  const met = (error: unknown) => {
    if (!(error instanceof SegmentsChanged)) onFailure(error)
  }
  const outage = { met, over() {} }
  // Segments that are not used yet have a loop of their own. They are used a second after they were
  // stored, and a look for new articles may take longer.
  const ahead = repeat(
    INTERVAL,
    async () => index.cache.readAhead(await index.segments.readAhead(), sizes.prefetch),
    {
      outage,
    },
  )
  let warmed: bigint | null = null
  let rehearsed = false
  const look = async (signal: AbortSignal) => {
    ;[warmed] = await Promise.all([readAhead(index, sizes, warmed, signal), index.names.readAll()])
    if (!rehearsed && warmed !== null) {
      rehearsed = true
      const meta = await index.metaOf(warmed)
      await rehearseNames(index.cache, meta)
      await rehearse(index, meta, sizes, gently, signal)
    }
    first.resolve()
  }
  const looking = repeat(INTERVAL, look, { outage })
  return {
    warm: first.promise,
    async stop() {
      first.resolve()
      await Promise.all([looking.close(), ahead.close()])
    },
  }
}

/** How many articles are read before the signal is checked again. */
const STEP = 512n

/**
 * Reads new articles and columns, and starts the prefetch.
 *
 * @param warmed version of the segments that the last round has read
 * @returns the version that this round has read
 */
async function readAhead(
  index: IndexParts,
  sizes: SearchSizes,
  warmed: bigint | null,
  signal: AbortSignal,
) {
  const { version, wordsVersion, lastSeq } = await index.segments.readSnapshot()
  const meta = await index.metaOf(version)
  const { covered, segments } = meta
  for (let last = covered; last < lastSeq && !signal.aborted; ) {
    last = last + STEP < lastSeq ? last + STEP : lastSeq
    await index.memory.upTo({ covered, last, wordsVersion }, sizes.memory)
  }
  index.cache.prefetch.follow(meta, sizes.prefetch)
  if (meta.version === warmed) return warmed
  for (const segment of segments.toReversed()) {
    if (signal.aborted) return warmed
    await index.cache.columns([segment], meta.version)
  }
  await index.cache.prefetch.idle()
  return meta.version
}

/**
 * ms for each part of a rehearsal. To read the lists of 256 terms takes a second or two in a
 * million articles. Running searches for about as long makes Node compile the code that every
 * search uses.
 */
const LIMIT = 2_000
/**
 * How many terms have their lists read. In a million articles, the lists of a frequent term take
 * 128 kB.
 */
const TERMS_READ = 256
/** How many lists one call of `readLists` reads. */
const LISTS_PER_READ = 1_024
/** How many searches run at a time. Each opens a connection and prepares its statements there. */
const SIDE_BY_SIDE = 8

/**
 * Reads the lists of the most frequent terms, and runs searches of every kind with them. The first
 * clients then find compiled code, open connections and prepared statements.
 */
async function rehearse(
  index: IndexParts,
  meta: IndexMeta,
  sizes: SearchSizes,
  gently: boolean,
  signal: AbortSignal,
) {
  const largest = index.cache.prefetch.largestDictionary()
  const terms = largest === undefined ? [] : await frequentTerms(largest, TERMS_READ)
  await work(readsOf(index, meta, [...LANGUAGES.map(TERMS.language), ...terms]), 1, gently, signal)
  const words = terms.filter(term => {
    const word = parseWordTerm(term)
    return word?.kind === 'word' && !word.inTitle
  })
  await work(searchesOf(index, words, sizes), SIDE_BY_SIDE, gently, signal)
}

/**
 * Reads posting lists, those of the most frequent terms first. Ends when half of the cache is full.
 */
function* readsOf(index: IndexParts, meta: IndexMeta, terms: string[]) {
  const newestFirst = meta.segments.toReversed()
  const wanted = terms.flatMap(term => newestFirst.map(segment => ({ segment, term })))
  for (let from = 0; from < wanted.length; from += LISTS_PER_READ) {
    const { used, limit } = index.cache.stats().postings
    if (used * 2 > limit) return
    const part = wanted.slice(from, from + LISTS_PER_READ)
    const missing = part.filter(
      ({ segment, term }) => index.cache.list(segment, term) === undefined,
    )
    if (missing.length > 0) yield () => index.cache.readLists(missing, meta.version)
  }
}

function* searchesOf(index: IndexParts, words: string[], sizes: SearchSizes) {
  for (const at of words.keys()) {
    for (const query of queriesOf(words, at)) {
      yield () => searchPage({ ...index, pace: createPace() }, query, null, sizes)
    }
  }
}

/**
 * Does pieces of work, `atOnce` at a time, until the time is over. A gentle rehearsal takes longer:
 * after each piece it rests for as long as the piece took.
 */
async function work(
  pieces: Iterator<() => Promise<unknown>>,
  atOnce: number,
  gently: boolean,
  signal: AbortSignal,
) {
  const until = performance.now() + (gently ? 3 * LIMIT : LIMIT)
  const workOff = async () => {
    while (!signal.aborted && performance.now() < until) {
      const { value: piece, done } = pieces.next()
      if (done) return
      const start = performance.now()
      await piece()
      if (gently) await pause(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: gently ? 1 : atOnce }, workOff))
}

/** Searches of the kinds that clients use most, made of neighbouring words in a list. */
function queriesOf(words: string[], at: number): ArticleQuery[] {
  const word = (step: number) => words[(at + step) % words.length]!
  const one = word(0)
  const two = word(1)
  const three = word(2)
  const keyword = (...own: string[]): Match => ({ kind: 'keyword', words: [...new Set(own)] })
  const boolean = (required: string[][], excluded: string[][] = []): Match => ({
    kind: 'boolean',
    required,
    excluded,
  })
  const matches: Match[] = [
    { kind: 'all' },
    keyword(one),
    keyword(one, two, three),
    boolean([[one], [two]]),
    boolean([[one, two]]),
    boolean([[one]], [[two]]),
  ]
  const searchIn = at % 2 === 0 ? 'title_body' : 'title'
  return matches.flatMap((match): ArticleQuery[] => [
    { ...BASE, match, searchIn },
    { ...BASE, match, searchIn, sort: 'ingested_at', order: 'asc', perPage: 100 },
  ])
}

const BASE: Omit<ArticleQuery, 'match' | 'searchIn'> = {
  ...NO_FILTERS,
  reach: {
    historyStart: new Date(-8_640_000_000_000_000),
    publishedAfter: null,
    publishedBefore: null,
  },
  sort: 'published_at',
  order: 'desc',
  perPage: 25,
}

/** Common parts of names: letters, parts of words, a particle, and two words side by side. */
const PARTS = ['a', 'e', 'an', 'de', 'van', 'n d']

/**
 * Computes the lists of some common parts of names. Code takes ten times as long when it runs for
 * the first time, and the first client would wait for it.
 */
async function rehearseNames(cache: SegmentCache, { segments, version }: IndexMeta): Promise<void> {
  for (const part of PARTS) {
    for (const term of [TERMS.outletPart(part), TERMS.authorPart(part)]) {
      await cache.readLists(
        segments.map(segment => ({ segment, term })),
        version,
      )
    }
  }
}

/** A posting list with fewer bytes than this has few documents. Its term is not frequent. */
const LEAST_BYTES = 128

/** The words and stems that most documents of a segment have, the most frequent first. */
async function frequentTerms({ blocks, starts }: TermDictionary, most: number): Promise<string[]> {
  const pace = createPace()
  const found: { term: string; bytes: number }[] = []
  const reader: Reader = { at: 0, bytes: blocks }
  for (let bucket = 0; bucket + 1 < starts.length; bucket++) {
    for (const end = starts[bucket + 1]!; reader.at < end; ) {
      const length = readVarint(reader)
      const from = reader.at
      reader.at += length
      const bytes = readVarint(reader)
      reader.at += bytes
      if (bytes < LEAST_BYTES) continue
      const term = blocks.toString('utf8', from, from + length)
      if (parseWordTerm(term) !== null) found.push({ term, bytes })
    }
    if (pace.isDue()) await pace.rest()
  }
  return found
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, most)
    .map(one => one.term)
}
