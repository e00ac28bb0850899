import { type Figures, quantile, quantiles, rounded, say } from '#bench/figures'
import {
  type ArticleQuery,
  type CacheSizes,
  type IndexState,
  openIndex,
  type Position,
  SEARCH_SETTINGS,
  type SearchIndex,
  type SearchPage,
  timeZoneNamed,
} from '#search/index'
import { createPool, type Pool } from '#shared/postgres/pool'
import { repeatEvery } from '#shared/process/repeat'
import type { SearchBench } from './build.ts'
import { nameClasses, partClasses, type QueryClass, searchOf } from './classes.ts'

/** Queries of a class that searches for names. */
const QUERIES = 5

/** The times of one query, and the page that it returned. */
export interface QueryTimes {
  ms: number
  /** ms of the first run. The words of the query may not be in memory then. */
  coldMs: number
  page: SearchPage
  /** The article before the page. Null: it is the first page. */
  after: Position | null
}

export const RUNS = 3
/** A deep page comes this many pages after the first. */
const DEPTH = 8

/**
 * Times a query for a page with its total. The first run may find nothing in memory. `ms` is the
 * median of the later runs.
 *
 * @param state of the index, read beforehand; absent: each search reads it
 */
export async function measureQuery(
  index: SearchIndex,
  query: ArticleQuery,
  deep: boolean,
  state?: IndexState,
): Promise<QueryTimes> {
  const begun = performance.now()
  let page = await index.search(query, null, { state })
  const coldMs = performance.now() - begun
  let after: QueryTimes['after'] = null
  for (let depth = 0; deep && depth < DEPTH && page.next !== null; depth++) {
    after = page.next
    page = await index.search(query, after, { state })
  }
  const runs: number[] = []
  for (let run = 0; run < RUNS; run++)
    runs.push(await timed(() => index.search(query, after, { state })))
  return { ms: quantile(runs, 0.5), coldMs, page, after }
}

/** Opens the API's search in this process, and works with it. */
export async function withIndex<T>(
  url: string,
  work: (index: SearchIndex, pool: Pool) => Promise<T>,
  caches: Partial<CacheSizes> = {},
): Promise<T> {
  const pool = createPool(url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  const index = openIndex(pool, { caches })
  try {
    return await work(index, pool)
  } finally {
    await index.close()
    await pool.end()
  }
}

/**
 * Measures searches of all classes in this process.
 *
 * @returns ms. `p50` is of queries whose words are in memory, `cold` of their first runs, and
 * `again` of queries that were asked before
 */
export async function measureClasses({ url, classes, signal }: SearchBench): Promise<Figures> {
  const measured = (caches: Partial<CacheSizes>) =>
    withIndex(url, index => measureAll(index, classes, signal), caches)
  // This index forgets how many matches a query had, so that only the words are in memory.
  const results = await measured({ counts: 1 })
  const again = (await measured({})).flatMap(one => one.times)
  const all = results.flatMap(one => one.times)
  const cold = results.flatMap(one => one.colds)
  return {
    classes: classes.length,
    ...quantiles('', all),
    worst_class_ms: rounded(Math.max(...results.map(one => one.p50))),
    worst_query_ms: rounded(Math.max(...all)),
    ...quantiles('cold_', cold),
    ...quantiles('again_', again),
  }
}

/** ms of the queries of a class: warm, and in their first run. */
interface MeasuredClass {
  p50: number
  times: number[]
  colds: number[]
}

/** Measures each class. It also prints the median and the slowest query of the class. */
async function measureAll(
  index: SearchIndex,
  classes: QueryClass[],
  signal: AbortSignal,
): Promise<MeasuredClass[]> {
  const results: MeasuredClass[] = []
  for (const { name, queries, deep } of classes) {
    signal.throwIfAborted()
    const measured: QueryTimes[] = []
    for (const { query } of queries) measured.push(await measureQuery(index, query, deep))
    const times = measured.map(one => one.ms)
    const p50 = quantile(times, 0.5)
    results.push({ p50, times, colds: measured.map(one => one.coldMs) })
    say(`${p50.toFixed(1)} ms, at most ${Math.max(...times).toFixed(1)}: ${name}`)
  }
  return results
}

/**
 * Times expressions with parts of words.
 *
 * @returns ms. `parts_first` is the first search of a process, which reads all lexicons; `lexicon`
 *   is their memory in MB; `parts_words` how many words a part of the median query stands for
 */
export async function measureParts({ url, corpus, signal }: SearchBench): Promise<Figures> {
  const classes = partClasses(corpus, PART_QUERIES)
  const queries = classes.flatMap(one => one.queries)
  return withIndex(url, async index => {
    const first = await timed(() => index.search(queries[0]!.query))
    const results = await measureAll(index, classes, signal)
    const words: number[] = []
    for (const { query } of classes[2]!.queries) words.push((await index.words(query)).length)
    return {
      parts_first_ms: rounded(first),
      lexicon_mb: rounded(index.stats().lexicons / 2 ** 20),
      parts_words_p50: quantile(words, 0.5),
      parts_words_most: Math.max(...words),
      ...quantiles(
        'parts_',
        results.flatMap(one => one.times),
      ),
      ...quantiles(
        'parts_cold_',
        results.flatMap(one => one.colds),
      ),
    }
  })
}

const PART_QUERIES = 20

/**
 * Times searches for parts of names, pages, and counts by day. It also times a search by a name in
 * a process that has read nothing.
 */
export async function measureNames({ url, corpus, signal }: SearchBench): Promise<Figures> {
  const days = { by: 'day', zone: timeZoneNamed('Europe/Brussels')! } as const
  const unread = await withIndex(url, index =>
    timed(() => index.search(searchOf({ author: 'van' }).query)),
  )
  return withIndex(url, async index => {
    await index.warm(repeatEvery)
    const classes = nameClasses(corpus, QUERIES)
    const results = await measureAll(index, classes, signal)
    const times = results.flatMap(one => one.times)
    const colds = results.flatMap(one => one.colds)
    for (const { queries } of classes) {
      colds.push(await timed(() => index.countBy(queries[0]!.query, days)))
      times.push(await timed(() => index.countBy(queries[0]!.query, days)))
    }
    return {
      names_classes: 2 * classes.length,
      ...quantiles('names_', times),
      names_worst_ms: rounded(Math.max(...times)),
      names_cold_worst_ms: rounded(Math.max(...colds)),
      names_unread_ms: rounded(unread),
    }
  })
}

/** The ms that some work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
